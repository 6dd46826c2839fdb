//! Runs under the scheduler of a kernel tree.
//!
//! Such a run happens in a replica: a process that has loaded the tree's library, booted it, and copies itself for each run
//! (the crate `replica`). [`SourceEngine`] keeps replicas and asks them; [`serve`] is what a replica does. Both derive the
//! scenario from the experiment by the same code, so a replica is told where in the experiment it is and nothing else.

mod ask;
mod serve;

use crate::engine::{Engine, EngineError, SimEngine, SimJob};
use ask::Replicas;
use definition::{ExperimentFile, Plan};
use kernel::Kernel;
use machine::Machine;
use results::{MetricInfo, Run};
use serde::{Deserialize, Serialize};
pub(crate) use serve::boot_variant;
pub use serve::serve;
use setting::Setting;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use workload::{Counter, Workload};

/// What a replica is for: its first line.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Start {
    library: PathBuf,
    experiment: ExperimentFile,
    path: String,
    workload: usize,
    variant: usize,
}

/// One run: each other line.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Ask {
    run: u32,
    seed: u64,
}

/// What became of a run. Floats go as their bits, so that they come back the same.
#[derive(Debug, Serialize, Deserialize)]
enum Answer {
    Ran {
        metrics: Vec<u64>,
        single_times: Vec<Vec<u64>>,
        counters: Vec<u64>,
        warnings: Vec<(String, String)>,
    },
    Failed(String),
}

/// What the kernels of trees warned of, by variant and place: how often, and who called the first time.
pub type Warnings = BTreeMap<(String, String), (u64, String)>;

/// The simulator, with the code of kernel trees where variants have a source.
#[derive(Debug)]
pub struct SourceEngine {
    /// By variant: its library, where it has a source.
    pub libraries: Vec<Option<PathBuf>>,
    /// The program that serves as a replica, and its arguments.
    pub replica: (PathBuf, Vec<String>),
    /// What was warned of so far.
    pub warnings: Mutex<Warnings>,
}

impl SourceEngine {
    /// The engine for variants with `libraries`, whose replicas are `program` with `arguments`.
    pub fn new(libraries: Vec<Option<PathBuf>>, program: PathBuf, arguments: &[&str]) -> Self {
        let arguments = arguments.iter().map(|a| a.to_string()).collect();
        SourceEngine { libraries, replica: (program, arguments), warnings: Mutex::default() }
    }

    fn warned(&self, variant: &str, warnings: Vec<(String, String)>) {
        let mut all = self.warnings.lock().unwrap_or_else(PoisonError::into_inner);
        for (place, calls) in warnings {
            let warning = all.entry((variant.to_string(), place)).or_default();
            warning.0 += 1;
            if warning.1.is_empty() {
                warning.1 = calls;
            }
        }
    }
}

/// A workload ready to run.
#[derive(Debug)]
pub enum SourceJob {
    /// By the model.
    Model(Box<SimJob>),
    /// By a tree's code.
    Source(Replicas),
}

impl Engine for SourceEngine {
    type Job = SourceJob;

    fn name(&self) -> results::Engine {
        SimEngine.name()
    }

    fn counters(&self) -> Vec<Counter> {
        SimEngine.counters()
    }

    fn metrics(&self, workload: &Workload, setting: &Setting) -> Vec<MetricInfo> {
        SimEngine.metrics(workload, setting)
    }

    fn prepare(
        &self,
        plan: &Plan,
        (w, v): (usize, usize),
        machine: &Machine,
        kernel: &Kernel,
        workload: Workload,
        setting: &Setting,
    ) -> Result<SourceJob, EngineError> {
        let Some(Some(library)) = self.libraries.get(v) else {
            let job = SimEngine.prepare(plan, (w, v), machine, kernel, workload, setting)?;
            return Ok(SourceJob::Model(Box::new(job)));
        };
        let start = Start {
            library: library.clone(),
            experiment: plan.file.clone(),
            path: plan.path.clone(),
            workload: w,
            variant: v,
        };
        let variant = plan.file.variants[v].name.clone();
        Ok(SourceJob::Source(Replicas::new(self.replica.clone(), variant, &start)?))
    }

    fn run(&self, job: &SourceJob, run: u32, seed: u64) -> Result<Run, EngineError> {
        let replicas = match job {
            SourceJob::Model(job) => return SimEngine.run(job, run, seed),
            SourceJob::Source(replicas) => replicas,
        };
        let floats = |bits: Vec<u64>| bits.into_iter().map(f64::from_bits).collect();
        match replicas.ask(Ask { run, seed })? {
            Answer::Ran { metrics, single_times, counters, warnings } => {
                self.warned(&replicas.variant, warnings);
                let single_times = single_times.into_iter().map(floats).collect();
                Ok(Run { run, seed, metrics: floats(metrics), single_times, counters })
            }
            Answer::Failed(reason) => Err(EngineError::Reported(reason)),
        }
    }
}
