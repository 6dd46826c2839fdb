//! What about this computer is known to spoil results, each with what to do about it.

use super::{Facts, files, frequency, idle, limits, loaded_scheduler, swap};
use serde::Serialize;
use std::path::Path;

/// The clock that the kernel reads for its own and for programs' times.
pub(super) const CLOCKSOURCE: &str =
    "sys/devices/system/clocksource/clocksource0/current_clocksource";
/// The value `hypervisor` of a record where none shows.
pub(super) const NO_HYPERVISOR: &str = "none seen";

/// Clocks that a CPU reads in itself: of x86, arm64, powerpc, s390 and RISC-V.
const OWN_CLOCKS: [&str; 5] = ["tsc", "arch_sys_counter", "timebase", "tod", "riscv_clocksource"];

/// Idle states that take longer to leave than this, in us, show in times of wake-ups.
const DEEP_US: u64 = 20;

/// Other load that no computer is without: of one CPU, and of each further one.
const QUIET_CPUS: (f64, f64) = (0.1, 0.002);

/// Options that make a kernel check itself, which takes time in the scheduler's own paths. `SCHED_DEBUG` is none of them:
/// distributions build it in, and it only shows and sets.
const CHECKS: [&str; 17] = [
    "DEBUG_ATOMIC_SLEEP",
    "DEBUG_KMEMLEAK",
    "DEBUG_LOCK_ALLOC",
    "DEBUG_MUTEXES",
    "DEBUG_OBJECTS",
    "DEBUG_PAGEALLOC_ENABLE_DEFAULT",
    "DEBUG_PREEMPT",
    "DEBUG_SPINLOCK",
    "GCOV_KERNEL",
    "KASAN",
    "KCOV",
    "KCSAN",
    "KMSAN",
    "LOCKDEP",
    "LOCK_STAT",
    "PROVE_LOCKING",
    "SLUB_DEBUG_ON",
];

/// Bits of `/proc/sys/kernel/tainted` after which a kernel may run other code than it should, and what they say.
const TAINTS: [(u32, &str); 3] =
    [(7, "a task died in the kernel"), (9, "the kernel warned"), (14, "a CPU was stuck")];

/// Something that is known to spoil results.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Warning {
    /// A short name that stays the same: `hypervisor`, `clocksource`, `governor`, `turbo`, `idle-states`, `debug-kernel`,
    /// `swap`, `load`, `battery`, `tainted`, `nmi-watchdog`, `cpu-quota`, `cpus-allowed` or `scheduler`.
    pub key: &'static str,
    /// One line: what it is, what it does to results, what to do.
    pub text: String,
}

impl Facts {
    /// What would spoil results now. What changes while a computer runs is read anew below `root`; hypervisor, clock and
    /// options are those of the record.
    ///
    /// `busy` is the share of all CPUs' time, 0 to 1, that others took while nothing of ours ran
    /// ([`crate::noise::busy_share`]); none if nobody looked.
    pub fn warnings(&self, root: &Path, busy: Option<f64>) -> Vec<Warning> {
        let warnings = [
            ("hypervisor", self.hypervisor()),
            ("clocksource", clocksource(root)),
            ("governor", governor(root)),
            ("turbo", turbo(root)),
            ("idle-states", idle_states(root)),
            ("debug-kernel", self.debug_kernel()),
            ("swap", swap_in_use(root)),
            ("load", busy.and_then(|busy| self.load(busy))),
            ("battery", battery(root)),
            ("tainted", tainted(root)),
            ("nmi-watchdog", nmi_watchdog(root)),
            ("cpu-quota", cpu_quota(root)),
            ("cpus-allowed", self.cpus_allowed(root)),
            ("scheduler", scheduler(root)),
        ];
        let said = warnings.into_iter().filter_map(|(key, text)| Some((key, text?)));
        // A name that the kernel gives may hold line ends.
        said.map(|(key, text)| Warning { key, text: text.replace(['\n', '\r'], " ") }).collect()
    }

    fn hypervisor(&self) -> Option<String> {
        let name = self.get("hypervisor").filter(|name| *name != NO_HYPERVISOR)?;
        Some(format!(
            "this computer runs under a hypervisor ({name}): it may take CPU time away, and caches and cores may \
             not be what they seem; use a computer of its own, or bind virtual CPUs to CPUs and tell the guest the topology"
        ))
    }

    fn debug_kernel(&self) -> Option<String> {
        let config = self.config.as_ref()?;
        let checks: Vec<&str> = CHECKS.into_iter().filter(|name| config.has(name)).collect();
        (!checks.is_empty()).then(|| {
            format!(
                "this kernel checks itself ({}), which slows its own work most; use a kernel without these options",
                checks.join(", ")
            )
        })
    }

    fn load(&self, busy: f64) -> Option<String> {
        let cpus = self.online.len() as f64;
        let quiet = QUIET_CPUS.0 + QUIET_CPUS.1 * (cpus - 1.0);
        (busy * cpus > quiet).then(|| {
            format!(
                "something else keeps {:.2} of {cpus} CPUs busy and will share CPUs with what is measured; stop it",
                busy * cpus
            )
        })
    }

    fn cpus_allowed(&self, root: &Path) -> Option<String> {
        let allowed = limits::allowed(root)?;
        let left_out = &self.online - &allowed;
        (!left_out.is_empty()).then(|| {
            format!(
                "this process and what it starts may not use CPUs {left_out}, by affinity, a cpuset or isolcpus=; start it \
                 without, unless that is what you measure"
            )
        })
    }
}

fn clocksource(root: &Path) -> Option<String> {
    let name = files::text(root, CLOCKSOURCE).filter(|name| !OWN_CLOCKS.contains(&&name[..]))?;
    Some(format!(
        "the kernel's clock is {name}, which may take a microsecond or a hypervisor's help to read; see in the kernel's log \
         why it is not the CPUs' own, or boot with clocksource= or tsc=reliable if you know that it is good"
    ))
}

fn governor(root: &Path) -> Option<String> {
    let policies = frequency::policies(root);
    let governors = frequency::of_each(&policies, |policy| policy.governor.clone());
    let others: Vec<_> = governors.into_iter().filter(|(_, name)| name != "performance").collect();
    let told = files::where_they_differ(&others)?;
    Some(format!(
        "governor {told}: clocks follow load, so that a run depends on what ran before; set the governor performance, \
         unless governors are what you measure"
    ))
}

fn turbo(root: &Path) -> Option<String> {
    frequency::turbo(root)?.then(|| {
        "turbo is on: clocks depend on how many CPUs are busy and how warm they are; switch it off, or let CPUs cool \
         between runs"
            .to_string()
    })
}

fn idle_states(root: &Path) -> Option<String> {
    let states = idle::states(root);
    let states = states.iter().flat_map(|(_, states)| states);
    let deep = states.filter(|state| !state.off);
    let deep = deep.filter_map(|state| Some((state.latency_us?, &state.name)));
    let (latency, name) = deep.max().filter(|(latency, _)| *latency > DEEP_US)?;
    Some(format!(
        "idle state {name} takes {latency} us to leave, which shows in latencies and may not matter otherwise; disable \
         deep states if latency is what you measure"
    ))
}

fn swap_in_use(root: &Path) -> Option<String> {
    let (used, _) = swap(&files::text(root, "proc/meminfo")?).filter(|(used, _)| *used > 0)?;
    Some(format!(
        "{used} kB of memory are swapped out, and to read them back delays whoever needs them; free memory and run swapoff -a"
    ))
}

fn battery(root: &Path) -> Option<String> {
    const DIR: &str = "sys/class/power_supply";
    let supplies = files::names(root, DIR, |_| true);
    let file = |name: &str, file: &str| files::text(root, &format!("{DIR}/{name}/{file}"));
    let is = |name: &str, what: &str, value: &str| file(name, what).as_deref() == Some(value);
    // A mouse has a battery too, whose scope is `Device`.
    let own = supplies.iter().filter(|name| !is(name, "scope", "Device"));
    let own: Vec<&String> = own.collect();
    let discharging =
        own.iter().any(|n| is(n, "type", "Battery") && is(n, "status", "Discharging"));
    let mut mains = own.iter().filter(|name| is(name, "type", "Mains")).peekable();
    let unplugged = mains.peek().is_some() && mains.all(|name| is(name, "online", "0"));
    (discharging || unplugged).then(|| {
        "this computer runs on its battery, where firmware holds clocks down; plug it in"
            .to_string()
    })
}

fn tainted(root: &Path) -> Option<String> {
    let bits = files::number(root, "proc/sys/kernel/tainted")?;
    let said = TAINTS.iter().filter(|(bit, _)| bits >> bit & 1 == 1);
    let said: Vec<String> = said.map(|(bit, what)| format!("{what} (taint bit {bit})")).collect();
    (!said.is_empty()).then(|| {
        format!(
            "since boot {}; read the kernel's log and reboot before you measure",
            said.join(", ")
        )
    })
}

fn nmi_watchdog(root: &Path) -> Option<String> {
    (files::number(root, "proc/sys/kernel/nmi_watchdog")? == 1).then(|| {
        "the NMI watchdog interrupts each busy CPU and takes one of its hardware counters; run sysctl kernel.nmi_watchdog=0"
            .to_string()
    })
}

fn cpu_quota(root: &Path) -> Option<String> {
    let quotas = limits::quotas(root).into_iter().filter(|quota| quota.period_us > 0);
    let share = |quota: &limits::Quota| quota.quota_us as f64 / quota.period_us as f64;
    let least = quotas.min_by(|a, b| share(a).total_cmp(&share(b)))?;
    Some(format!(
        "/{} stops this process's control group after {} us of CPU time in every {} us ({:.2} CPUs), which makes any time \
         meaningless; start it outside of the group or write max there",
        least.file,
        least.quota_us,
        least.period_us,
        share(&least)
    ))
}

fn scheduler(root: &Path) -> Option<String> {
    loaded_scheduler(root).map(|name| {
        format!(
            "{name} schedules in place of the fair class; stop it, unless that is what you measure"
        )
    })
}
