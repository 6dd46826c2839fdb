//! Copies of one program at once, each with its own memory, as SPECrate runs its benchmarks.
//!
//! A shell forks all copies, one after the other; each binds itself if it is to be bound, loads its program, works, and exits. They share
//! nothing but the machine. A copy's time runs from its own first instruction after loading.

pub use crate::clock_costs::ClockCosts as Costs;
use crate::footprint::Footprint;
use crate::program::{Metric, Op, Program, Reading, Since, Work, Workload};
use crate::{WorkloadError, check, launch};
use machine::CpuSet;
use serde::{Deserialize, Serialize};
use stats::Better;

const NAME: &str = "copies";

/// What is run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Copies.
    pub copies: u16,
    /// Work of each, in seconds of a thread alone at the nominal clock, memory apart.
    pub work_s: f64,
    /// Whether each is bound to a CPU, in turn.
    #[serde(default)]
    pub bound: bool,
    /// Memory of a copy.
    pub memory: Option<Footprint>,
    /// CPUs of all copies; all where absent.
    pub cpus: Option<CpuSet>,
}

/// Until the last copy has ended.
pub const SECONDS: &str = "seconds";
/// Time of a copy.
pub const COPY_MS: &str = "copy_ms";
/// Sum of the copies' rates.
pub const COPIES_PER_S: &str = "copies_per_s";

impl Params {
    /// The CPU that copy `nth` is bound to on a machine whose CPUs `online` are; none where it is free.
    pub fn place(&self, nth: u16, online: &CpuSet) -> Option<usize> {
        let cpus = self.cpus.as_ref().unwrap_or(online);
        let place = || cpus.iter().nth(usize::from(nth) % cpus.len().max(1));
        self.bound.then(place).flatten()
    }
}

/// Builds the workload for a machine whose CPUs `online` are.
pub fn build(params: &Params, costs: &Costs, online: &CpuSet) -> Result<Workload, WorkloadError> {
    check::within(NAME, "copies", params.copies, 1..=8192, "1 to 8192")?;
    check::seconds(NAME, "work_s", params.work_s)?;
    if let Some(memory) = &params.memory {
        memory.check(NAME)?;
    }
    let mut w = Workload::default();
    let (begun, end, times) = (w.mark(), w.mark(), w.histogram(None));
    let mut own: Vec<Op> = params.memory.iter().map(|m| m.begin(costs.cycles_per_us)).collect();
    own.extend([
        Op::Stamp,
        Op::Compute(Work::fixed(params.work_s * 1e6 * costs.cycles_per_us)),
        Op::Record { histogram: times, since: Since::Stamp },
    ]);
    let loaded = launch::executed(&own);
    let mut main = vec![Op::Mark(begun)];
    if params.bound {
        for nth in 0..params.copies {
            let bind = params.place(nth, online).map(|cpu| Op::SetAffinity(CpuSet::single(cpu)));
            let ops = bind.into_iter().chain(loaded.iter().cloned()).collect();
            main.push(Op::Fork(w.program(NAME, ops)));
        }
    } else {
        let copy = w.program(NAME, loaded);
        main.extend([Op::Fork(copy), Op::Loop { to: 1, times: params.copies.into() }]);
    }
    main.extend([Op::WaitChildren, Op::Mark(end), Op::Stop]);
    launch::from_shell(&mut w, Program { name: NAME.to_string(), ops: main }, params.cpus.clone());
    let metric = |name: &str, unit: &str, better, reading| Metric {
        name: name.to_string(),
        unit: unit.to_string(),
        better,
        reading,
    };
    let seconds = Reading::Seconds { from: begun, to: end, scale: 1.0 };
    let one = Reading::TimesMs { histogram: times, scale: 1.0 };
    let rates = Reading::SumOfRates { histogram: times, units: 1.0 };
    w.metrics.push(metric(SECONDS, "s", Better::Lower, seconds));
    w.metrics.push(metric(COPY_MS, "ms", Better::Lower, one));
    w.metrics.push(metric(COPIES_PER_S, "copies/s", Better::Higher, rates));
    Ok(w)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_take_cpus_in_turn() {
        let params = Params {
            copies: 5,
            work_s: 1.0,
            bound: true,
            memory: None,
            cpus: Some("2,4-5".parse().expect("a CPU list")),
        };
        let online = CpuSet::first_n(8);
        let places = |params: &Params| -> Vec<Option<usize>> {
            (0..5).map(|nth| params.place(nth, &online)).collect()
        };
        assert_eq!(places(&params), [2, 4, 5, 2, 4].map(Some));
        assert_eq!(places(&Params { cpus: None, ..params.clone() }), [0, 1, 2, 3, 4].map(Some));
        assert_eq!(places(&Params { bound: false, ..params }), [None; 5]);
    }
}
