//! What a guest's `/proc/schedstat` counted, under the names of the simulator's counters.
//!
//! A domain counts wake-ups that reached CPUs which no lower domain has. They are called after the farthest of these
//! CPUs in hardware: on a machine whose kernel sees no small cores, wake-ups inside an SMT domain are all `big_core`.

use kernel::recorded::schedstat::{CpuStat, REASONS, Schedstat};
use machine::CpuSet;
use sim::distance::{Distance, Distances};
use vm::session::Answer;

/// Counters of a run by name. CPU numbers of `answer` are those of `distances`.
pub fn counters(answer: &Answer, distances: &Distances) -> Vec<(String, u64)> {
    let stat = &answer.schedstat;
    let sum = |of: &dyn Fn(&CpuStat) -> u64| stat.cpus.iter().map(of).sum::<u64>();
    let domains = || stat.cpus.iter().flat_map(|cpu| &cpu.domains);
    let mut out: Vec<(String, u64)> = vec![
        ("sched_count".into(), sum(&|c| c.sched_count)),
        ("sched_goidle".into(), sum(&|c| c.sched_goidle)),
        ("yld_count".into(), sum(&|c| c.yld_count)),
        ("context_switches".into(), answer.context_switches),
        ("run_delay_ns".into(), sum(&|c| c.run_delay_ns)),
        ("ttwu_count".into(), sum(&|c| c.ttwu_count)),
        ("ttwu_move_affine".into(), domains().map(|d| d.ttwu_move_affine).sum()),
    ];
    for (at, name) in ["alb_count", "alb_failed", "alb_pushed"].into_iter().enumerate() {
        out.push((name.into(), domains().map(|d| d.alb[at]).sum()));
    }
    let by_distance = wakeups_by_distance(stat, distances);
    let named = Distance::ALL.iter().zip(by_distance);
    out.extend(named.map(|(distance, n)| (format!("ttwu_{}", distance.name()), n)));
    for (at, reason) in REASONS.iter().enumerate() {
        let names = domains().next().map(|d| d.balancing[at].fields().map(|f| f.0));
        for (field, name) in names.into_iter().flatten().enumerate() {
            let total = domains().map(|d| d.balancing[at].fields()[field].1).sum();
            out.push((format!("{name}_{reason}"), total));
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
        let answer =
            Answer { stdout: String::new(), schedstat, context_switches: 11, trace_gz: None };
        let counters = counters(&answer, &Distances::new(&machine));
        let of = |name: &str| counters.iter().find(|c| c.0 == name).unwrap().1;
        assert_eq!(of("ttwu_same_cpu"), 5);
        assert_eq!(of("ttwu_smt"), 6);
        assert_eq!(of("ttwu_big_core"), 7);
        assert_eq!(of("ttwu_node"), 8);
        assert_eq!((of("context_switches"), of("ttwu_move_affine"), of("alb_count")), (11, 6, 3));
        assert_eq!(of("lb_count_newly_idle"), 0);
    }
}
