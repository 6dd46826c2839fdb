//! What `/proc/schedstat` of a real kernel counted, under the names of the simulator's counters.
//!
//! A domain counts wake-ups that reached CPUs which no lower domain has. They are called after the farthest of these
//! CPUs in hardware: on a machine whose kernel sees no small cores, wake-ups inside an SMT domain are all `big_core`.

use kernel::recorded::schedstat::{CpuStat, LbStat, REASONS, Schedstat};
use machine::CpuSet;
use machine::distance::{Distance, Distances};
use workload::Counter;

/// What a kernel counts in every run: calls of the scheduler, times that tasks waited, wake-ups by distance, balancing.
pub fn schema() -> Vec<Counter> {
    // No CPU and no domain: the names are the same, whatever is counted.
    let table = table(&Schedstat::default(), 0, [0; Distance::COUNT]);
    table.into_iter().map(|(counter, _)| counter).collect()
}

/// The values of a run in the order of [`schema`].
///
/// `stat` is what `/proc/schedstat` counted during the run ([`Schedstat::since`]), with CPUs by the numbers of
/// `distances`; `context_switches` is by how much `ctxt` of `/proc/stat` grew.
pub fn values(stat: &Schedstat, context_switches: u64, distances: &Distances) -> Vec<u64> {
    let table = table(stat, context_switches, wakeups_by_distance(stat, distances));
    table.into_iter().map(|(_, value)| value).collect()
}

/// Every counter with its value.
fn table(
    stat: &Schedstat,
    context_switches: u64,
    wakeups: [u64; Distance::COUNT],
) -> Vec<(Counter, u64)> {
    let number = Counter::number;
    let sum = |of: &dyn Fn(&CpuStat) -> u64| stat.cpus.iter().map(of).sum::<u64>();
    let domains = || stat.cpus.iter().flat_map(|cpu| &cpu.domains);
    let mut out = vec![
        (number("sched_count", "calls of schedule()"), sum(&|c| c.sched_count)),
        (
            number("sched_goidle", "calls of schedule() that left the CPU idle"),
            sum(&|c| c.sched_goidle),
        ),
        (number("yld_count", "calls of sched_yield()"), sum(&|c| c.yld_count)),
        (number("context_switches", "switches between tasks (/proc/stat)"), context_switches),
        (
            Counter::ns("run_delay_ns", "time that tasks were runnable without running"),
            sum(&|c| c.run_delay_ns),
        ),
        (number("ttwu_count", "wake-ups (try_to_wake_up)"), sum(&|c| c.ttwu_count)),
        (
            number("ttwu_move_affine", "wake-ups that wake_affine() gave to the waker's CPU"),
            domains().map(|d| d.ttwu_move_affine).sum(),
        ),
    ];
    for (at, (name, help)) in [
        ("alb_count", "attempts to push a running task"),
        ("alb_failed", "attempts to push that found no task that may move"),
        ("alb_pushed", "running tasks pushed to another CPU"),
    ]
    .into_iter()
    .enumerate()
    {
        out.push((number(name, help), domains().map(|d| d.alb[at]).sum()));
    }
    for (distance, n) in Distance::ALL.iter().zip(wakeups) {
        let name = format!("ttwu_{}", distance.name());
        out.push((number(&name, "wake-ups that landed so far from the waking CPU"), n));
    }
    for (at, reason) in REASONS.iter().enumerate() {
        for (field, (name, _)) in LbStat::default().fields().into_iter().enumerate() {
            let total = domains().map(|d| d.balancing[at].fields()[field].1).sum();
            let help = format!("{name} of /proc/schedstat, CPUs {}", reason.replace('_', " "));
            out.push((number(&format!("{name}_{reason}"), &help), total));
        }
    }
    out
}

fn wakeups_by_distance(stat: &Schedstat, distances: &Distances) -> [u64; Distance::COUNT] {
    let mut out = [0; Distance::COUNT];
    for cpu in &stat.cpus {
        out[Distance::SameCpu as usize] += cpu.ttwu_local;
        let mut below = CpuSet::single(cpu.cpu);
        for domain in &cpu.domains {
            let farthest =
                (&domain.span - below).iter().map(|c| distances.between(cpu.cpu, c)).max();
            if let Some(distance) = farthest {
                out[distance as usize] += domain.ttwu_wake_remote;
            }
            below = domain.span.clone();
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wakeups_by_domain_become_wakeups_by_distance() {
        let machine = machine::catalog::load("power9-big-core").unwrap();
        let balancing = "0 ".repeat(24);
        let domain = |n: u32, mask: &str, remote: u32| {
            format!("domain{n} {mask} {balancing}1 0 0 0 0 0 0 0 0 {remote} 2 0\n")
        };
        let text = format!(
            "version 16\ntimestamp 1\ncpu0 0 0 9 4 20 5 0 100 0\n{}{}{}",
            domain(0, "0055", 6),
            domain(1, "00ff", 7),
            domain(2, "ffff", 8)
        );
        let schedstat = Schedstat::parse(&text).unwrap();
        let (schema, values) = (schema(), values(&schedstat, 11, &Distances::new(&machine)));
        assert_eq!(schema.len(), values.len());
        let of = |name: &str| values[schema.iter().position(|c| c.name == name).unwrap()];
        assert_eq!(of("ttwu_same_cpu"), 5);
        assert_eq!(of("ttwu_smt"), 6);
        assert_eq!(of("ttwu_big_core"), 7);
        assert_eq!(of("ttwu_node"), 8);
        assert_eq!((of("context_switches"), of("ttwu_move_affine"), of("alb_count")), (11, 6, 3));
        assert_eq!(of("lb_count_newly_idle"), 0);
    }
}
