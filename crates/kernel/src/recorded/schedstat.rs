//! `/proc/schedstat`, versions 15 (kernels before 6.10), 16 and 17 (from 6.15 on): what CPUs and domains counted.

use crate::KernelError;
use machine::CpuSet;

const FILE: &str = "schedstat";
/// Numbers of a CPU's line.
const OF_CPU: usize = 9;
/// Numbers of a domain's line after those of balancing: active balancing, exec, fork, wake-ups.
const AFTER_BALANCING: usize = 12;
/// Why a CPU balances: idle, not idle, newly idle.
pub const REASONS: [&str; 3] = ["idle", "not_idle", "newly_idle"];

/// All online CPUs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Schedstat {
    /// CPUs in ascending order.
    pub cpus: Vec<CpuStat>,
}

/// One CPU's counters, which wrap at 2^32 apart from `run_delay_ns`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CpuStat {
    /// Its number.
    pub cpu: usize,
    /// Calls of `sched_yield()`.
    pub yld_count: u64,
    /// Calls of `schedule()`.
    pub sched_count: u64,
    /// Those that left it idle.
    pub sched_goidle: u64,
    /// Wake-ups of tasks onto it.
    pub ttwu_count: u64,
    /// Those by itself.
    pub ttwu_local: u64,
    /// Time that tasks waited for it, in ns.
    pub run_delay_ns: u64,
    /// Its domains from the lowest up.
    pub domains: Vec<DomainStat>,
}

/// One domain's counters, as one CPU keeps them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DomainStat {
    /// Its CPUs.
    pub span: CpuSet,
    /// Balancing, in the order of [`REASONS`].
    pub balancing: [LbStat; 3],
    /// Active balancing: tries, failures, tasks pushed.
    pub alb: [u64; 3],
    /// Wake-ups by the CPU onto others of this domain that no lower domain has.
    pub ttwu_wake_remote: u64,
    /// Wake-ups for which the waking CPU was chosen over the previous one.
    pub ttwu_move_affine: u64,
}

/// Balancing for one reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LbStat {
    /// Calls of `sched_balance_rq()`.
    pub lb_count: u64,
    /// Those that found nothing to do.
    pub lb_balanced: u64,
    /// Those that failed to move a task.
    pub lb_failed: u64,
    /// Sum of imbalances; from version 17 on of those in tasks.
    pub lb_imbalance: u64,
    /// Tasks moved.
    pub lb_gained: u64,
    /// Those that were cache-hot.
    pub lb_hot_gained: u64,
    /// Calls that found no busier queue.
    pub lb_nobusyq: u64,
    /// Calls that found no busier group.
    pub lb_nobusyg: u64,
}

impl Schedstat {
    /// Reads the file.
    ///
    /// # Errors
    /// Another version, and lines that are not of its form.
    pub fn parse(text: &str) -> Result<Schedstat, KernelError> {
        let mut lines = text.lines().enumerate();
        let first = lines.next().map_or("", |(_, line)| line);
        let version: u32 = first
            .strip_prefix("version ")
            .and_then(|v| v.parse().ok())
            .filter(|v| (15..=17).contains(v))
            .ok_or_else(|| wrong(0, first, "version 15, 16 or 17"))?;
        let mut cpus: Vec<CpuStat> = Vec::new();
        for (n, line) in lines.filter(|(_, line)| !line.starts_with("timestamp ")) {
            if line.starts_with("cpu") {
                cpus.push(cpu(line).ok_or_else(|| wrong(n, line, "cpuN and nine numbers"))?);
            } else {
                let domain = domain(line, version);
                let domain =
                    domain.ok_or_else(|| wrong(n, line, "domainN, its CPUs and numbers"))?;
                let cpu = cpus.last_mut().ok_or_else(|| wrong(n, line, "a CPU first"))?;
                cpu.domains.push(domain);
            }
        }
        Ok(Schedstat { cpus })
    }

    /// What was counted since `before`. A CPU or domain that `before` does not have, or whose domains were rebuilt
    /// meanwhile, counts from nothing.
    pub fn since(&self, before: &Schedstat) -> Schedstat {
        let cpus =
            self.cpus.iter().map(|now| match before.cpus.iter().find(|old| old.cpu == now.cpu) {
                Some(old) => now.since(old),
                None => now.clone(),
            });
        Schedstat { cpus: cpus.collect() }
    }
}

/// Counters of 32 bits wrap.
fn wrapped(now: u64, before: u64) -> u64 {
    u64::from((now as u32).wrapping_sub(before as u32))
}

impl CpuStat {
    fn since(&self, old: &CpuStat) -> CpuStat {
        let domains = self.domains.iter().enumerate().map(|(at, now)| match old.domains.get(at) {
            Some(old) if old.span == now.span && !now.restarted(old) => now.since(old),
            _ => now.clone(),
        });
        CpuStat {
            cpu: self.cpu,
            yld_count: wrapped(self.yld_count, old.yld_count),
            sched_count: wrapped(self.sched_count, old.sched_count),
            sched_goidle: wrapped(self.sched_goidle, old.sched_goidle),
            ttwu_count: wrapped(self.ttwu_count, old.ttwu_count),
            ttwu_local: wrapped(self.ttwu_local, old.ttwu_local),
            run_delay_ns: self.run_delay_ns.wrapping_sub(old.run_delay_ns),
            domains: domains.collect(),
        }
    }
}

impl DomainStat {
    /// Whether the domain was built anew: its calls of the balancer are fewer.
    fn restarted(&self, old: &DomainStat) -> bool {
        self.balancing.iter().zip(&old.balancing).any(|(now, old)| now.lb_count < old.lb_count)
    }

    fn since(&self, old: &DomainStat) -> DomainStat {
        let mut now = self.clone();
        for (now, old) in now.balancing.iter_mut().zip(&old.balancing) {
            let pairs = now.fields_mut().into_iter().zip(old.fields());
            pairs.for_each(|(now, (_, old))| *now = wrapped(*now, old));
        }
        now.alb.iter_mut().zip(old.alb).for_each(|(now, old)| *now = wrapped(*now, old));
        now.ttwu_wake_remote = wrapped(now.ttwu_wake_remote, old.ttwu_wake_remote);
        now.ttwu_move_affine = wrapped(now.ttwu_move_affine, old.ttwu_move_affine);
        now
    }
}

impl LbStat {
    /// Name and value of each field.
    pub fn fields(&self) -> [(&'static str, u64); 8] {
        [
            ("lb_count", self.lb_count),
            ("lb_balanced", self.lb_balanced),
            ("lb_failed", self.lb_failed),
            ("lb_imbalance", self.lb_imbalance),
            ("lb_gained", self.lb_gained),
            ("lb_hot_gained", self.lb_hot_gained),
            ("lb_nobusyq", self.lb_nobusyq),
            ("lb_nobusyg", self.lb_nobusyg),
        ]
    }

    fn fields_mut(&mut self) -> [&mut u64; 8] {
        [
            &mut self.lb_count,
            &mut self.lb_balanced,
            &mut self.lb_failed,
            &mut self.lb_imbalance,
            &mut self.lb_gained,
            &mut self.lb_hot_gained,
            &mut self.lb_nobusyq,
            &mut self.lb_nobusyg,
        ]
    }

    /// From its numbers, of which version 17 has one for each kind of imbalance.
    fn read(numbers: &[u64]) -> Option<LbStat> {
        let mut out = LbStat::default();
        let kept: Vec<u64> = match numbers {
            [head @ .., _, _, tasks, _, a, b, c, d] if numbers.len() == 11 => {
                [head, &[*tasks, *a, *b, *c, *d]].concat()
            }
            all => all.to_vec(),
        };
        let fields = out.fields_mut();
        (kept.len() == fields.len())
            .then(|| fields.into_iter().zip(kept).for_each(|(f, v)| *f = v))?;
        Some(out)
    }
}

fn wrong(line: usize, found: &str, expected: &str) -> KernelError {
    KernelError::Recorded {
        file: FILE.to_owned(),
        place: format!("line {}", line + 1),
        found: format!("`{found}`"),
        expected: expected.to_owned(),
    }
}

fn numbers<'a>(words: impl Iterator<Item = &'a str>) -> Option<Vec<u64>> {
    words.map(|word| word.parse().ok()).collect()
}

fn cpu(line: &str) -> Option<CpuStat> {
    let mut words = line.split_whitespace();
    let cpu = words.next()?.strip_prefix("cpu")?.parse().ok()?;
    let numbers: [u64; OF_CPU] = numbers(words)?.try_into().ok()?;
    let [yld_count, _, sched_count, sched_goidle, ttwu_count, ttwu_local, _, run_delay_ns, _] =
        numbers;
    let domains = Vec::new();
    Some(CpuStat {
        cpu,
        yld_count,
        sched_count,
        sched_goidle,
        ttwu_count,
        ttwu_local,
        run_delay_ns,
        domains,
    })
}

fn domain(line: &str, version: u32) -> Option<DomainStat> {
    let mut words = line.split_whitespace();
    words.next()?.strip_prefix("domain")?;
    if version >= 17 {
        // The domain's name.
        words.next()?;
    }
    let span = CpuSet::from_mask(words.next()?).ok()?;
    let numbers = numbers(words)?;
    let (balancing, rest) =
        numbers.split_at_checked(numbers.len().checked_sub(AFTER_BALANCING)?)?;
    let size = balancing.len() / REASONS.len();
    let one = |at: usize| LbStat::read(balancing.get(at * size..(at + 1) * size)?);
    // Up to version 15 idle CPUs come first, then busy ones.
    let (idle, busy) = if version == 15 { (0, 1) } else { (1, 0) };
    Some(DomainStat {
        span,
        balancing: [one(idle)?, one(busy)?, one(2)?],
        alb: rest.first_chunk::<3>().copied()?,
        ttwu_wake_remote: *rest.get(9)?,
        ttwu_move_affine: *rest.get(10)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A CPU with one domain; `numbers` are those of balancing.
    fn text(version: u32, name: &str, numbers: usize) -> String {
        let numbers: Vec<String> = (1..=numbers + AFTER_BALANCING).map(|n| n.to_string()).collect();
        format!(
            "version {version}\ntimestamp 1\ncpu3 1 0 2 3 4 5 6 7 8\ndomain0 {name}00000000,0000000c {}\n",
            numbers.join(" ")
        )
    }

    #[test]
    fn versions_differ_in_order_and_kinds_of_imbalance() {
        let of = |version, name, numbers| {
            let mut cpus = Schedstat::parse(&text(version, name, numbers)).unwrap().cpus;
            (cpus[0].clone(), cpus[0].domains.remove(0))
        };
        let (cpu, old) = of(15, "", 24);
        assert_eq!((cpu.cpu, cpu.ttwu_count, cpu.ttwu_local, cpu.run_delay_ns), (3, 4, 5, 7));
        assert_eq!(old.span.to_string(), "2-3");
        assert_eq!(old.balancing.map(|b| b.lb_count), [1, 9, 17]);
        assert_eq!((old.alb, old.ttwu_wake_remote, old.ttwu_move_affine), ([25, 26, 27], 34, 35));
        let (_, new) = of(16, "", 24);
        assert_eq!(new.balancing.map(|b| b.lb_count), [9, 1, 17]);
        let (_, newest) = of(17, "MC ", 33);
        assert_eq!(newest.balancing[1].fields().map(|f| f.1), [1, 2, 3, 6, 8, 9, 10, 11]);
        assert_eq!(newest.alb, [34, 35, 36]);
    }

    #[test]
    fn differences_survive_wrapping_and_rebuilt_domains() {
        let before = Schedstat::parse(&text(16, "", 24)).unwrap();
        let mut after = before.clone();
        after.cpus[0].ttwu_count = 2;
        after.cpus[0].domains[0].ttwu_wake_remote += 7;
        let since = after.since(&before);
        assert_eq!(since.cpus[0].ttwu_count, (1u64 << 32) - 2);
        assert_eq!(since.cpus[0].domains[0].ttwu_wake_remote, 7);
        after.cpus[0].domains[0].balancing[0].lb_count = 0;
        assert_eq!(after.since(&before).cpus[0].domains[0].ttwu_wake_remote, 41);
    }

    #[test]
    fn other_texts_are_named() {
        for (text, expected) in [
            ("", "schedstat: line 1: found ``, expected version 15, 16 or 17"),
            (
                "version 16\ncpu0 1 2",
                "schedstat: line 2: found `cpu0 1 2`, expected cpuN and nine numbers",
            ),
            ("version 16\ndomain0 3 1", "expected domainN, its CPUs and numbers"),
        ] {
            let error = Schedstat::parse(text).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
