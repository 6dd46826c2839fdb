//! Priorities as the kernel counts them (`include/linux/sched/prio.h`): less is more urgent.

use std::ops::Range;

/// Real-time and deadline tasks have less (`MAX_RT_PRIO`).
pub const MAX_RT_PRIO: i32 = 100;
/// That of nice 0 (`DEFAULT_PRIO`).
pub const DEFAULT_PRIO: i32 = MAX_RT_PRIO + 20;
/// Those of the fair class, from nice -20 to 19 (`MAX_PRIO`).
pub const FAIR_PRIORITIES: Range<i32> = MAX_RT_PRIO..MAX_RT_PRIO + 40;

/// The nice value of a fair priority (`PRIO_TO_NICE`); the nearest one of others.
pub fn nice_of(priority: i32) -> i8 {
    priority.saturating_sub(DEFAULT_PRIO).clamp(-20, 19) as i8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nice_values_are_those_of_fair_priorities() {
        let all: Vec<i8> = FAIR_PRIORITIES.map(nice_of).collect();
        assert_eq!(all, (-20..20).collect::<Vec<i8>>());
        assert_eq!([i32::MIN, 0, i32::MAX].map(nice_of), [-20, -20, 19]);
    }
}
