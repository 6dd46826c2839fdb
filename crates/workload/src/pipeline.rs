//! A pipeline: stages joined by bounded queues, as compressors and media programs are built.
//!
//! The one thread of the first stage begins items, as fast as they find room or at a rate, and works on each before it hands it on. Threads
//! of a later stage take an item, work on it and hand it on; who finds a queue empty or full sleeps in a futex. Output in order means that
//! the next stage gets items in the order in which they began: the one whose turn it is always finds room, the others wait as long as
//! it takes. The last stage's threads note how long an item took since it began.

pub use crate::clock_costs::ClockCosts as Costs;
use crate::distribution::Distribution;
use crate::footprint::Footprint;
use crate::program::{
    HistogramId, Metric, Missed, Op, Program, Queue, QueueId, Reading, Since, Spread, Workload,
};
use crate::window::Window;
use crate::{WorkloadError, check, launch};
use machine::CpuSet;
use serde::{Deserialize, Serialize};
use stats::Better;

const NAME: &str = "pipeline";
/// Stages that a pipeline may have.
const MAX_STAGES: usize = 32;
/// Letters of a thread's name (`TASK_COMM_LEN`).
const MAX_NAME: usize = 15;
/// Percentiles of an item's time.
const PERCENTS: [f64; 2] = [50.0, 99.0];

/// A stage.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stage {
    /// Name of its threads, `stage0` and so on where absent.
    pub name: Option<String>,
    /// Threads.
    pub threads: u16,
    /// Mean work on an item, in us of a thread alone at the nominal clock.
    pub work_us: f64,
    /// How that differs from item to item.
    #[serde(default)]
    pub distribution: Distribution,
    /// Whether items leave it in the order in which they began.
    #[serde(default)]
    pub ordered: bool,
    /// Memory of a thread.
    pub memory: Option<Footprint>,
}

/// What is run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Stages from first to last.
    pub stages: Vec<Stage>,
    /// Items between two stages.
    pub queue: u32,
    /// Items that begin in a second, at even distances; as many as find room where absent.
    pub per_s: Option<f64>,
    /// Warm-up in seconds.
    pub warmup_s: f64,
    /// Measured time in seconds.
    pub seconds: f64,
    /// CPUs it is bound to; all where absent.
    pub cpus: Option<CpuSet>,
}

/// Throughput.
pub const ITEMS_PER_S: &str = "items_per_s";

impl Params {
    fn check(&self) -> Result<(), WorkloadError> {
        let stages = self.stages.len();
        check::within(NAME, "stages", stages, 2..=MAX_STAGES, "2 to 32 of them")?;
        check::within(NAME, "queue", self.queue, 1..=1_000_000, "1 to 1000000")?;
        check::window(NAME, self.warmup_s, self.seconds)?;
        if let Some(rate) = self.per_s {
            check::within(NAME, "per_s", rate, 1e-3..=1e7, "0.001 to 1e7")?;
        }
        for (at, stage) in self.stages.iter().enumerate() {
            check::within(NAME, "stages.threads", stage.threads, 1..=1024, "1 to 1024")?;
            check::work_us(NAME, "stages.work_us", stage.work_us)?;
            stage.distribution.check(NAME, "stages.distribution")?;
            if let Some(memory) = &stage.memory {
                memory.check(NAME)?;
            }
            let fits = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
            if let Some(name) = &stage.name
                && !((1..=MAX_NAME).contains(&name.len()) && name.chars().all(fits))
            {
                return Err(WorkloadError {
                    program: NAME,
                    field: "stages.name",
                    found: format!("{name:?}"),
                    expected: "1 to 15 letters, digits, `-` and `_`",
                });
            }
            let last = at + 1 == stages;
            let wrong = |field, found: String, expected| {
                Err(WorkloadError { program: NAME, field, found, expected })
            };
            if at == 0 && stage.threads > 1 {
                let found = stage.threads.to_string();
                return wrong("stages.threads", found, "1 in the first stage, which begins items");
            }
            if last && stage.ordered {
                let expected = "false in the last stage, which has no output";
                return wrong("stages.ordered", "true".to_string(), expected);
            }
        }
        Ok(())
    }

    /// The name of stage `at`.
    pub fn name(&self, at: usize) -> String {
        self.stages[at].name.clone().unwrap_or_else(|| format!("stage{at}"))
    }
}

/// Builds the workload.
pub fn build(params: &Params, costs: &Costs) -> Result<Workload, WorkloadError> {
    params.check()?;
    let mut w = Workload::default();
    let window = Window::new(&mut w);
    let times = w.histogram(Some(window.open));
    let (first, rest) = params.stages.split_at(1);
    let mut main = Vec::new();
    let mut from: Option<QueueId> = None;
    for (at, stage) in first.iter().chain(rest).enumerate() {
        let last = at + 1 == params.stages.len();
        let to = (!last).then(|| w.queue(Queue::bounded(params.queue, stage.ordered)));
        let mut ops: Vec<Op> = stage.memory.iter().map(|m| m.begin(costs.cycles_per_us)).collect();
        let again = ops.len() as u16;
        ops.extend(match from {
            Some(queue) => vec![Op::Receive(queue)],
            None => source(&mut w, params),
        });
        ops.push(stage.distribution.compute(stage.work_us * costs.cycles_per_us));
        ops.push(match to {
            Some(queue) => Op::Send(queue),
            None => Op::Record { histogram: times, since: Since::Request },
        });
        ops.push(Op::Loop { to: again, times: 0 });
        let program = w.program(&params.name(at), ops);
        main.extend((0..stage.threads).map(|_| Op::Clone(program)));
        from = to;
    }
    main.extend(window.ops(params.warmup_s, params.seconds));
    launch::from_shell(&mut w, Program { name: NAME.to_string(), ops: main }, params.cpus.clone());
    metrics(&mut w, times, window);
    Ok(w)
}

/// How an item begins: now, or at its time however late its thread is.
fn source(w: &mut Workload, params: &Params) -> Vec<Op> {
    let Some(rate) = params.per_s else { return vec![Op::Stamp, Op::Begin(Since::Stamp)] };
    let timer = w.timer();
    let period_ns = (1e9 / rate) as u64;
    let wait = Op::TimerWait { timer, period_ns, spread: Spread::Fixed, missed: Missed::CatchUp };
    vec![wait, Op::Begin(Since::Due)]
}

fn metrics(w: &mut Workload, times: HistogramId, window: Window) {
    w.metrics.push(Metric {
        name: ITEMS_PER_S.to_string(),
        unit: "items/s".to_string(),
        better: Better::Higher,
        reading: Reading::RecordsPerSecond {
            histogram: times,
            units: 1.0,
            from: window.from,
            to: window.to,
        },
    });
    w.metrics.extend(Metric::latencies("item", times, &PERCENTS));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(change: impl Fn(&mut Params)) -> String {
        let stage = |threads| Stage {
            name: None,
            threads,
            work_us: 1.0,
            distribution: Distribution::Constant,
            ordered: false,
            memory: None,
        };
        let stages = vec![stage(1), stage(2)];
        let mut params =
            Params { stages, queue: 1, per_s: None, warmup_s: 0.0, seconds: 1.0, cpus: None };
        change(&mut params);
        build(&params, &Costs { cycles_per_us: 1e3 }).expect_err("refused").to_string()
    }

    #[test]
    fn what_cannot_be_is_refused_by_name() {
        let first =
            "pipeline: stages.threads: found 2, expected 1 in the first stage, which begins items";
        assert_eq!(refused(|p| p.stages[0].threads = 2), first);
        let last = "pipeline: stages.ordered: found true, expected false in the last stage, which has no output";
        assert_eq!(refused(|p| p.stages[1].ordered = true), last);
        let name =
            "pipeline: stages.name: found \"a b\", expected 1 to 15 letters, digits, `-` and `_`";
        assert_eq!(refused(|p| p.stages[1].name = Some("a b".to_string())), name);
        assert!(refused(|p| p.stages.truncate(1)).contains("stages: found 1, expected 2 to 32"));
        assert!(refused(|p| p.queue = 0).contains("queue: found 0"));
    }
}
