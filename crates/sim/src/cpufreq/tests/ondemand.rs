use super::*;

/// 1.5 to 2.25 GHz in steps of 50 MHz.
fn fine(major: u16, minor: u16) -> Driver {
    let khz: Vec<u64> = (30..=45).rev().map(|n| n * 50_000).collect();
    acpi(major, minor, &khz, 0)
}

struct Policy {
    clock: Clock,
    governor: Ondemand,
    driver: Driver,
    limits: Limits,
}

impl Policy {
    fn new(driver: Driver, change: impl FnOnce(&mut OndemandTunables)) -> Policy {
        let mut tunables = OndemandTunables::amd(&driver, TICK_NS);
        change(&mut tunables);
        let clock = Clock::new();
        let governor = Ondemand::start(tunables, TICK_NS, clock.now_ns, &[clock.times]).unwrap();
        let limits = driver.limits(driver.min_khz());
        Policy { clock, governor, driver, limits }
    }

    /// kHz and us to the next sample.
    fn sample(&mut self) -> (u64, u64) {
        let (times, now_ns) = ([self.clock.times], self.clock.now_ns);
        let decision = self.governor.sample(now_ns, &times, &self.limits, &self.driver);
        self.limits.cur_khz = decision.khz;
        (decision.khz, decision.next_sample_in_ns / 1000)
    }

    fn after(&mut self, ms: u64, load: u64) -> u64 {
        self.clock.pass(ms, load);
        self.sample().0
    }
}

/// 94 %: 1.5 + 0.94 x 0.75 = 2.205 GHz; 95 %: 2.2125; 96 % would be 2.22, all closest to 2.2; but above 95 % it is
/// the maximum.
#[test]
fn above_the_threshold_it_is_the_maximum() {
    let mut policy = Policy::new(fine(5, 9), |_| ());
    assert_eq!(policy.after(8, 94), 2_200_000);
    assert_eq!(policy.after(8, 95), 2_200_000);
    assert_eq!(policy.after(8, 96), 2_250_000);
    assert_eq!(policy.after(8, 95), 2_200_000);
    // Counting idle time in ticks, 80 % are 2.1 GHz exactly, and 81 % the maximum.
    let mut policy = Policy::new(fine(5, 9), |t| t.up_threshold = 80);
    assert_eq!(policy.after(8, 80), 2_100_000);
    assert_eq!(policy.after(8, 81), 2_250_000);
}

/// 33 %: 1.7475 GHz, closest to 1.5; 34 %: 1.755, to 2.0; 83 %: 2.1225, to 2.0; 84 %: 2.13, to 2.25.
#[test]
fn below_it_the_closest_to_proportional() {
    let mut policy = Policy::new(epyc(5, 9), |_| ());
    let found = [0, 33, 34, 83, 84].map(|load| policy.after(8, load));
    assert_eq!(found, [1_500_000, 1_500_000, 2_000_000, 2_000_000, 2_250_000]);
}

/// From 5.11 on the maximum is 3.394775 GHz: 27 % are 2.011, 34 % are 2.144 and closest to 2.25.
#[test]
fn boost_in_the_maximum_makes_it_eager() {
    let mut policy = Policy::new(epyc(5, 12), |_| ());
    assert_eq!([27, 34].map(|load| policy.after(8, load)), [2_000_000, 2_250_000]);
}

/// Idle for more than two periods of 8 ms: the load before counts once more, then the present one.
#[test]
fn after_a_long_sleep_the_load_before_counts_once() {
    let mut policy = Policy::new(epyc(5, 9), |_| ());
    assert_eq!(policy.after(8, 100), 2_250_000);
    assert_eq!(policy.after(17, 0), 2_250_000);
    assert_eq!(policy.after(17, 0), 1_500_000);
    // Exactly two periods are not more.
    assert_eq!(policy.after(8, 100), 2_250_000);
    assert_eq!(policy.after(16, 0), 1_500_000);
}

#[test]
fn idle_time_that_goes_back_is_none_and_no_time_is_no_sample() {
    let mut policy = Policy::new(epyc(5, 9), |_| ());
    assert_eq!(policy.after(8, 50), 2_000_000);
    policy.clock.now_ns += 8 * MS;
    policy.clock.times.idle_ns -= 2 * MS;
    assert_eq!(policy.sample().0, 2_250_000);
    assert_eq!(policy.sample().0, 2_250_000);
    policy.clock.now_ns -= MS;
    assert_eq!(policy.sample().0, 2_250_000);
}

#[test]
fn waiting_for_io_and_nice_tasks_are_idle_or_busy() {
    let after = |io_is_busy, ignore_nice_load| {
        let mut policy = Policy::new(epyc(5, 9), |t| {
            (t.io_is_busy, t.ignore_nice_load) = (io_is_busy, ignore_nice_load);
        });
        // Of 10 ms, 4 wait for I/O, 4 run nice tasks, 2 others.
        policy.clock.now_ns += 10 * MS;
        policy.clock.times.iowait_ns += 4 * MS;
        policy.clock.times.nice_ns += 4 * MS;
        policy.sample().0
    };
    // 60 %: 1.95 GHz; 100 %; 20 %: 1.65 GHz; 60 %.
    assert_eq!(after(false, false), 2_000_000);
    assert_eq!(after(true, false), 2_250_000);
    assert_eq!(after(false, true), 1_500_000);
    assert_eq!(after(true, true), 2_000_000);
}

#[test]
fn the_maximum_is_sampled_less_often() {
    let mut policy = Policy::new(epyc(5, 9), |t| t.sampling_down_factor = 10);
    let mut next = |ms, load| {
        policy.clock.pass(ms, load);
        policy.sample()
    };
    assert_eq!(next(8, 100), (2_250_000, 80_000));
    assert_eq!(next(80, 100), (2_250_000, 80_000));
    assert_eq!(next(80, 0), (1_500_000, 8_000));
}

/// 10 % below 2.25 GHz is 2.025: 2.25 for (25 x 8000 + 125) / 250 = 800 us, 2.0 for the rest.
#[test]
fn a_bias_is_the_average_of_two_frequencies() {
    let mut policy = Policy::new(epyc(5, 9), |t| t.powersave_bias = 100);
    policy.clock.pass(8, 100);
    assert_eq!(policy.sample(), (2_250_000, 800));
    assert_eq!(policy.sample(), (2_000_000, 7_200));
    policy.clock.pass(8, 84);
    assert_eq!(policy.sample(), (2_250_000, 800));
    // A third below 2.25 GHz is 1.500750, below a limit of 2.0: there is nothing to mix.
    let mut policy = Policy::new(epyc(5, 9), |t| t.powersave_bias = 333);
    policy.limits.min_khz = 2_000_000;
    policy.clock.pass(8, 100);
    assert_eq!(policy.sample(), (2_000_000, 8_000));
}

/// 20 % below 2.25 GHz is 1.8: 300000 x 20000 = 6e9 is 1705032704 in 32 bits, (1705032704 + 375000) / 750000 = 2273 us
/// and not the 8000 that would be right.
#[test]
fn a_bias_overflows_as_in_the_kernel() {
    let mut policy = Policy::new(acpi(5, 9, &[2_250_000, 1_500_000], 0), |t| {
        (t.powersave_bias, t.sampling_rate_us) = (200, 20_000);
    });
    policy.clock.pass(20, 100);
    assert_eq!(policy.sample(), (2_250_000, 2_273));
}

#[test]
fn a_bias_needs_a_table() {
    let mut policy = Policy::new(smooth(6, 1), |t| t.powersave_bias = 100);
    // 50 % of 0.4 to 3.4 GHz.
    assert_eq!(policy.after(8, 50), 1_900_000);
}

/// A shared policy goes by its busiest CPU.
#[test]
fn the_busiest_cpu_decides() {
    let driver = epyc(5, 9);
    let tunables = OndemandTunables::amd(&driver, TICK_NS);
    let times = [CpuTimes::default(); 2];
    let mut governor = Ondemand::start(tunables, TICK_NS, 0, &times).unwrap();
    let times = [8, 4].map(|ms| CpuTimes { idle_ns: ms * MS, ..CpuTimes::default() });
    let decision = governor.sample(8 * MS, &times, &driver.limits(1_500_000), &driver);
    // 50 %: 1.875 GHz.
    assert_eq!(decision, Decision { khz: 2_000_000, next_sample_in_ns: 8 * MS });
}

#[test]
fn tunables_that_the_kernel_refuses() {
    let refused = |change: fn(&mut OndemandTunables)| {
        let mut tunables = OndemandTunables::amd(&epyc(5, 9), TICK_NS);
        change(&mut tunables);
        Ondemand::start(tunables, TICK_NS, 0, &[]).unwrap_err().to_string()
    };
    assert_eq!(refused(|t| t.up_threshold = 101), "up_threshold: found 101, expected 1 to 100");
    assert_eq!(
        refused(|t| t.sampling_rate_us = 7_999),
        "sampling_rate_us: found 7999, expected 8000 to 4294967295"
    );
    assert!(refused(|t| t.sampling_down_factor = 0).starts_with("sampling_down_factor"));
    assert!(refused(|t| t.powersave_bias = 1001).starts_with("powersave_bias"));
}
