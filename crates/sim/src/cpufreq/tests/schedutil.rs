use super::*;
use crate::cpufreq::governor::Seen;

/// What changes from update to update.
#[derive(Clone, Copy)]
struct Update {
    now_ns: u64,
    cpu: usize,
    iowait: bool,
    can_update: bool,
    idle_calls: u64,
    invariant: bool,
}

/// A policy whose updates come 10 ms apart, each after an idle period.
struct Policy {
    driver: Driver,
    limits: Limits,
    governor: Schedutil,
    update: Update,
}

impl Policy {
    fn new(driver: Driver, cpus: usize) -> Policy {
        let rate_us = driver.transition_delay_us();
        let governor = Schedutil::start(&driver, cpus, rate_us, TICK_NS).unwrap();
        let limits = driver.limits(driver.min_khz());
        let update = Update {
            now_ns: 0,
            cpu: 0,
            iowait: false,
            can_update: true,
            idle_calls: 0,
            invariant: true,
        };
        Policy { driver, limits, governor, update }
    }

    fn now(&mut self, utils: &[Util]) -> Option<u64> {
        let khz = self.asked(&|cpu| utils[cpu]);
        self.limits.cur_khz = khz.unwrap_or(self.limits.cur_khz);
        khz
    }

    fn asked(&mut self, util: &dyn Fn(usize) -> Util) -> Option<u64> {
        let Update { now_ns, cpu, iowait, can_update, idle_calls, invariant } = self.update;
        let (limits, driver) = (self.limits, &self.driver);
        let times = &|_| Default::default();
        let seen = Seen {
            now_ns,
            cpu,
            can_update,
            iowait,
            idle_calls,
            invariant,
            limits,
            driver,
            util,
            times,
        };
        match self.governor.update(&seen) {
            Answer::Nothing => None,
            Answer::Khz(khz) => Some(khz),
            Answer::Work => panic!("schedutil switches at once here"),
        }
    }

    /// The frequency after an update.
    fn after(&mut self, util: Util) -> u64 {
        self.update.now_ns += 10 * MS;
        self.update.idle_calls += 1;
        self.now(&[util]);
        self.limits.cur_khz
    }
}

fn used(util: u64) -> Util {
    Util::new(util, CAPACITY_SCALE)
}

/// 1.25 x 2.25 GHz = 2812500 kHz: x 512 / 1024 = 1406250, 546: 1499633, 547: 1502380, 728: 1999511, 729: 2002258.
#[test]
fn a_quarter_more_than_utilisation_rounded_up() {
    let mut policy = Policy::new(epyc(5, 9), 1);
    let found = [512, 546, 547, 728, 729, 1024].map(|util| policy.after(used(util)) / 1000);
    assert_eq!(found, [1500, 1500, 2000, 2000, 2250, 2250]);
}

/// 6.1 stands for boost: 3394775 x (512 + 128) / 1024 = 2121734.
#[test]
fn boost_in_the_maximum_asks_for_more() {
    assert_eq!(Policy::new(epyc(6, 1), 1).after(used(512)), 2_250_000);
    assert_eq!(Policy::new(smooth(6, 1), 1).after(used(512)), 2_125_000);
    assert_eq!(Policy::new(smooth(6, 12), 1).after(used(512)), 2_125_000);
    // Of a smaller CPU, 256 of 512 are as much.
    assert_eq!(Policy::new(smooth(6, 1), 1).after(Util::new(256, 512)), 2_125_000);
}

/// Where the quarter goes shows in rounding: 5.10 has 2812500 x 547 / 1024 = 1502380, 5.11 2250000 x (547 + 136) /
/// 1024 = 1500732 (P0 without boost); a state of 1.501 GHz tells them apart.
#[test]
fn the_quarter_moved_to_utilisation() {
    let after = |minor| {
        let table = Table::new(&[2_250_000, 1_501_000, 1_500_000]).unwrap();
        let acpi = AcpiCpufreq { table, transition_latency_ns: 0, boost_ratio: None };
        let driver = Driver::acpi_cpufreq(Version::new(5, minor), acpi).unwrap();
        Policy::new(driver, 1).after(used(547))
    };
    assert_eq!((after(10), after(11)), (2_250_000, 1_501_000));
}

/// Without invariance 1.5 GHz climb by a quarter at most: x 819 / 1024 of 1.875 GHz = 1499633, 820: 1501464.
#[test]
fn without_invariance_the_present_frequency_counts() {
    let mut policy = Policy::new(epyc(5, 9), 1);
    policy.update.invariant = false;
    assert_eq!(policy.after(used(819)), 1_500_000);
    assert_eq!(policy.after(used(820)), 2_000_000);
    // From 2.0 GHz: 2.5 x 820 / 1024 = 2.002.
    assert_eq!(policy.after(used(820)), 2_250_000);
    // 6.1: 1.5 x 640 / 1024 GHz; 6.12 adds a quarter to the frequency as well.
    let after = |minor| {
        let mut policy = Policy::new(smooth(6, minor), 1);
        (policy.update.invariant, policy.limits.cur_khz) = (false, 1_500_000);
        [policy.after(used(512)), policy.after(used(1024))]
    };
    assert_eq!(after(1), [937_500, 1_171_875]);
    assert_eq!(after(12), [1_171_875, 1_464_843]);
}

#[test]
fn a_busy_cpu_keeps_its_frequency() {
    let mut policy = Policy::new(epyc(5, 9), 1);
    assert_eq!(policy.after(used(1024)), 2_250_000);
    policy.update.now_ns += 10 * MS;
    assert_eq!(policy.now(&[used(0)]), None);
    // Once it was idle it slows down.
    policy.update.idle_calls += 1;
    assert_eq!(policy.now(&[used(0)]), Some(1_500_000));
    // Nothing holds it from going up.
    policy.update.now_ns += 10 * MS;
    assert_eq!(policy.now(&[used(1024)]), Some(2_250_000));
    // What was held is chosen anew, although utilisation is the same as when it was held.
    policy.update.now_ns += 10 * MS;
    assert_eq!(policy.now(&[used(600)]), None);
    policy.update.idle_calls += 1;
    assert_eq!(policy.now(&[used(600)]), Some(2_000_000));
}

/// Without latency from the firmware, 1 ms.
#[test]
fn changes_keep_their_distance() {
    let mut policy = Policy::new(epyc(5, 9), 1);
    assert_eq!(policy.after(used(1)), 1_500_000);
    policy.update.now_ns += MS - 1;
    assert_eq!(policy.asked(&|_| panic!("asked for utilisation before its time")), None);
    policy.update.now_ns += 1;
    assert_eq!(policy.now(&[used(1024)]), Some(2_250_000));
    // Updates without a change do not count.
    policy.update.now_ns += MS;
    assert_eq!(policy.now(&[used(1024)]), None);
    policy.update.now_ns += 1;
    policy.update.idle_calls += 1;
    assert_eq!(policy.now(&[used(0)]), Some(1_500_000));
}

fn boost_rules(minor: u16) -> Rules {
    Rules::new(&epyc(5, minor), TICK_NS)
}

/// An eighth doubles with each wake-up from I/O, and halves with each update without.
#[test]
fn a_boost_doubles_and_decays() {
    let (rules, mut boost, mut now_ns) = (boost_rules(9), IowaitBoost::default(), 0);
    let mut step = |iowait| {
        now_ns += MS;
        boost.request(&rules, now_ns, iowait);
        boost.apply(&rules, now_ns, CAPACITY_SCALE)
    };
    assert_eq!([true; 5].map(&mut step), [128, 256, 512, 1024, 1024]);
    assert_eq!([false; 5].map(&mut step), [512, 256, 128, 0, 0]);
    assert_eq!([true, false, true].map(&mut step), [128, 0, 128]);
    let mut boost = IowaitBoost::default();
    boost.request(&rules, MS, true);
    // Once a choice: a second wake-up before the next does not double.
    boost.request(&rules, 2 * MS, true);
    assert_eq!(boost.apply(&rules, 2 * MS, CAPACITY_SCALE), 128);
    // Of a CPU with half the capacity, half.
    boost.request(&rules, 3 * MS, true);
    assert_eq!(boost.apply(&rules, 3 * MS, 512), 128);
}

#[test]
fn a_boost_goes_stale_after_a_tick() {
    let rules = boost_rules(9);
    let after = |idle_ns, iowait| {
        let mut boost = IowaitBoost::default();
        for ms in 1..=3 {
            boost.request(&rules, ms * MS, true);
            boost.apply(&rules, ms * MS, CAPACITY_SCALE);
        }
        boost.request(&rules, 3 * MS + idle_ns, iowait);
        boost.apply(&rules, 3 * MS + idle_ns, CAPACITY_SCALE)
    };
    assert_eq!((after(TICK_NS, true), after(TICK_NS, false)), (1024, 256));
    assert_eq!((after(TICK_NS + 1, true), after(TICK_NS + 1, false)), (128, 0));
}

/// Before 5.2 the lowest frequency: 1024 x 1.5 / 2.25 = 682.
#[test]
fn a_boost_started_at_the_lowest_frequency() {
    let (rules, mut boost) = (boost_rules(1), IowaitBoost::default());
    let found = [true, true, false].map(|iowait| {
        boost.request(&rules, MS, iowait);
        boost.apply(&rules, MS, CAPACITY_SCALE)
    });
    assert_eq!(found, [682, 1024, 0]);
}

/// 128: 351562 kHz; 1024: 2812500.
#[test]
fn a_boost_is_utilisation() {
    let mut policy = Policy::new(epyc(5, 9), 1);
    policy.update.iowait = true;
    let found = [(); 4].map(|()| {
        policy.update.now_ns += MS;
        policy.now(&[used(0)]);
        policy.limits.cur_khz / 1000
    });
    // 256: 703 MHz; 512: 1406 MHz.
    assert_eq!(found, [1500, 1500, 1500, 2250]);
}

/// 6.1 clamps and adds a quarter: 3.4 x 640 / 1024 GHz; 6.8 adds a quarter and clamps: 3.4 x 512 / 1024.
#[test]
fn clamps_come_before_or_after_the_quarter() {
    let after = |minor, util, uclamp_min, uclamp_max| {
        let util = Util { uclamp_min, uclamp_max, ..used(util) };
        Policy::new(smooth(6, minor), 1).after(util)
    };
    assert_eq!((after(1, 1000, 0, 512), after(12, 1000, 0, 512)), (2_125_000, 1_700_000));
    assert_eq!((after(1, 0, 512, 1024), after(12, 0, 512, 1024)), (2_125_000, 1_700_000));
    // The lower clamp wins where they contradict each other.
    assert_eq!((after(1, 0, 512, 100), after(12, 0, 512, 100)), (2_125_000, 1_700_000));
    // There are none before 5.3.
    let capped = Util { uclamp_max: 100, ..used(1000) };
    assert_eq!(Policy::new(epyc(5, 2), 1).after(capped), 2_250_000);
    assert_eq!(Policy::new(epyc(5, 3), 1).after(capped), 1_500_000);
}

#[test]
fn a_capped_cpu_slows_down_while_busy_from_5_18_on() {
    let after = |minor| {
        let mut policy = Policy::new(epyc(5, minor), 1);
        policy.after(used(1024));
        policy.update.now_ns += 10 * MS;
        policy.now(&[Util { uclamp_max: 100, ..used(1000) }])
    };
    assert_eq!((after(17), after(18)), (None, Some(1_500_000)));
}

#[test]
fn a_boost_escaped_clamps_before_5_18() {
    let after = |minor| {
        let mut policy = Policy::new(epyc(5, minor), 1);
        policy.update.iowait = true;
        let util = Util { uclamp_max: 100, ..used(0) };
        for _ in 0..4 {
            policy.update.now_ns += MS;
            policy.now(&[util]);
        }
        policy.limits.cur_khz
    };
    assert_eq!((after(17), after(18)), (2_250_000, 1_500_000));
}

#[test]
fn a_shared_policy_follows_its_busiest_cpu_and_does_not_hold() {
    let mut policy = Policy::new(epyc(5, 9), 2);
    policy.update.now_ns = 10 * MS;
    assert_eq!(policy.now(&[used(100), used(820)]), Some(2_250_000));
    policy.update.now_ns = 20 * MS;
    assert_eq!(policy.now(&[used(100), used(0)]), Some(1_500_000));
    // A boost of the other CPU counts while it is no older than a tick.
    (policy.update.cpu, policy.update.iowait) = (1, true);
    for ms in 21..=24 {
        policy.update.now_ns = ms * MS;
        policy.now(&[used(0), used(0)]);
    }
    assert_eq!(policy.limits.cur_khz, 2_250_000);
    (policy.update.cpu, policy.update.iowait) = (0, false);
    policy.update.now_ns = 29 * MS;
    assert_eq!(policy.now(&[used(0), used(0)]), Some(1_500_000));
    policy.update.cpu = 2;
    assert_eq!(policy.now(&[used(1024), used(1024)]), None);
}

#[test]
fn policies_have_cpus() {
    let error = Schedutil::start(&epyc(5, 9), 0, 1000, TICK_NS).unwrap_err();
    assert_eq!(error.to_string(), "CPUs of a policy: found 0, expected 1 to 4294967295");
}

/// `cpufreq_this_cpu_can_update`: what happens on another CPU sets no clock.
#[test]
fn another_cpu_sets_no_clock() {
    let mut policy = Policy::new(epyc(5, 9), 1);
    policy.after(used(0));
    policy.update.now_ns += MS;
    policy.update.idle_calls += 1;
    policy.update.can_update = false;
    assert_eq!(policy.now(&[used(CAPACITY_SCALE)]), None);
    policy.update.can_update = true;
    assert_eq!(policy.now(&[used(CAPACITY_SCALE)]), Some(2_250_000));
}
