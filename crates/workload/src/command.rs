//! Any command of this computer: `[workload.command]`. No model has its steps, so only engines that start programs run it.

pub use crate::no_costs::NoCosts as Costs;
use crate::program::Workload;
use crate::{WorkloadError, check};
use serde::{Deserialize, Serialize};
use stats::Better;
use std::collections::BTreeMap;

const NAME: &str = "command";

/// Seconds after which a command is ended, if it does not say.
pub const DEFAULT_TIMEOUT_S: f64 = 3600.0;

/// What is run, and how its figures are read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// The program and its arguments. A program with a `/` is relative to the experiment file.
    pub argv: Vec<String>,
    /// Its directory, relative to the experiment file; that of the experiment file if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    /// Variables of its environment, besides those of schedscape's own.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// What is measured; the time from start to end if empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub figures: Vec<Figure>,
    /// Runs before the first one that counts, under each variant.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub warmup: u32,
    /// Seconds after which it is ended, and the run fails; [`DEFAULT_TIMEOUT_S`] if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_s: Option<f64>,
    /// The exit code of a run that went well.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub exit_code: u32,
    /// A regular expression that its standard output must contain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expect: Option<String>,
}

/// A time that is measured from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Clock {
    /// From its start to its end.
    Wall,
    /// Time that it and the processes that it waited for ran in user mode.
    User,
    /// The same in the kernel.
    Sys,
}

impl Clock {
    /// As experiment files have it.
    pub fn name(self) -> &'static str {
        match self {
            Clock::Wall => "wall",
            Clock::User => "user",
            Clock::Sys => "sys",
        }
    }
}

/// A figure: exactly one of `clock`, `regex` and `json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// Its name; the clock's if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// A time in s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<Clock>,
    /// A regular expression whose only group is a number in its standard output; the last match counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub regex: Option<String>,
    /// A pointer (RFC 6901) to a number in its standard output, which is JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub json: Option<String>,
    /// The unit; s for clocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// Which direction is good; lower for clocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub better: Option<Better>,
}

impl Figure {
    /// The time of `clock`.
    pub fn clock(clock: Clock) -> Figure {
        Figure { name: None, clock: Some(clock), regex: None, json: None, unit: None, better: None }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        match (&self.name, self.clock) {
            (Some(name), _) => name,
            (None, Some(clock)) => clock.name(),
            (None, None) => "",
        }
    }

    /// Its unit.
    pub fn unit(&self) -> &str {
        self.unit.as_deref().unwrap_or(if self.clock.is_some() { "s" } else { "" })
    }

    /// Which direction is good.
    pub fn better(&self) -> Better {
        self.better.unwrap_or(Better::Lower)
    }

    fn check(&self) -> Result<(), WorkloadError> {
        let refuse = |field, found: &str, expected| {
            Err(WorkloadError { program: NAME, field, found: found.to_owned(), expected })
        };
        let sources = [self.clock.is_some(), self.regex.is_some(), self.json.is_some()];
        let found = sources.iter().filter(|is| **is).count().to_string();
        if found != "1" {
            return refuse("figures", &format!("{found} sources"), "one of clock, regex and json");
        }
        if self.name().is_empty() {
            return refuse("figures.name", "none", "a name");
        }
        if self.clock.is_some() && (self.unit.is_some() || self.better.is_some()) {
            let expected = "neither: clocks are in s, and lower is better";
            return refuse("figures", "a clock with unit or better", expected);
        }
        if self.clock.is_none() && self.better.is_none() {
            return refuse("figures.better", "none", "`higher` or `lower`");
        }
        if let Some(pointer) = self.json.as_ref().filter(|p| !p.is_empty() && !p.starts_with('/')) {
            return refuse("figures.json", pointer, "a pointer such as /latency/p99");
        }
        Ok(())
    }
}

impl Params {
    /// What is measured, the default included.
    pub fn figures(&self) -> Vec<Figure> {
        match self.figures.is_empty() {
            true => vec![Figure::clock(Clock::Wall)],
            false => self.figures.clone(),
        }
    }

    /// The name of its task.
    pub fn task(&self) -> &str {
        let program = self.argv.first().map_or("", String::as_str);
        program.rsplit('/').next().unwrap_or(program)
    }

    /// Seconds after which it is ended.
    pub fn timeout_s(&self) -> f64 {
        self.timeout_s.unwrap_or(DEFAULT_TIMEOUT_S)
    }

    /// # Errors
    /// Parameters that cannot be; regular expressions are checked by who uses them.
    pub fn check(&self) -> Result<(), WorkloadError> {
        let refuse = |field, found: String, expected| {
            Err(WorkloadError { program: NAME, field, found, expected })
        };
        if self.argv.first().is_none_or(String::is_empty) {
            return refuse("argv", "none".to_owned(), "a program and its arguments");
        }
        check::within(NAME, "timeout_s", self.timeout_s(), 1e-3..=1e6, "0.001 to 1000000")?;
        check::within(NAME, "exit_code", self.exit_code, 0..=255, "0 to 255")?;
        check::within(NAME, "warmup", self.warmup, 0..=1000, "0 to 1000")?;
        let figures = self.figures();
        figures.iter().try_for_each(Figure::check)?;
        let twice = figures
            .iter()
            .enumerate()
            .find(|(at, figure)| figures[..*at].iter().any(|other| other.name() == figure.name()));
        match twice {
            Some((_, figure)) => {
                refuse("figures.name", format!("`{}` twice", figure.name()), "each name once")
            }
            None => Ok(()),
        }
    }
}

fn is_zero(n: &u32) -> bool {
    *n == 0
}

/// Refuses it: a model has no programs.
///
/// # Errors
/// Always.
pub fn build(params: &Params, _: &Costs) -> Result<Workload, WorkloadError> {
    Err(WorkloadError {
        program: NAME,
        field: "argv",
        found: format!("`{}`", params.argv.join(" ")),
        expected: "a benchmark that schedscape models; a command runs on this computer (--engine host)",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<Params, String> {
        let params: Params = serde_json::from_str(json).map_err(|e| e.to_string())?;
        params.check().map_err(|e| e.to_string())?;
        Ok(params)
    }

    #[test]
    fn a_command_alone_is_timed() {
        let params = read(r#"{ "argv": ["make"] }"#).unwrap();
        let figures = params.figures();
        let [wall] = &figures[..] else { panic!("{figures:?}") };
        assert_eq!((wall.name(), wall.unit(), wall.better()), ("wall", "s", Better::Lower));
        assert_eq!(params.timeout_s(), 3600.0);
        let again = serde_json::to_string(&params).unwrap();
        assert_eq!(again, r#"{"argv":["make"]}"#);
    }

    #[test]
    fn what_cannot_be_is_refused_by_name() {
        for (json, expected) in [
            (r#"{ "argv": [] }"#, "command: argv: found none"),
            (r#"{ "argv": ["a"], "timeout_s": 0 }"#, "command: timeout_s: found 0"),
            (r#"{ "argv": ["a"], "exit_code": 256 }"#, "command: exit_code: found 256"),
            (r#"{ "argv": ["a"], "figures": [{ "name": "x" }] }"#, "figures: found 0 sources"),
            (
                r#"{ "argv": ["a"], "figures": [{ "regex": "(.)", "better": "lower" }] }"#,
                "figures.name: found none",
            ),
            (
                r#"{ "argv": ["a"], "figures": [{ "name": "x", "regex": "(.)" }] }"#,
                "figures.better: found none, expected `higher` or `lower`",
            ),
            (
                r#"{ "argv": ["a"], "figures": [{ "clock": "wall", "unit": "ms" }] }"#,
                "figures: found a clock with unit or better",
            ),
            (
                r#"{ "argv": ["a"], "figures": [{ "clock": "wall" }, { "clock": "wall" }] }"#,
                "figures.name: found `wall` twice",
            ),
            (
                r#"{ "argv": ["a"], "figures": [{ "name": "x", "json": "a", "better": "lower" }] }"#,
                "figures.json: found a, expected a pointer",
            ),
            (r#"{ "argv": ["a"], "envv": {} }"#, "unknown field `envv`"),
        ] {
            let error = read(json).unwrap_err();
            assert!(error.contains(expected), "{json}: {error}");
        }
    }
}
