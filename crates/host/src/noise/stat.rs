//! `/proc/stat`, `/proc/pressure/*` and `/proc/loadavg`.

use std::collections::BTreeMap;

/// Length of a tick of `/proc/stat`, in ns: `USER_HZ` is 100 on every architecture that this program runs on.
const TICK_NS: u64 = 10_000_000;

/// Where the time of a CPU went since boot, in ns, in steps of 10 ms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CpuTimes {
    /// Programs, with those of guests.
    pub user_ns: u64,
    /// Programs with a nice value above 0.
    pub nice_ns: u64,
    /// The kernel for programs.
    pub system_ns: u64,
    /// Nothing to do.
    pub idle_ns: u64,
    /// Nothing to do while a task waited for a disk.
    pub iowait_ns: u64,
    /// Interrupts.
    pub irq_ns: u64,
    /// Soft interrupts.
    pub softirq_ns: u64,
    /// What the hypervisor took while there was something to do.
    pub steal_ns: u64,
}

impl CpuTimes {
    /// Time that the CPU worked: neither idle nor stolen.
    pub fn busy_ns(&self) -> u64 {
        let busy = [self.user_ns, self.nice_ns, self.system_ns, self.irq_ns, self.softirq_ns];
        busy.into_iter().fold(0, u64::saturating_add)
    }

    /// All of it.
    pub fn total_ns(&self) -> u64 {
        let rest = [self.idle_ns, self.iowait_ns, self.steal_ns];
        rest.into_iter().fold(self.busy_ns(), u64::saturating_add)
    }

    /// What was added since `before`. The kernel corrects idle time and iowait, so that each may shrink; that is 0.
    pub fn since(&self, before: &CpuTimes) -> CpuTimes {
        CpuTimes {
            user_ns: self.user_ns.saturating_sub(before.user_ns),
            nice_ns: self.nice_ns.saturating_sub(before.nice_ns),
            system_ns: self.system_ns.saturating_sub(before.system_ns),
            idle_ns: self.idle_ns.saturating_sub(before.idle_ns),
            iowait_ns: self.iowait_ns.saturating_sub(before.iowait_ns),
            irq_ns: self.irq_ns.saturating_sub(before.irq_ns),
            softirq_ns: self.softirq_ns.saturating_sub(before.softirq_ns),
            steal_ns: self.steal_ns.saturating_sub(before.steal_ns),
        }
    }

    /// The numbers after the name of a CPU; time of guests, which follows, is in `user` already.
    fn parse<'a>(numbers: impl Iterator<Item = &'a str>) -> Option<CpuTimes> {
        let ticks = numbers.take(8).map(|n| n.parse::<u64>().ok());
        let ns: Vec<u64> =
            ticks.map(|n| Some(n?.saturating_mul(TICK_NS))).collect::<Option<_>>()?;
        let &[user_ns, nice_ns, system_ns, idle_ns, iowait_ns, irq_ns, softirq_ns, steal_ns] =
            ns.as_slice()
        else {
            return None;
        };
        Some(CpuTimes {
            user_ns,
            nice_ns,
            system_ns,
            idle_ns,
            iowait_ns,
            irq_ns,
            softirq_ns,
            steal_ns,
        })
    }
}

/// What `/proc/stat` says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Stat {
    /// All CPUs together, those that are offline now included.
    pub(super) all: CpuTimes,
    /// CPUs that are online.
    pub(super) cpus: BTreeMap<usize, CpuTimes>,
    /// Context switches since boot.
    pub(super) context_switches: u64,
}

impl Stat {
    /// Reads the file; in an error, the line that is wrong and what it should be.
    pub(super) fn parse(text: &str) -> Result<Stat, (String, &'static str)> {
        let (mut all, mut context_switches) = (None, None);
        let mut cpus = BTreeMap::new();
        for line in text.lines() {
            let wrong = |expected| (line.to_string(), expected);
            let mut words = line.split_whitespace();
            let name = words.next().unwrap_or_default();
            if name == "ctxt" {
                let switches = words.next().and_then(|n| n.parse::<u64>().ok());
                context_switches = Some(switches.ok_or_else(|| wrong("ctxt and a number"))?);
            } else if let Some(cpu) = name.strip_prefix("cpu") {
                let expected = "cpuN and the ticks of eight kinds of time";
                let times = CpuTimes::parse(words).ok_or_else(|| wrong(expected))?;
                if cpu.is_empty() {
                    all = Some(times);
                } else {
                    cpus.insert(cpu.parse().map_err(|_| wrong(expected))?, times);
                }
            }
        }
        let absent = |expected| ("no such line".to_string(), expected);
        Ok(Stat {
            all: all.ok_or_else(|| absent("cpu and the ticks of all CPUs"))?,
            cpus,
            context_switches: context_switches.ok_or_else(|| absent("ctxt and a number"))?,
        })
    }
}

/// Time that some task waited for a resource since boot, in us, of a file of `/proc/pressure`.
pub(super) fn some_us(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("some "))?;
    line.split_whitespace().find_map(|word| word.strip_prefix("total="))?.parse().ok()
}

/// Load of the last minute, the first number of `/proc/loadavg`.
pub(super) fn load(text: &str) -> Option<f64> {
    text.split_whitespace().next()?.parse().ok().filter(|load: &f64| load.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn times_are_in_ns_and_guests_count_once() {
        let text = "cpu  10 1 2 30 4 5 6 7 8 9\ncpu0 5 0 1 15 2 2 3 3 8 0\nintr 9 0\nctxt 77\n";
        let stat = Stat::parse(text).unwrap();
        assert_eq!((stat.context_switches, stat.cpus.len()), (77, 1));
        assert_eq!(stat.all.user_ns, 100_000_000);
        assert_eq!((stat.all.busy_ns(), stat.all.steal_ns), (240_000_000, 70_000_000));
        assert_eq!(stat.all.total_ns(), 650_000_000);
    }

    #[test]
    fn lines_that_are_wrong_are_named() {
        let error = |text: &str| Stat::parse(text).unwrap_err().0;
        assert_eq!(error("cpu 1 2 3 4 5 6 7\n"), "cpu 1 2 3 4 5 6 7");
        assert_eq!(error("cpu 1 2 3 4 5 6 7 8\ncpux 1 2 3 4 5 6 7 8\n"), "cpux 1 2 3 4 5 6 7 8");
        assert_eq!(error("cpu 1 2 3 4 5 6 7 8\nctxt\n"), "ctxt");
        assert_eq!(error("ctxt 1\n"), "no such line");
    }

    #[test]
    fn pressure_and_load_are_read() {
        let text = "some avg10=0.00 avg60=0.00 avg300=0.00 total=123\nfull avg10=0.00 total=9\n";
        assert_eq!((some_us(text), some_us("full total=9")), (Some(123), None));
        assert_eq!(
            (load("0.25 0.10 0.05 1/300 42"), load("NaN"), load("")),
            (Some(0.25), None, None)
        );
    }

    proptest! {
        #[test]
        fn no_text_makes_them_panic(text in "(cpu[0-9]{0,21} |ctxt |some |total=|[0-9]{1,21} |\\PC|\n){0,40}") {
            if let Ok(stat) = Stat::parse(&text) {
                let _ = (stat.all.since(&CpuTimes::default()).total_ns(), stat.context_switches);
            }
            let _ = (some_us(&text), load(&text));
        }
    }
}
