//! The experiment file: machine, variants, workloads, runs. TOML; every field is checked, unknown ones are errors.

mod background;
mod check;
mod constants;
mod each;
mod entry;
mod frequency;
mod groups;
mod hotplug;
mod prefetch;
mod release;
mod running;
mod scheduler;
mod schema;
mod source;

pub use background::BackgroundEntry;
pub use constants::{ConstantsEntry, ConstantsError};
pub use entry::{DEFAULT_RUNS, PartEntry, RowEntry, WorkloadEntry};
pub use frequency::FrequencyEntry;
pub use groups::{GroupEntry, GroupTable, Word};
pub use hotplug::HotplugEntry;
pub use prefetch::PrefetchEntry;
pub use running::{HostEntry, HostPolicy};
pub use scheduler::{SchedulerEntry, SchedulerKind};
pub use source::{ConfigValue, Patches, SourceEntry, SysctlValue};

use crate::DefinitionError;
use kernel::Version;
use serde::{Deserialize, Serialize};
use setting::Group;
use std::collections::BTreeMap;
use std::path::Path;
use workload::background::Background;

/// Most runs of one workload under one variant.
pub const MAX_RUNS: u32 = 100_000;

/// Seed of an experiment that names none.
pub const DEFAULT_SEED: u64 = 1;

/// A whole file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExperimentFile {
    /// Short name.
    pub name: String,
    /// One line for people; the name if absent.
    #[serde(default)]
    pub title: String,
    /// A machine as `schedscape machine show` takes it: a catalog name, `host`, or a file.
    pub machine: String,
    /// Whose constants hold, if not the machine's own, and those that the experiment sets.
    pub constants: Option<ConstantsEntry>,
    /// Counted costs in place of those of the machine's architecture: a table's name, or a file relative to this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub costs: Option<String>,
    /// The study whose published figures go beside the results.
    pub study: Option<String>,
    /// Seed of the whole experiment; [`DEFAULT_SEED`] if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// SMT modes in which the domains of each variant are shown.
    #[serde(default)]
    pub smt_modes: Vec<u32>,
    /// Kernels, besides the variants', for which the domains are shown as the kernel logs them.
    #[serde(default)]
    pub log_kernels: Vec<Version>,
    /// What else runs; an idle server's background if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub background: Option<BackgroundEntry>,
    /// Control groups of all variants.
    #[serde(rename = "group", default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<GroupTable>,
    /// What is compared; the first is the baseline.
    #[serde(rename = "variant", default)]
    pub variants: Vec<VariantEntry>,
    /// What runs.
    #[serde(rename = "workload", default)]
    pub workloads: Vec<WorkloadEntry>,
}

/// One variant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VariantEntry {
    /// Short name.
    pub name: String,
    /// One line for people; the name if absent.
    #[serde(default)]
    pub title: String,
    /// Kernel release; if absent, that of `source`, or for the machine `host` the one that runs.
    #[serde(default = "no_release")]
    pub kernel: Version,
    /// The tree whose own scheduler runs, instead of the model of `kernel`'s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<SourceEntry>,
    /// Features of the scheduler (`sched/features`) that differ from its own, by name: of a `source`, or of a real kernel.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub features: BTreeMap<String, bool>,
    /// Tunables of the scheduler in debugfs, such as `base_slice_ns`, by their paths below `sched`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub debug: BTreeMap<String, u64>,
    /// Sysctls, such as `"kernel.sched_rt_runtime_us" = 900000`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sysctl: BTreeMap<String, SysctlValue>,
    /// Control groups, by their paths below the root: those of the experiment with what is other here, and more.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub groups: BTreeMap<String, GroupEntry>,
    /// Mechanisms that differ from the release's defaults, by name.
    #[serde(default)]
    pub mechanisms: BTreeMap<String, bool>,
    /// Ticks a second, if not 250.
    pub hz: Option<u32>,
    /// SMT mode, if not all threads.
    pub smt: Option<u32>,
    /// Automatic NUMA balancing (`kernel.numa_balancing`), if it is not as the kernel sets it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub numa_balancing: Option<bool>,
    /// CPUs that go offline or come online while a run lasts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hotplug: Vec<HotplugEntry>,
    /// Who governs the clocks; without, all cores run at the machine's `nominal_khz`. All variants have one or none.
    pub frequency: Option<FrequencyEntry>,
    /// How POWER8's prefetch engine is used, where `mechanisms` switches it on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefetch: Option<PrefetchEntry>,
    /// On real kernels: the sched_ext scheduler that is loaded before each run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheduler: Option<SchedulerEntry>,
    /// What guests have of their own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guest: Option<GuestEntry>,
    /// What is set on this computer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<HostEntry>,
    /// A seed of its own. Variants without one run under the same seeds, pair by pair.
    pub seed: Option<u64>,
}

/// Stands for a release that the file leaves to its source.
const NO_RELEASE: Version = Version::new(0, 0);

fn no_release() -> Version {
    NO_RELEASE
}

/// What guests of a variant have that no model has.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GuestEntry {
    /// Words for the kernel's command line.
    pub append: String,
}

impl VariantEntry {
    /// What only the code of a kernel has, where it sets some of that: the field's name.
    pub fn of_kernels(&self) -> Option<&'static str> {
        let set = [
            ("features", self.features.is_empty()),
            ("debug", self.debug.is_empty()),
            ("sysctl", self.sysctl.is_empty()),
        ];
        set.into_iter().find(|(_, is_empty)| !is_empty).map(|(name, _)| name)
    }

    /// Words for a real kernel's command line; empty where there are none.
    pub fn command_line(&self) -> &str {
        self.guest.as_ref().map_or("", |guest| &guest.append)
    }
}

/// Bins of equal width.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HistogramEntry {
    /// Lower edge of the first bin.
    pub low: f64,
    /// Width of a bin.
    pub width: f64,
    /// Number of bins.
    pub bins: usize,
}

impl ExperimentFile {
    /// Reads and checks a file.
    pub fn load(path: &Path) -> Result<ExperimentFile, DefinitionError> {
        let file = path.display().to_string();
        let text = std::fs::read_to_string(path)
            .map_err(|reason| DefinitionError::Io { file: file.clone(), reason })?;
        ExperimentFile::parse(&text, &file)
    }

    /// The experiment on each machine that the file lists, in order; one where it names one.
    pub fn load_each(path: &Path) -> Result<Vec<ExperimentFile>, DefinitionError> {
        let file = path.display().to_string();
        let text = std::fs::read_to_string(path)
            .map_err(|reason| DefinitionError::Io { file: file.clone(), reason })?;
        ExperimentFile::parse_each(&text, &file)
    }

    /// The same of `text`, naming it `file` in errors.
    pub fn parse_each(text: &str, file: &str) -> Result<Vec<ExperimentFile>, DefinitionError> {
        let texts = each::by_machine(text);
        if texts.is_empty() {
            return Ok(vec![ExperimentFile::parse(text, file)?]);
        }
        let all: Vec<ExperimentFile> =
            texts.iter().map(|text| ExperimentFile::parse(text, file)).collect::<Result<_, _>>()?;
        let names: Vec<&str> = all.iter().map(|e| e.machine.as_str()).collect();
        match first_twice(&names) {
            None => Ok(all),
            Some(twice) => Err(DefinitionError::Field {
                file: file.to_string(),
                field: "machine".to_string(),
                found: format!("`{twice}` twice"),
                expected: "each machine once".to_string(),
            }),
        }
    }

    /// Reads and checks `text`, which names one machine, naming it `file` in errors.
    pub fn parse(text: &str, file: &str) -> Result<ExperimentFile, DefinitionError> {
        if !each::by_machine(text).is_empty() {
            return Err(DefinitionError::Field {
                file: file.to_string(),
                field: "machine".to_string(),
                found: "a list".to_string(),
                expected: "one machine: only `run` takes several".to_string(),
            });
        }
        let mut experiment = each::parse(text, file)?;
        experiment.title_all();
        experiment.release_all(file)?;
        experiment.check(file)?;
        Ok(experiment)
    }

    /// Gives the name as title to all that has none.
    fn title_all(&mut self) {
        let variants = self.variants.iter_mut().map(|v| (&mut v.title, &v.name));
        let workloads = self.workloads.iter_mut().map(|w| (&mut w.title, &w.name));
        let all = [(&mut self.title, &self.name)].into_iter().chain(variants).chain(workloads);
        for (title, name) in all.filter(|(title, _)| title.is_empty()) {
            title.clone_from(name);
        }
    }

    /// The seed, given or not.
    pub fn seed(&self) -> u64 {
        self.seed.unwrap_or(DEFAULT_SEED)
    }

    /// What else runs, given or not.
    pub fn background(&self) -> Background {
        self.background.clone().unwrap_or_default().background()
    }

    /// What the file leaves to defaults, as a file would say it; empty if it leaves nothing.
    pub fn defaults(&self) -> Vec<String> {
        let seed = self.seed.is_none().then(|| format!("seed = {DEFAULT_SEED}"));
        let background = (self.background.is_none())
            .then(|| format!("background = \"{}\"", BackgroundEntry::DEFAULT_NAME));
        seed.into_iter().chain(background).collect()
    }

    /// The workload called `name`.
    pub fn workload(&self, name: &str) -> Option<&WorkloadEntry> {
        self.workloads.iter().find(|w| w.name == name)
    }

    /// Control groups under the variant at `at`, those above first.
    pub fn groups(&self, at: usize) -> Vec<Group> {
        groups::all(&groups::merged(&self.groups, &self.variants[at].groups))
    }

    /// Whether some variant has control groups.
    pub fn has_groups(&self) -> bool {
        !self.groups.is_empty() || self.variants.iter().any(|v| !v.groups.is_empty())
    }

    /// What the control groups of the variant at `at` are, for people.
    pub fn groups_set(&self, at: usize) -> Vec<String> {
        groups::set(&groups::merged(&self.groups, &self.variants[at].groups))
    }

    /// The error of a file of the group `path` under the variant at `at`: who said it, and where.
    pub(crate) fn group_field(&self, at: usize, path: &str, file: &str) -> String {
        let variant = &self.variants[at];
        let own = variant.groups.get(path);
        let said_here = own.is_some_and(|own| own.writes().iter().any(|(name, _)| name == file));
        let is_shared = self.groups.iter().any(|table| table.path == path);
        match is_shared && !said_here {
            true => format!("group `{path}`: {file}"),
            false => format!("variant `{}`: groups.{path}.{file}", variant.name),
        }
    }

    /// Indices of the variants that workload `at` runs under, the baseline first.
    pub fn variants_of(&self, at: usize) -> Vec<usize> {
        let wanted = &self.workloads[at].variants;
        (0..self.variants.len())
            .filter(|&v| wanted.as_ref().is_none_or(|names| names.contains(&self.variants[v].name)))
            .collect()
    }
}

fn first_twice<'a>(names: &[&'a str]) -> Option<&'a str> {
    names.iter().enumerate().find(|(i, n)| names[..*i].contains(n)).map(|(_, n)| *n)
}

/// `experiment` as a file.
///
/// # Errors
/// What TOML cannot hold.
pub fn toml_of(experiment: &ExperimentFile) -> Result<String, DefinitionError> {
    toml::to_string(experiment).map_err(|reason| DefinitionError::Write {
        experiment: experiment.name.clone(),
        reason: Box::new(reason),
    })
}

/// Reads TOML; errors name the line and the field.
///
/// # Errors
/// Text that is not TOML, and fields that `T` does not have.
pub fn parse_toml<T: for<'de> Deserialize<'de>>(
    text: &str,
    file: &str,
) -> Result<T, DefinitionError> {
    toml::from_str(text).map_err(|e| {
        let at = e.span().map_or(0, |s| s.start).min(text.len());
        DefinitionError::Toml {
            file: file.to_string(),
            line: text.as_bytes()[..at].iter().filter(|&&b| b == b'\n').count() + 1,
            message: e.message().replace('\n', " "),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const GOOD: &str = include_str!("../../../experiments/power9-big-core.toml");

    fn refused(from: &str, to: &str) -> String {
        assert!(GOOD.contains(from), "the shipped experiment no longer holds `{from}`");
        let error = ExperimentFile::parse(&GOOD.replacen(from, to, 1), "x.toml").unwrap_err();
        error.to_string()
    }

    #[test]
    fn the_shipped_experiment_is_good() {
        assert_eq!(ExperimentFile::parse(GOOD, "x.toml").unwrap().name, "power9-big-core");
    }

    #[test]
    fn errors_name_file_and_field() {
        for (from, to, expected) in [
            (
                "runs = 100",
                "runs = 0",
                "x.toml: workload `ebizzy`: runs: found 0, expected 1 to 100000",
            ),
            ("runs = 100", "runns = 100", "unknown field `runns`"),
            ("runs = 100", "runs = \"many\"", "expected u32"),
            ("kernel = \"4.18\"", "kernel = \"four\"", "kernel: found `four`"),
            ("threads = 2", "threads = -2", "expected u16"),
            ("name = \"big-core\"", "name = \"vanilla\"", "`vanilla` twice"),
            (
                "[workload.ebizzy]",
                "[workload.sched_pipe]\nloops = 1\nloops_run = 1\n[workload.ebizzy]",
                "exactly one of",
            ),
        ] {
            let message = refused(from, to);
            assert!(message.starts_with("x.toml: "), "{message}");
            assert!(message.contains(expected), "{message}");
        }
    }

    /// Every benchmark's table in the documentation is read, and is written as it was read.
    #[test]
    fn documented_workloads_are_good() {
        let docs = [
            include_str!("../../../docs/workloads.md"),
            include_str!("../../../docs/fleet-workloads.md"),
        ];
        let tables: Vec<&str> = docs
            .iter()
            .flat_map(|doc| doc.split("```toml\n").skip(1))
            .filter_map(|s| s.split("```").next())
            .collect();
        let head = GOOD.split("[[workload]]").next().unwrap();
        let mut names = Vec::new();
        for table in tables {
            let entry = "[[workload]]\nname = \"w\"\ntitle = \"w\"\nruns = 1\n";
            let text = format!("{head}{entry}{table}");
            let file = ExperimentFile::parse(&text, "x.toml").unwrap();
            let again = toml::to_string(&file).unwrap();
            assert_eq!(ExperimentFile::parse(&again, "x.toml").unwrap(), file);
            let name = table.trim_start_matches("[workload.").split(']').next().unwrap();
            names.push(name.to_string());
        }
        assert_eq!(names, workload::Benchmark::NAMES);
    }

    /// The examples that are whole experiments: the first is one of ten lines.
    #[test]
    fn documented_experiments_are_good() {
        let doc = include_str!("../../../docs/experiments.md");
        let blocks = doc.split("```toml\n").skip(1).filter_map(|s| s.split("```").next());
        let whole: Vec<&str> = blocks.filter(|b| b.starts_with("name = ")).collect();
        assert_eq!(whole.len(), 2);
        for text in &whole {
            ExperimentFile::parse(text, "docs/experiments.md").unwrap();
        }
        assert_eq!(whole[0].lines().count(), 10);
    }

    /// Both forms of `constants` are read, and written as they were read.
    #[test]
    fn constants_are_a_name_or_a_table() {
        let name = GOOD.replacen("seed = ", "constants = \"power8\"\nseed = ", 1);
        let table = format!("{GOOD}\n[constants]\nfrom = \"power8\"\ntick_ns = 60\n");
        for (text, values) in [(name, 0), (table, 1)] {
            let file = ExperimentFile::parse(&text, "x.toml").unwrap();
            let entry = file.constants.clone().unwrap();
            assert_eq!((entry.from.as_deref(), entry.values.len()), (Some("power8"), values));
            let again = toml::to_string(&file).unwrap();
            assert_eq!(ExperimentFile::parse(&again, "x.toml").unwrap(), file);
            let json = serde_json::to_string(&file).unwrap();
            assert_eq!(serde_json::from_str::<ExperimentFile>(&json).unwrap(), file);
        }
        let text = format!("{GOOD}\n[constants]\ntick_ns = \"many\"\n");
        let error = ExperimentFile::parse(&text, "x.toml").unwrap_err().to_string();
        assert!(error.contains("expected f64"), "{error}");
    }

    #[test]
    fn lines_are_counted_from_one() {
        let error = ExperimentFile::parse("name = 3\n", "x.toml").unwrap_err().to_string();
        assert!(error.starts_with("x.toml: line 1: "), "{error}");
    }

    proptest! {
        #[test]
        fn parser_never_panics(text in ".{0,200}") {
            let _ = ExperimentFile::parse(&text, "x.toml");
        }

        #[test]
        fn cut_files_never_panic(at in 0usize..GOOD.len()) {
            if let Some(text) = GOOD.get(..at) {
                let _ = ExperimentFile::parse(text, "x.toml");
            }
        }
    }
}
