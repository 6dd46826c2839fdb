//! A run under a variant as scripts for a guest's shell.

use super::realise::Realised;
use vm::board::GuestCpu;
use vm::programs::Program;
use vm::session::GuestRun;

/// Time in s that a guest has to come to rest before a run.
const REST_S: f64 = 0.5;

/// The scripts of a run of `program` under `variant`, in a guest whose clock is slower than this computer's by `slowed`.
pub fn run(program: &Program, variant: &Realised, slowed: u32) -> GuestRun {
    let offline: Vec<String> = variant.offline.iter().map(GuestCpu::to_string).collect();
    let back: Vec<String> = variant.offline.iter().rev().map(GuestCpu::to_string).collect();
    let mut before = String::new();
    let mut after = String::new();
    if !offline.is_empty() {
        before.push_str(&format!("switch 0 {} || exit 1\n", offline.join(" ")));
        after.push_str(&format!("switch 1 {}\n", back.join(" ")));
    }
    if !variant.features.is_empty() {
        before.push_str(&format!("feature {} || exit 1\n", variant.features.join(" ")));
        let undone: Vec<String> = variant.features.iter().map(|f| opposite(f)).collect();
        after.push_str(&format!("feature {}\n", undone.join(" ")));
    }
    // Last to come and first to go: a scheduler may end when CPUs come or go.
    if variant.scheduler.is_some() {
        before.push_str("scheduler_on || exit 1\n");
        after.insert_str(0, "scheduler_off || exit 1\n");
    }
    before.push_str(&format!("sleep {:.4}\n", REST_S / f64::from(slowed)));
    let (beside, undone) = hotplug(&variant.hotplug);
    after.push_str(&undone);
    GuestRun {
        before,
        beside,
        command: program.command.clone(),
        after,
        scheduler: variant.scheduler.clone(),
        traced: false,
        counted: false,
    }
}

/// `NO_WA_WEIGHT` for `WA_WEIGHT`, and the other way.
fn opposite(feature: &str) -> String {
    match feature.strip_prefix("NO_") {
        Some(name) => name.to_string(),
        None => format!("NO_{feature}"),
    }
}

/// CPUs switched while a run lasts, and what brings them back.
fn hotplug(steps: &[(f64, GuestCpu, bool)]) -> (String, String) {
    let mut during = String::new();
    let mut undone = String::new();
    let mut now = 0.0;
    for &(at_s, cpu, online) in steps {
        if at_s > now {
            during.push_str(&format!("sleep {:.3}\n", at_s - now));
            now = at_s;
        }
        during.push_str(&format!("switch {} {cpu}\n", u8::from(online)));
        if !online {
            undone.push_str(&format!(
                "[ \"$(cat /sys/devices/system/cpu/cpu{cpu}/online)\" = 1 ] || switch 1 {cpu}\n"
            ));
        }
    }
    (during, undone)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpus_switched_during_a_run_come_back() {
        let [two, three] = [2, 3].map(GuestCpu);
        let (during, undone) =
            hotplug(&[(0.5, three, false), (0.5, two, false), (2.0, three, true)]);
        assert_eq!(during, "sleep 0.500\nswitch 0 3\nswitch 0 2\nsleep 1.500\nswitch 1 3\n");
        assert_eq!(undone.lines().count(), 2);
        assert_eq!(opposite("NO_SIS_UTIL"), "SIS_UTIL");
        assert_eq!(opposite("SIS_UTIL"), "NO_SIS_UTIL");
    }
}
