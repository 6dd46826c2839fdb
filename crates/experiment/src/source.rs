//! Runs under the scheduler of a kernel tree.
//!
//! Such a run happens in a replica: a process that has loaded the tree's library, booted it, and copies itself for each run
//! (the crate `replica`). [`SourceEngine`] keeps replicas and asks them; [`serve`] is what a replica does. Both derive the
//! scenario from the experiment by the same code, so a replica is told where in the experiment it is and nothing else.

mod ask;
mod inspected;
mod serve;
mod single;
mod watched;

use crate::engine::{Engine, EngineError, SimEngine, SimJob};
use ask::Replicas;
use definition::{ExperimentFile, Plan};
pub use inspected::{Inspected, inspected};
use kernel::Kernel;
use machine::Machine;
use results::Run;
use results::heat::Heat;
use serde::{Deserialize, Serialize};
pub(crate) use serve::boot_variant;
pub use serve::serve;
use setting::Setting;
use sim::inspect::Margins;
use sim::judge::Agreement;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use tree::Library;
pub use watched::watched;
use workload::Workload;

/// What a replica is for: its first line.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Start {
    library: PathBuf,
    experiment: ExperimentFile,
    path: String,
    workload: usize,
    variant: usize,
    check: Check,
    /// Where counts of what is executed go.
    coverage: Option<PathBuf>,
}

/// What else is done in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Check {
    Nothing,
    /// The model answers, too.
    Model,
    /// It is checked for what a scheduler has to keep.
    Invariants,
    /// It is watched CPU by CPU.
    Heat,
}

/// Each other line.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
enum Ask {
    /// To boot, and say what is refused.
    Boot,
    /// One run.
    Run { run: u32, seed: u64 },
}

/// What became of a run. Floats go as their bits, so that they come back the same.
#[derive(Debug, Serialize, Deserialize)]
enum Answer {
    Booted,
    Ran {
        metrics: Vec<u64>,
        single_times: Vec<Vec<u64>>,
        counters: Vec<u64>,
        warnings: Vec<(String, String)>,
        agreement: Option<Agreement>,
    },
    Inspected {
        warnings: Vec<(String, String)>,
        margins: Margins,
    },
    Watched(Box<Heat>),
    Failed(String),
}

/// How often the model decides as trees do, by workload and variant.
pub type Agreements = BTreeMap<(String, String), Agreement>;

/// What the kernels of trees warned of, by variant and warning: how often, and who called the first time.
pub type Warnings = BTreeMap<(String, String), (u64, String)>;

/// Below `dir`: where the boots of the variant at `variant` count what they execute, and where its runs do.
pub fn counts_of(dir: &Path, variant: usize) -> (PathBuf, PathBuf) {
    let dir = dir.join(format!("variant-{variant}"));
    (dir.join("boots"), dir.join("runs"))
}

/// The simulator, with the code of kernel trees where variants have a source.
#[derive(Debug)]
pub struct SourceEngine {
    /// By variant: its library, where it has a source.
    pub libraries: Vec<Option<Library>>,
    /// Where libraries that count what is executed write that: see [`counts_of`].
    pub coverage: Option<PathBuf>,
    /// The program that serves as a replica, and its arguments.
    pub replica: (PathBuf, Vec<String>),
    /// What was warned of so far.
    pub warnings: Mutex<Warnings>,
    /// Where the model is held against trees: what was found so far.
    pub agreements: Option<Mutex<Agreements>>,
}

impl SourceEngine {
    /// The engine for variants with `libraries`; `replica` is the program that serves, and its arguments.
    pub fn new(libraries: Vec<Option<Library>>, replica: (PathBuf, Vec<String>)) -> Self {
        SourceEngine {
            libraries,
            coverage: None,
            replica,
            warnings: Mutex::default(),
            agreements: None,
        }
    }

    /// The same where the model answers each question that a tree's code decides. The libraries must have probes.
    pub fn judged(self) -> Self {
        SourceEngine { agreements: Some(Mutex::default()), ..self }
    }

    fn agreed(&self, of: &(String, String), agreement: Option<Agreement>) {
        if let (Some(all), Some(agreement)) = (&self.agreements, agreement) {
            let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
            all.entry(of.clone()).or_default().add(agreement);
        }
    }

    fn warned(&self, variant: &str, warnings: Vec<(String, String)>) {
        let mut all = self.warnings.lock().unwrap_or_else(PoisonError::into_inner);
        for (what, calls) in warnings {
            let warning = all.entry((variant.to_string(), what)).or_default();
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

    fn prepare(
        &self,
        plan: &Plan,
        (w, v): (usize, usize),
        machine: &Machine,
        kernel: &Kernel,
        workload: Workload,
        setting: &Setting,
    ) -> Result<SourceJob, EngineError> {
        let library = self.libraries.get(v).and_then(Option::as_ref);
        if library.is_none() && plan.file.variants[v].source.is_some() {
            return Err(EngineError::Elsewhere);
        }
        let Some(library) = library else {
            let job = SimEngine.prepare(plan, (w, v), machine, kernel, workload, setting)?;
            return Ok(SourceJob::Model(Box::new(job)));
        };
        let start = Start {
            library: library.file.clone(),
            experiment: plan.file.clone(),
            path: plan.path.clone(),
            workload: w,
            variant: v,
            check: if self.agreements.is_some() { Check::Model } else { Check::Nothing },
            coverage: self.coverage.clone(),
        };
        let of = (plan.file.workloads[w].name.clone(), plan.file.variants[v].name.clone());
        let environment = library.environment.clone();
        let replicas = Replicas::new(self.replica.clone(), environment, of, &start)?;
        // What the kernel refuses of groups is told before anything runs.
        if !setting.groups.is_empty() {
            replicas.ask(Ask::Boot)?;
        }
        Ok(SourceJob::Source(replicas))
    }

    fn run(&self, job: &SourceJob, run: u32, seed: u64) -> Result<Run, EngineError> {
        let replicas = match job {
            SourceJob::Model(job) => return SimEngine.run(job, run, seed),
            SourceJob::Source(replicas) => replicas,
        };
        let floats = |bits: Vec<u64>| bits.into_iter().map(f64::from_bits).collect();
        match replicas.ask(Ask::Run { run, seed })? {
            Answer::Ran { metrics, single_times, counters, warnings, agreement } => {
                self.warned(&replicas.of.1, warnings);
                self.agreed(&replicas.of, agreement);
                let single_times = single_times.into_iter().map(floats).collect();
                Ok(Run { run, seed, metrics: floats(metrics), single_times, counters })
            }
            Answer::Failed(reason) => Err(EngineError::Reported(reason)),
            Answer::Inspected { .. } | Answer::Watched(_) | Answer::Booted => {
                Err(EngineError::Reported("replica: found no results, expected some".to_string()))
            }
        }
    }

    fn finished(&self, job: &SourceJob) {
        if let SourceJob::Source(replicas) = job {
            replicas.end();
        }
    }
}
