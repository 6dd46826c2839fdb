//! A run under a variant as scripts for a guest's shell.

use super::groups;
use super::realise::Realised;
use vm::board::GuestCpu;
use vm::programs::Program;
use vm::session::GuestRun;

/// Time in s that a guest has to come to rest before a run.
const REST_S: f64 = 0.5;

/// Where a kernel says whether it balances memory between nodes.
const NUMA: &str = "/proc/sys/kernel/numa_balancing";

/// The scripts of a run of `program` under `variant`, where it begins in the control group `group`, in a guest whose clock is slower than this computer's by `slowed`.
pub fn run(program: &Program, variant: &Realised, group: Option<&str>, slowed: u32) -> GuestRun {
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
    if let Some(on) = variant.numa_balancing {
        let on = u8::from(on);
        before.push_str(&format!("cat {NUMA} > /tmp/numa && echo {on} > {NUMA} || exit 1\n"));
        after.push_str(&format!("cat /tmp/numa > {NUMA}\n"));
    }
    let (made, gone) = groups::scripts(&variant.groups);
    before.push_str(&made);
    after.insert_str(0, &gone);
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
        command: group.map_or(String::new(), groups::join) + &program.command,
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
    use crate::guests::Boot;
    use vm::programs::Output;
    use vm::sched_ext::Scheduler;
    use vm::{Arch, KernelImage};

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

    #[test]
    fn a_scheduler_comes_last_and_goes_first() {
        let arch = if cfg!(target_arch = "x86_64") { Arch::X86 } else { Arch::Arm64 };
        // Any program of this computer stands for a scheduler.
        let scheduler = Scheduler::program("/bin/sh".as_ref(), arch, "/".as_ref()).unwrap();
        let kernel = KernelImage {
            version: (7, 2),
            release: "7.2.1".to_string(),
            arch,
            image: "image".into(),
            config: "config".into(),
            modules: None,
        };
        let mut variant = Realised {
            boot: Boot { kernel, plain: false, append: String::new() },
            features: vec!["NO_SIS_UTIL".to_string()],
            offline: vec![GuestCpu(3)],
            scheduler: Some(scheduler.clone()),
            hotplug: vec![],
            groups: vec![],
            numa_balancing: Some(false),
        };
        let program = Program {
            packages: vec![],
            programs: vec![],
            files: vec![],
            command: "true\n".to_string(),
            output: Output::Named(vec![]),
            notes: vec![],
            guest_notes: Vec::new(),
        };
        let with = run(&program, &variant, None, 1);
        assert_eq!(with.scheduler, Some(scheduler));
        assert_eq!(
            with.before,
            "switch 0 3 || exit 1\nfeature NO_SIS_UTIL || exit 1\n\
             cat /proc/sys/kernel/numa_balancing > /tmp/numa \
             && echo 0 > /proc/sys/kernel/numa_balancing || exit 1\n\
             scheduler_on || exit 1\nsleep 0.5000\n"
        );
        assert_eq!(
            with.after,
            "scheduler_off || exit 1\nswitch 1 3\nfeature SIS_UTIL\n\
             cat /tmp/numa > /proc/sys/kernel/numa_balancing\n"
        );
        variant.scheduler = None;
        let without = run(&program, &variant, None, 1);
        assert_eq!(without.scheduler, None);
        assert!(!(without.before + &without.after).contains("scheduler"));
    }
}
