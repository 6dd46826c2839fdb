//! What ran an experiment.

use crate::ResultsError;
use serde::{Deserialize, Serialize};
use setting::Accel;
use std::fmt;
use std::str::FromStr;

/// An engine with the options that change what it measures. Its text is `sim`, `host`, `vm`, `vm-icount1` or `vm-kvm`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Engine {
    /// The simulator.
    Sim,
    /// A real kernel in a guest. Times of one way to execute its instructions are not those of another.
    Vm(Accel),
    /// This computer's kernel.
    Host,
}

impl Engine {
    /// Whether a real kernel ran in a guest: its times are not those of the machine that it shows.
    pub fn is_guest(self) -> bool {
        matches!(self, Engine::Vm(_))
    }

    /// Whether a model ran, whose runs can be made again and watched.
    pub fn is_simulated(self) -> bool {
        self == Engine::Sim
    }

    /// The options of `schedscape run` that choose it; empty for the one that runs if none is given.
    pub fn options(self) -> String {
        match self {
            Engine::Sim => String::new(),
            Engine::Vm(Accel::Tcg) => " --engine vm".to_string(),
            Engine::Vm(Accel::Counted { shift }) => format!(" --engine vm --icount {shift}"),
            Engine::Vm(Accel::Kvm) => " --engine vm --accel kvm".to_string(),
            Engine::Host => " --engine host".to_string(),
        }
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Engine::Sim => f.pad("sim"),
            Engine::Vm(Accel::Tcg) => f.pad("vm"),
            Engine::Vm(Accel::Counted { shift }) => f.pad(&format!("vm-icount{shift}")),
            Engine::Vm(Accel::Kvm) => f.pad("vm-kvm"),
            Engine::Host => f.pad("host"),
        }
    }
}

impl FromStr for Engine {
    type Err = ResultsError;

    fn from_str(text: &str) -> Result<Engine, ResultsError> {
        let shift = || text.strip_prefix("vm-icount")?.parse().ok();
        match text {
            "sim" => Ok(Engine::Sim),
            "host" => Ok(Engine::Host),
            "vm" => Ok(Engine::Vm(Accel::Tcg)),
            "vm-kvm" => Ok(Engine::Vm(Accel::Kvm)),
            _ => shift()
                .map(|shift| Engine::Vm(Accel::Counted { shift }))
                .ok_or_else(|| ResultsError::Engine { found: text.to_string() }),
        }
    }
}

impl TryFrom<String> for Engine {
    type Error = ResultsError;

    fn try_from(text: String) -> Result<Engine, ResultsError> {
        text.parse()
    }
}

impl From<Engine> for String {
    fn from(engine: Engine) -> String {
        engine.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_names_an_engine_and_its_options() {
        for (text, options) in [
            ("sim", ""),
            ("host", " --engine host"),
            ("vm", " --engine vm"),
            ("vm-icount3", " --engine vm --icount 3"),
            ("vm-kvm", " --engine vm --accel kvm"),
        ] {
            let engine: Engine = text.parse().unwrap();
            assert_eq!((engine.to_string().as_str(), engine.options().as_str()), (text, options));
            assert_eq!(engine.is_guest(), text.starts_with("vm"));
        }
        let refused = "vm-icount".parse::<Engine>().unwrap_err().to_string();
        assert!(refused.starts_with("engine: found `vm-icount`, expected sim"), "{refused}");
    }
}
