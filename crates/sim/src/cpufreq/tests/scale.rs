use super::*;
use crate::pelt::Pelt;
use proptest::prelude::*;

#[test]
fn the_maximum_is_boost_nominal_or_between() {
    // 255 x 1024 / 169 = 1545, (1545 + 1024) / 2 = 1284.
    assert_eq!(max_freq_ratio(255, 169, MaxFreq::MaxBoost), Ok(1545));
    assert_eq!(max_freq_ratio(255, 169, MaxFreq::Midpoint), Ok(1284));
    assert_eq!(max_freq_ratio(255, 169, MaxFreq::P0), Ok(1024));
    // 3.4 / 2.25 x 1024 = 1547.4.
    assert_eq!(max_freq_ratio(3400, 2250, MaxFreq::MaxBoost), Ok(1547));
}

#[test]
fn levels_that_give_no_ratio_are_refused() {
    assert_eq!(
        max_freq_ratio(0, 169, MaxFreq::Midpoint).unwrap_err().to_string(),
        "highest_perf: found 0, expected a CPPC performance level above 0"
    );
    assert!(max_freq_ratio(255, 0, MaxFreq::P0).is_err());
    assert!(max_freq_ratio(1, 2048, MaxFreq::MaxBoost).is_err());
    // The kernel looks at the midpoint, which is never 0.
    assert_eq!(max_freq_ratio(1, 2048, MaxFreq::Midpoint), Ok(512));
    // 166, which 6.1 takes for Family 17h 31h, is below a nominal level of 169: boost is unknown.
    assert!(boost_ratio(166, 169).is_err());
    assert_eq!(boost_ratio(169, 169), Ok(1024));
}

#[test]
fn mainline_takes_the_midpoint_from_5_11_on() {
    let of = |minor, known| max_freq_of_acpi_cpufreq(Version::new(5, minor), known);
    assert_eq!(of(10, true), None);
    assert_eq!(of(11, true), Some(MaxFreq::Midpoint));
    assert_eq!(of(11, false), Some(MaxFreq::P0));
}

/// A tick of 4 ms at 2.25 GHz nominal: 9 million cycles of MPERF.
#[test]
fn scale_is_the_share_of_the_maximum() {
    let scale = |khz: u64, ratio| freq_scale(khz * 4, 9_000_000, ratio);
    // 2.25 GHz: 2^20 / 1284 = 816, 2^20 / 1545 = 678, 2^20 / 1024 = 1024.
    assert_eq!(scale(2_250_000, 1284), Some(816));
    assert_eq!(scale(2_250_000, 1545), Some(678));
    assert_eq!(scale(2_250_000, 1024), Some(1024));
    // 1.5 GHz: two thirds of that.
    assert_eq!(scale(1_500_000, 1284), Some(544));
    assert_eq!(scale(1_500_000, 1545), Some(452));
    assert_eq!(scale(1_500_000, 1024), Some(682));
    // Boost of 3.4 GHz is above the midpoint, and counts as 1.
    assert_eq!(scale(3_400_000, 1284), Some(1024));
}

#[test]
fn counters_that_make_no_sense_turn_invariance_off() {
    assert_eq!(freq_scale(1 << 44, 1, 1024), None);
    assert_eq!(freq_scale((1 << 44) - 1, 1, 1024), Some(1024));
    assert_eq!(freq_scale(1, 1 << 54, 1024), None);
    assert_eq!(freq_scale(1, 0, 1024), None);
    assert_eq!(freq_scale(0, 1, 1024), None);
    assert_eq!(freq_scale(1, 1 << 20, 1024), None);
}

proptest! {
    #[test]
    fn scale_is_at_most_one_and_grows_with_frequency(
        aperf: u64, more in 0u64..1 << 40, mperf: u64, ratio in 1u64..1 << 20,
    ) {
        let scale = freq_scale(aperf, mperf, ratio);
        prop_assert!(scale.is_none_or(|s| (1..=1024).contains(&s)));
        if let (Some(s), Some(t)) = (scale, freq_scale(aperf.saturating_add(more), mperf, ratio)) {
            prop_assert!(s <= t);
        }
    }
}

/// Mean utilisation of a CPU that is busy 5 of 10 ms, its clock scaled as `update_rq_clock_pelt` does: slower while
/// busy, caught up when idle.
fn half_busy(scale: u64) -> u64 {
    let start_ns = 1 << 30;
    let mut pelt = Pelt { last_update_ns: start_ns, ..Pelt::default() };
    let (mut sum, mut n) = (0, 0);
    for cycle in 0..200 {
        let wall_ns = start_ns + cycle * 10 * MS;
        for ms in 1..=10 {
            let busy = ms <= 5;
            let clock_ns = wall_ns + if busy { ms * MS * scale / CAPACITY_SCALE } else { ms * MS };
            pelt.update_sum(clock_ns, 1, 1 << 10, busy);
            pelt.update_avg(1, 1);
            if cycle >= 100 {
                sum += pelt.util_avg;
                n += 1;
            }
        }
    }
    sum / n
}

/// A CPU at 1.5 GHz that is half busy seems half used, or 1.5 GHz by the maximum of that: 512 x 452 / 1024 = 226 for
/// 3.4 GHz, 272 for the midpoint.
#[test]
fn invariance_takes_the_frequency_out_of_utilisation() {
    let at_p2 = |choice| {
        let ratio = max_freq_ratio(255, 169, choice).unwrap();
        half_busy(freq_scale(1_500_000, 2_250_000, ratio).unwrap())
    };
    let near = |found: u64, expected: u64| found.abs_diff(expected) <= 8;
    assert!(near(half_busy(CAPACITY_SCALE), 512), "{}", half_busy(CAPACITY_SCALE));
    assert!(near(at_p2(MaxFreq::MaxBoost), 226), "{}", at_p2(MaxFreq::MaxBoost));
    assert!(near(at_p2(MaxFreq::Midpoint), 272), "{}", at_p2(MaxFreq::Midpoint));
    assert!(near(at_p2(MaxFreq::P0), 341), "{}", at_p2(MaxFreq::P0));
}
