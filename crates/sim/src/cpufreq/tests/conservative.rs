use super::*;

struct Policy {
    clock: Clock,
    governor: Conservative,
    driver: Driver,
    limits: Limits,
}

impl Policy {
    fn new(cur_khz: u64, change: impl FnOnce(&mut ConservativeTunables)) -> Policy {
        let (driver, clock) = (epyc(5, 9), Clock::new());
        let mut tunables = ConservativeTunables::new(&driver, TICK_NS);
        change(&mut tunables);
        let (now_ns, times) = (clock.now_ns, [clock.times]);
        let governor = Conservative::start(tunables, TICK_NS, now_ns, cur_khz, &times).unwrap();
        let limits = driver.limits(cur_khz);
        Policy { clock, governor, driver, limits }
    }

    fn after(&mut self, ms: u64, load: u64) -> u64 {
        self.clock.pass(ms, load);
        let (times, now_ns) = ([self.clock.times], self.clock.now_ns);
        let decision = self.governor.sample(now_ns, &times, &self.limits, &self.driver);
        assert_eq!(decision.next_sample_in_ns, 8 * MS);
        self.limits.cur_khz = decision.khz;
        decision.khz
    }
}

/// A step is 5 % of 2.25 GHz, 112.5 MHz: 1612.5, 1725, 1837.5, 1950, 2062.5, 2175, 2250, rounded down.
#[test]
fn goes_up_in_steps() {
    let mut policy = Policy::new(1_500_000, |_| ());
    let found: Vec<u64> = (0..7).map(|_| policy.after(8, 100) / 1000).collect();
    assert_eq!(found, [1500, 1500, 1500, 1500, 2000, 2000, 2250]);
}

/// 2137.5, 2025, 1912.5, 1800, 1687.5, 1575, 1500, rounded up.
#[test]
fn goes_down_in_steps() {
    let mut policy = Policy::new(2_250_000, |_| ());
    let found: Vec<u64> = (0..7).map(|_| policy.after(8, 0) / 1000).collect();
    assert_eq!(found, [2250, 2250, 2000, 2000, 2000, 2000, 1500]);
}

/// With steps of 34 % (765 MHz) one goes from end to end.
#[test]
fn thresholds_are_not_included() {
    let after = |cur_khz, load| Policy::new(cur_khz, |t| t.freq_step = 34).after(8, load);
    assert_eq!((after(1_500_000, 80), after(1_500_000, 81)), (1_500_000, 2_250_000));
    assert_eq!((after(2_250_000, 20), after(2_250_000, 19)), (2_250_000, 1_500_000));
}

#[test]
fn goes_down_less_often_by_the_factor() {
    let mut policy = Policy::new(2_250_000, |t| (t.freq_step, t.sampling_down_factor) = (34, 3));
    let found: Vec<u64> = (0..3).map(|_| policy.after(8, 0) / 1000).collect();
    assert_eq!(found, [2250, 2250, 1500]);
}

/// Idle for 24 ms, three periods of 8 ms, is three steps, and the sample's own makes a fourth: 2250 - 4 x 112.5 =
/// 1800 MHz.
#[test]
fn missed_periods_are_steps_down() {
    let mut policy = Policy::new(2_250_000, |_| ());
    assert_eq!(policy.after(24, 0), 2_000_000);
    // Two more are 1575, rounded up; the next is the minimum.
    assert_eq!([0, 0].map(|load| policy.after(8, load)), [2_000_000; 2]);
    assert_eq!(policy.after(8, 0), 1_500_000);
}

/// With the load before the sleep between the thresholds nothing happens, and the steps down are forgotten.
#[test]
fn missed_periods_are_forgotten_between_the_thresholds() {
    let mut policy = Policy::new(2_250_000, |_| ());
    assert_eq!(policy.after(8, 50), 2_250_000);
    assert_eq!(policy.after(80, 0), 2_250_000);
    assert_eq!(policy.after(8, 0), 2_250_000);
}

#[test]
fn new_limits_start_from_the_present_frequency() {
    let mut policy = Policy::new(1_500_000, |_| ());
    policy.limits = Limits { min_khz: 2_000_000, max_khz: 2_250_000, cur_khz: 2_000_000 };
    // 2000 + 112.5 three times: 2112.5, 2225, 2250.
    let found: Vec<u64> = (0..3).map(|_| policy.after(8, 100) / 1000).collect();
    assert_eq!(found, [2000, 2000, 2250]);
}

#[test]
fn a_step_of_nothing_stays() {
    let mut policy = Policy::new(1_500_000, |t| t.freq_step = 0);
    assert_eq!(policy.after(8, 100), 1_500_000);
}

#[test]
fn tunables_that_the_kernel_refuses() {
    let refused = |change: fn(&mut ConservativeTunables)| {
        let mut tunables = ConservativeTunables::new(&epyc(5, 9), TICK_NS);
        change(&mut tunables);
        Conservative::start(tunables, TICK_NS, 0, 1_500_000, &[]).unwrap_err().to_string()
    };
    assert_eq!(refused(|t| t.down_threshold = 80), "down_threshold: found 80, expected 1 to 79");
    assert!(refused(|t| t.up_threshold = 1).starts_with("up_threshold"));
    assert!(refused(|t| t.freq_step = 101).starts_with("freq_step"));
    assert!(refused(|t| t.sampling_down_factor = 11).starts_with("sampling_down_factor"));
    assert!(refused(|t| t.sampling_rate_us = 0).starts_with("sampling_rate_us"));
}
