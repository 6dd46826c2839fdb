//! Idle states: `/sys/devices/system/cpu/cpu*/cpuidle`.

use super::files;
use machine::CpuSet;
use machine::cpuset::MAX_CPUS;
use std::path::Path;

const DIR: &str = "sys/devices/system/cpu";

/// An idle state as one CPU has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct State {
    /// `name`.
    pub(super) name: String,
    /// Whether `disable` is 1.
    pub(super) off: bool,
    /// Exit latency, in us (`latency`).
    pub(super) latency_us: Option<u64>,
}

/// The states from the shallowest on, by CPUs that have the same.
pub(super) fn states(root: &Path) -> Vec<(CpuSet, Vec<State>)> {
    let cpus = files::numbered(root, DIR, "cpu").into_iter().filter(|cpu| *cpu < MAX_CPUS);
    let of_cpu = |cpu: usize| {
        let dir = format!("{DIR}/cpu{cpu}/cpuidle");
        let state = |number: usize| {
            let file = |name: &str| format!("{dir}/state{number}/{name}");
            Some(State {
                name: files::text(root, &file("name"))?,
                off: files::text(root, &file("disable")).as_deref() == Some("1"),
                latency_us: files::number(root, &file("latency")),
            })
        };
        let states = files::numbered(root, &dir, "state").into_iter();
        (CpuSet::single(cpu), states.filter_map(state).collect::<Vec<_>>())
    };
    files::by_value(cpus.map(of_cpu).filter(|(_, states)| !states.is_empty()))
}

/// Names of the states, `(off)` after those that are disabled, with CPUs where they differ.
pub(super) fn told(root: &Path) -> Option<String> {
    let name = |state: &State| match state.off {
        true => format!("{} (off)", state.name),
        false => state.name.clone(),
    };
    let states = states(root).into_iter();
    let texts = states.map(|(cpus, s)| (cpus, s.iter().map(name).collect::<Vec<_>>().join(" ")));
    files::where_they_differ(&files::by_value(texts))
}
