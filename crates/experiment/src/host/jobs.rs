//! Workloads as commands: the programs of benchmarks, and any command.

use super::plan::Options;
use super::realise::{HostRealiseError, Realised, group_dir};
use crate::ExperimentError;
use crate::engine::EngineError;
use crate::guests::of_tasks;
use crate::programs::program_of;
use definition::Plan;
use definition::file::{HostPolicy, WorkloadEntry};
use host::figures::Figures;
use host::launch::is_program;
use host::{Ended, HostError, Launch};
use machine::{CpuSet, Machine, catalog};
use results::MetricInfo;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;
use vm::programs::Program;
use vm::programs::together::GROUPS;
use workload::{Benchmark, BuildError, command};

/// A workload that can run here.
#[derive(Debug)]
pub(super) struct Job {
    runs: Runs,
    pub(super) metrics: Vec<MetricInfo>,
    /// Runs before the first one that counts.
    pub(super) warmup: u32,
    /// CPUs that its own program is bound to.
    pub(super) bound: CpuSet,
    /// Names of its tasks, by which they get their control group where nothing else says it.
    tasks: BTreeSet<String>,
    begins: Begins,
    /// What its program does otherwise than the modelled workload.
    pub(super) notes: Vec<String>,
}

/// The control group in which a command begins.
#[derive(Debug)]
enum Begins {
    /// This one.
    In(String),
    /// That of its tasks' names.
    ByName,
    /// None: each of its parts has its own.
    Parts,
}

impl Begins {
    fn of(group: Option<String>) -> Begins {
        group.map_or(Begins::ByName, Begins::In)
    }
}

#[derive(Debug)]
enum Runs {
    /// A benchmark's program, whose files are in a directory, and when it is ended.
    Program(Box<Program>, PathBuf, Duration),
    /// A command of the experiment, in a directory.
    Command(Box<command::Params>, Figures, PathBuf),
}

impl Job {
    /// The workload `entry` of `plan`. Files that its program needs are put below `files`.
    ///
    /// # Errors
    /// A program that is not installed, and parameters that cannot be.
    pub(super) fn of(
        plan: &Plan,
        entry: &WorkloadEntry,
        options: &Options,
        files: &Path,
    ) -> Result<Job, ExperimentError> {
        let refused = |reason: EngineError| ExperimentError::Refused {
            file: plan.path.clone(),
            field: format!("workload `{}`", entry.name),
            reason: Box::new(reason),
        };
        let job = match entry.alone() {
            Some(Benchmark::Command(params)) => Job::of_command(plan, params).map_err(refused),
            _ => Job::of_program(plan, entry, options, files).map_err(refused),
        }?;
        let own = entry.parts.iter().find_map(|part| part.group.clone());
        let begins = match entry.alone() {
            Some(_) => Begins::of(own),
            None => Begins::Parts,
        };
        Ok(Job { begins, ..job })
    }

    fn of_command(plan: &Plan, params: &command::Params) -> Result<Job, EngineError> {
        params.check().map_err(|e| EngineError::Workload(e.into()))?;
        let figures = Figures::of(params)?;
        let directory = plan.folder().join(params.directory.as_deref().unwrap_or(""));
        let directory = std::path::absolute(&directory)
            .and_then(|dir| dir.canonicalize())
            .map_err(|source| HostError::Io { path: directory.clone(), source })?;
        let program = &params.argv[0];
        let is_there = match program.contains('/') {
            true => plan.folder().join(program).exists(),
            false => is_program(program),
        };
        if !is_there {
            return Err(missing("argv", program, "a program that is there".to_owned()).into());
        }
        let metric = |figure: &command::Figure| MetricInfo {
            name: figure.name().to_owned(),
            unit: figure.unit().to_owned(),
            better: figure.better(),
        };
        Ok(Job {
            metrics: params.figures().iter().map(metric).collect(),
            warmup: params.warmup,
            bound: CpuSet::default(),
            tasks: [params.task().to_owned()].into(),
            begins: Begins::ByName,
            notes: vec![],
            runs: Runs::Command(Box::new(params.clone()), figures, directory),
        })
    }

    fn of_program(
        plan: &Plan,
        entry: &WorkloadEntry,
        options: &Options,
        files: &Path,
    ) -> Result<Job, EngineError> {
        let read = |file: &str| std::fs::read_to_string(plan.folder().join(file));
        let bound = RefCell::new(CpuSet::default());
        let same = |cpus: CpuSet| {
            let all = &*bound.borrow() | &cpus;
            *bound.borrow_mut() = all;
            cpus
        };
        let program = program_of(entry, &read, &same)?;
        for path in &program.programs {
            let name = path.rsplit('/').next().unwrap_or(path);
            if !is_program(name) {
                let packages = program.packages.join(" ");
                return Err(missing("program", name, format!("it (apt install {packages})")).into());
            }
        }
        put_files(&program, options, files)?;
        let names = program.output.names();
        let built = built(plan, entry)?;
        let metrics = built.metrics.iter().map(MetricInfo::from);
        Ok(Job {
            metrics: metrics.filter(|info| names.contains(&info.name)).collect(),
            warmup: 0,
            bound: bound.into_inner(),
            tasks: built.programs.into_iter().map(|p| p.name).collect(),
            begins: Begins::ByName,
            notes: program.notes.clone(),
            runs: Runs::Program(Box::new(program), files.to_owned(), options.limit),
        })
    }

    /// How it runs under a variant, where CPUs `all` are online; files that it writes go below `scratch`.
    pub(super) fn launch(
        &self,
        realised: &Realised,
        options: &Options,
        all: Option<&CpuSet>,
        scratch: &Path,
    ) -> Result<Launch, HostRealiseError> {
        let host = &realised.host;
        let priority = host.priority.unwrap_or(0);
        let online = all.map(|all| all - &realised.offline);
        let mut launch = Launch {
            cpus: host.cpus.clone().or(online),
            nice: host.nice,
            policy: host.policy.map(|p: HostPolicy| (p.name(), priority)),
            group: self.group(realised)?.map(|path| group_dir(options, &path)),
            ..Launch::default()
        };
        let mut env = |name: &str, value: &Path| launch.env.insert(name.into(), value.into());
        match &self.runs {
            Runs::Program(program, files, limit) => {
                env("FILES", files);
                env("SCRATCH", scratch);
                env(GROUPS, &group_dir(options, ""));
                launch.argv = ["sh", "-c", &program.command].map(OsString::from).to_vec();
                launch.directory = scratch.to_owned();
                launch.timeout = *limit;
            }
            Runs::Command(params, _, directory) => {
                launch.argv = params.argv.iter().map(OsString::from).collect();
                launch.directory.clone_from(directory);
                launch.timeout = Duration::from_secs_f64(params.timeout_s());
                launch.env.extend(params.env.iter().map(|(n, v)| (n.into(), v.into())));
            }
        }
        launch.env.extend(host.env.iter().map(|(n, v)| (n.into(), v.into())));
        Ok(launch)
    }

    /// The control group in which its command begins.
    fn group(&self, realised: &Realised) -> Result<Option<String>, HostRealiseError> {
        match &self.begins {
            Begins::In(path) => Ok(Some(path.clone())),
            Begins::Parts => Ok(None),
            Begins::ByName => of_tasks(&realised.settings.groups, &self.tasks).map_err(|found| {
                HostRealiseError::Field {
                    field: "groups",
                    found,
                    expected: "one for all of them: a command begins in one group".to_owned(),
                }
            }),
        }
    }

    /// What a run measured, in the order of [`Job::metrics`]; the error says how it failed.
    pub(super) fn values(&self, ended: &Ended) -> Result<Vec<f64>, String> {
        match &self.runs {
            Runs::Program(program, ..) => {
                if let Some(failure) = ended.failure(0) {
                    return Err(failure);
                }
                let values = program.values(&ended.stdout)?;
                let value = |info: &MetricInfo| {
                    let found = values.iter().find(|(name, _)| *name == info.name);
                    let missing = || format!("found no {} in what it printed", info.name);
                    found.map(|(_, value)| *value).ok_or_else(missing)
                };
                self.metrics.iter().map(value).collect()
            }
            Runs::Command(params, figures, _) => match ended.failure(params.exit_code as i32) {
                Some(failure) => Err(failure),
                None => figures.read(ended),
            },
        }
    }
}

fn missing(field: &str, program: &str, expected: String) -> HostError {
    HostError::NotHere { field: field.to_owned(), found: format!("no `{program}`"), expected }
}

/// The modelled workload, for the names of its metrics and tasks, which are the same whatever things cost. Where this computer has no
/// constants, those of the first machine of the catalog stand in that has all that it takes.
fn built(plan: &Plan, entry: &WorkloadEntry) -> Result<workload::Workload, EngineError> {
    let alone = WorkloadEntry { background: Some(false), ..entry.clone() };
    let reason = match plan.workload(&alone, &plan.machine) {
        Ok(built) => return Ok(built.workload),
        Err(reason) => reason,
    };
    let stand_ins = catalog::names().into_iter().filter_map(|name| catalog::load(name).ok());
    let on = |stand_in: Machine| {
        let machine = Machine { constants: stand_in.constants, ..plan.machine.clone() };
        plan.workload(&alone, &machine).ok()
    };
    let built = stand_ins.filter(|_| matches!(reason, BuildError::Constant(_))).find_map(on);
    built.map(|built| built.workload).ok_or(EngineError::Workload(reason))
}

fn put_files(program: &Program, options: &Options, files: &Path) -> Result<(), EngineError> {
    use std::os::unix::fs::PermissionsExt;
    let workers = options.workers.clone().unwrap_or_default();
    for (path, source) in &program.files {
        let to = files.join(path);
        let io = |source| HostError::Io { path: to.clone(), source };
        let content = source.content(&options.root, &workers)?;
        if let Some(dir) = to.parent() {
            std::fs::create_dir_all(dir).map_err(io)?;
        }
        std::fs::write(&to, content).map_err(io)?;
        let mode = std::fs::Permissions::from_mode(source.mode());
        std::fs::set_permissions(&to, mode).map_err(io)?;
    }
    Ok(())
}
