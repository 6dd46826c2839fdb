//! The `vm` engine: an experiment's runs on a real kernel in a guest.
//!
//! Guests are slow to boot and noisy: a boot serves many runs, of all variants that can share it, in an order that the
//! seed draws, so that what drifts during a boot meets all variants alike. Variants that need another kernel or other
//! firmware have boots of their own, which alternate. What a run measured is what the program says; beside it stands what
//! the scheduler counted (`/proc/schedstat`), under the simulator's names, so that stored results of both engines can be
//! compared.

mod bench;
mod boots;
mod counters;
mod realise;
mod script;
mod traced;

pub use bench::{Bench, Options};
pub use boots::Told;
pub use realise::{Boot, Realised};
pub use traced::Traced;

/// How the engine's names in results start; what follows says what ran the guests ([`vm::Accel::mark`]).
const NAME: &str = "vm";

/// Whether results of `engine` were measured in guests.
pub fn measured_in_guests(engine: &str) -> bool {
    engine.split('-').next() == Some(NAME)
}

/// Options of `schedscape run` for an engine of this name.
pub fn options_of(engine: &str) -> String {
    let accel = engine.split_once('-').map(|(_, accel)| accel);
    match (measured_in_guests(engine), accel.and_then(|a| a.strip_prefix("icount"))) {
        (false, _) => String::new(),
        (true, Some(shift)) => format!(" --engine {NAME} --icount {shift}"),
        (true, None) => match accel {
            Some(accel) => format!(" --engine {NAME} --accel {accel}"),
            None => format!(" --engine {NAME}"),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn engines_are_named_after_what_runs_their_guests() {
        for (engine, options) in [
            ("sim", ""),
            ("vm", " --engine vm"),
            ("vm-icount3", " --engine vm --icount 3"),
            ("vm-kvm", " --engine vm --accel kvm"),
        ] {
            assert_eq!(options_of(engine), options);
            assert_eq!(measured_in_guests(engine), engine != "sim");
        }
    }
}
