//! What cpuidle's drivers say of polling, the idle state that watches for work instead of sleeping.

use crate::{Kernel, Version};
use machine::{Arch, Machine};
use serde::{Deserialize, Serialize};

/// Shortest and longest time to poll (`CPUIDLE_POLL_MIN`, `CPUIDLE_POLL_MAX` as a part of the tick), from 5.11 on.
const POLL_MIN_NS: u64 = 10_000;
const POLL_MAX_OF_TICK: u64 = 16;

/// How the first idle state polls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Polling {
    /// After so many ns the governor chooses again; none for never.
    pub limit_ns: Option<u64>,
    /// Whether governors know that it polls (`CPUIDLE_FLAG_POLLING`).
    pub is_flagged: bool,
}

/// How the first idle state of `machine` polls, if it does: one that takes no time to leave.
///
/// `poll_idle()` polls for as long as the first state that sleeps has to last (`cpuidle_poll_time()`), within bounds from 5.11 on.
/// powerpc's snooze has no bounds, and governors are told that it polls from 6.8 on, in Debian's package from 6.1.
pub fn polling(machine: &Machine, kernel: &Kernel) -> Option<Polling> {
    let (first, others) = machine.idle_states.split_first()?;
    if first.exit_latency_ns > 0 {
        return None;
    }
    let residencies = || others.iter().map(|s| s.target_residency_ns);
    let from = |major, minor| kernel.version >= Version::new(major, minor);
    let tick_ns = 1_000_000_000 / u64::from(kernel.hz);
    Some(match machine.arch {
        Arch::Powerpc => Polling { limit_ns: residencies().next(), is_flagged: from(6, 1) },
        _ if from(5, 11) => {
            let most = tick_ns / POLL_MAX_OF_TICK;
            let pays = residencies().find(|&ns| ns >= POLL_MIN_NS);
            Polling { limit_ns: Some(pays.map_or(most, |ns| ns.min(most))), is_flagged: true }
        }
        _ => Polling { limit_ns: Some(residencies().next().unwrap_or(tick_ns)), is_flagged: true },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(arch: Arch, states: &[(u64, u64)]) -> Machine {
        let state = |&(exit_latency_ns, target_residency_ns): &(u64, u64)| machine::IdleState {
            name: String::new(),
            exit_latency_ns,
            target_residency_ns,
            mwait: false,
        };
        let mut machine = machine::catalog::load("power9-big-core").unwrap();
        (machine.arch, machine.idle_states) = (arch, states.iter().map(state).collect());
        machine
    }

    fn of(version: (u16, u16), arch: Arch, states: &[(u64, u64)]) -> Option<Polling> {
        polling(&machine(arch, states), &Kernel::new(Version::new(version.0, version.1)))
    }

    fn limit(version: (u16, u16), arch: Arch, residencies: &[u64]) -> Option<u64> {
        let states: Vec<_> = residencies.iter().map(|&ns| (ns, ns)).collect();
        of(version, arch, &states).unwrap().limit_ns
    }

    #[test]
    fn polls_until_the_next_state_pays() {
        assert_eq!(limit((5, 10), Arch::X86, &[0, 2_000, 40_000]), Some(2_000));
        assert_eq!(limit((6, 1), Arch::X86, &[0, 2_000, 40_000]), Some(40_000));
        assert_eq!(limit((6, 1), Arch::X86, &[0, 900_000]), Some(250_000));
        assert_eq!(limit((6, 1), Arch::X86, &[0]), Some(250_000));
        assert_eq!(limit((6, 12), Arch::Powerpc, &[0, 2_000, 40_000]), Some(2_000));
        assert_eq!(limit((6, 12), Arch::Powerpc, &[0]), None);
    }

    #[test]
    fn snooze_is_not_always_known_to_poll() {
        let flagged = |version, arch| of(version, arch, &[(0, 0), (1, 2)]).unwrap().is_flagged;
        assert!(!flagged((5, 10), Arch::Powerpc) && flagged((6, 1), Arch::Powerpc));
        assert!(flagged((5, 10), Arch::X86));
        assert_eq!(of((6, 12), Arch::Arm64, &[(1, 1)]), None);
    }
}
