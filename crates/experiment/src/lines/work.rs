//! How much a benchmark does, in units that guests and simulator share.

use std::collections::BTreeMap;
use workload::{Benchmark, hackbench, netperf, sched_pipe};

/// The name of schbench's rate.
const REQUESTS_PER_S: &str = "requests_per_s";
/// Messages in a round of `sched pipe`.
const MESSAGES_IN_A_ROUND: f64 = 2.0;

/// A benchmark's work.
#[derive(Debug, Clone, PartialEq)]
pub struct Work {
    /// What it is counted in.
    pub unit: &'static str,
    amount: Amount,
}

#[derive(Debug, Clone, PartialEq)]
enum Amount {
    /// So many units, in the time that `metric` times `scale` gives in s.
    Given { units: f64, metric: &'static str, scale: f64 },
    /// As many as a metric says in a second, for so many seconds.
    Rate { metric: &'static str, seconds: f64 },
}

impl Work {
    /// Benchmarks whose work has units.
    pub const BENCHMARKS: [&str; 4] = ["hackbench", "sched_pipe", "netperf", "schbench"];

    /// That of `benchmark`; none where it has no units.
    pub fn of(benchmark: &Benchmark) -> Option<Work> {
        let (unit, amount) = match benchmark {
            Benchmark::Hackbench(params) => {
                let pairs = f64::from(params.groups) * f64::from(params.fds).powi(2);
                let units = pairs * f64::from(params.loops);
                ("message", Amount::Given { units, metric: hackbench::SECONDS, scale: 1.0 })
            }
            Benchmark::SchedPipe(params) => {
                let units = MESSAGES_IN_A_ROUND * f64::from(params.loops_run);
                let scale = f64::from(params.loops_run) / f64::from(params.loops);
                ("message", Amount::Given { units, metric: sched_pipe::SECONDS, scale })
            }
            Benchmark::Netperf(params) => {
                let seconds = params.seconds;
                ("transaction", Amount::Rate { metric: netperf::TRANSACTIONS_PER_S, seconds })
            }
            Benchmark::Schbench(params) => {
                let seconds = params.seconds;
                ("request", Amount::Rate { metric: REQUESTS_PER_S, seconds })
            }
            _ => return None,
        };
        Some(Work { unit, amount })
    }

    /// `benchmark` with half of its work; none where it has no units or too few.
    pub fn halved(benchmark: &Benchmark) -> Option<Benchmark> {
        let half = |count: u32| Some(count / 2).filter(|&half| half > 0);
        let mut out = benchmark.clone();
        match &mut out {
            Benchmark::Hackbench(params) => params.loops = half(params.loops)?,
            Benchmark::SchedPipe(params) => params.loops_run = half(params.loops_run)?,
            Benchmark::Netperf(params) => params.seconds /= 2.0,
            Benchmark::Schbench(params) => params.seconds /= 2.0,
            _ => return None,
        }
        Some(out)
    }

    /// Units that a run did whose metrics have these `values`; none where they lack one.
    pub fn units(&self, values: &BTreeMap<String, f64>) -> Option<f64> {
        match &self.amount {
            Amount::Given { units, .. } => Some(*units),
            Amount::Rate { metric, seconds } => Some(values.get(*metric)? * seconds),
        }
    }

    /// How long such a run took, in us; none where they lack it.
    pub fn elapsed_us(&self, values: &BTreeMap<String, f64>) -> Option<f64> {
        match &self.amount {
            Amount::Given { metric, scale, .. } => Some(values.get(*metric)? * scale * 1e6),
            Amount::Rate { seconds, .. } => Some(seconds * 1e6),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn benchmark(toml: &str) -> Benchmark {
        let text = format!(
            "name = \"x\"\ntitle = \"x\"\nmachine = \"power9-big-core\"\n\
             variant = [{{ name = \"v\", title = \"v\", kernel = \"6.12\" }}]\n\
             [[workload]]\nname = \"w\"\ntitle = \"w\"\nruns = 1\n{toml}\n"
        );
        definition::ExperimentFile::parse(&text, "x.toml").unwrap().workloads[0]
            .alone()
            .unwrap()
            .clone()
    }

    #[test]
    fn half_the_work_is_half_the_units() {
        for (toml, unit, units) in [
            (
                "hackbench = { groups = 2, loops = 10, fds = 5, datasize = 100, pipe = true }",
                "message",
                500.0,
            ),
            ("sched_pipe = { loops = 1000, loops_run = 100 }", "message", 200.0),
            ("netperf = { pairs = 1, warmup_s = 0.1, seconds = 2.0 }", "transaction", 80.0),
            (
                "schbench = { message_threads = 1, workers = 2, sleep_us = 1, work_us = 5, warmup_s = 0.1, seconds = 2.0 }",
                "request",
                20.0,
            ),
        ] {
            let whole = benchmark(toml);
            let half = Work::halved(&whole).unwrap();
            let values = BTreeMap::from([
                ("transactions_per_s".to_string(), 40.0),
                ("requests_per_s".to_string(), 10.0),
                ("seconds".to_string(), 3.0),
            ]);
            let (work, less) = (Work::of(&whole).unwrap(), Work::of(&half).unwrap());
            assert_eq!((work.unit, work.units(&values)), (unit, Some(units)), "{toml}");
            assert_eq!(less.units(&values), Some(units / 2.0), "{toml}");
            assert!(work.elapsed_us(&values).unwrap() > 0.0, "{toml}");
        }
        let pipe = benchmark("sched_pipe = { loops = 1000, loops_run = 100 }");
        let values = BTreeMap::from([("seconds".to_string(), 3.0)]);
        assert!((Work::of(&pipe).unwrap().elapsed_us(&values).unwrap() - 3e5).abs() < 1e-6);
        let other = benchmark("false_sharing = { rounds = 100 }");
        assert_eq!((Work::of(&other), Work::halved(&other)), (None, None));
    }
}
