//! Weights of nice levels.
//!
//! The table is that of the kernel, with 1024 for nice 0. `entity` takes a task's weight from it at fork and when nice
//! changes. `NICE_0_WEIGHT` is also the weight at which virtual time goes like real time, and the unit in which
//! placement and balancing allow a difference of load.

/// Weight of nice 0 (`NICE_0_LOAD`, scaled down).
pub(in crate::fair) const NICE_0_WEIGHT: u64 = 1024;

/// Weight of `SCHED_IDLE` (`WEIGHT_IDLEPRIO`).
pub(in crate::fair) const IDLE_WEIGHT: u64 = 3;

/// Bits of a load below the weight (`SCHED_FIXEDPOINT_SHIFT`): a group's share may be less than a weight of 1.
const LOAD_SHIFT: u32 = 10;

/// `scale_load`.
pub(in crate::fair) const fn scale_load(weight: u64) -> u64 {
    weight << LOAD_SHIFT
}

/// `scale_load_down`: at least 2, unless there is no load at all.
pub(in crate::fair) fn scale_load_down(load: u64) -> u64 {
    if load == 0 { 0 } else { (load >> LOAD_SHIFT).max(2) }
}

/// By nice level from -20 (`sched_prio_to_weight`): each level is a quarter heavier than the next, so that two tasks
/// one level apart share a CPU 55 to 45.
const WEIGHTS: [u64; 40] = [
    88761, 71755, 56483, 46273, 36291, 29154, 23254, 18705, 14949, 11916, 9548, 7620, 6100, 4904,
    3906, 3121, 2501, 1991, 1586, 1277, 1024, 820, 655, 526, 423, 335, 272, 215, 172, 137, 110, 87,
    70, 56, 45, 36, 29, 23, 18, 15,
];

/// Weight of `nice`, which is held to -20..=19 (`set_load_weight`).
pub(crate) fn of_nice(nice: i8) -> u64 {
    WEIGHTS[(i16::from(nice).clamp(-20, 19) + 20) as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_is_a_quarter_more() {
        assert_eq!(of_nice(0), NICE_0_WEIGHT);
        assert_eq!((of_nice(-20), of_nice(19)), (88761, 15));
        assert_eq!((of_nice(-128), of_nice(127)), (88761, 15));
        for nice in -20..19 {
            let ratio = of_nice(nice) as f64 / of_nice(nice + 1) as f64;
            assert!((1.19..1.30).contains(&ratio), "{nice}: {ratio}");
        }
    }
}
