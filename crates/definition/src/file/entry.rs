//! One workload of an experiment file: exactly one of the built-in benchmarks, by its name, or several at once.

use super::HistogramEntry;
use serde::{Deserialize, Serialize};
use workload::Benchmark;

/// Where a workload stands in a table: what a list of a parameter's values says of each of the workloads that it makes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RowEntry {
    /// The table: the name that the workloads have in common.
    pub of: String,
    /// What differs from row to row.
    pub varying: String,
    /// Its value in this row.
    pub value: String,
}

/// One of the workloads that run at once: exactly one of the benchmarks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "PartFields", into = "PartFields")]
pub struct PartEntry {
    /// Short name, which its figures have before theirs; empty for a workload that runs alone.
    pub name: String,
    /// Path of the control group in which its tasks begin.
    pub group: Option<String>,
    /// Whether it has figures, and the run goes on until it has ended.
    pub measured: bool,
    /// What runs.
    pub benchmark: Benchmark,
}

/// One workload: exactly one of the benchmarks, or several parts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Fields", into = "Fields")]
pub struct WorkloadEntry {
    /// Short name.
    pub name: String,
    /// One line for people; the name if absent.
    pub title: String,
    /// Runs under each variant; [`DEFAULT_RUNS`] if absent.
    pub runs: u32,
    /// Variants it runs under; all where absent.
    pub variants: Option<Vec<String>>,
    /// Whether the experiment's background runs beside it; it does where absent.
    pub background: Option<bool>,
    /// Bins of a histogram to show.
    pub histogram: Option<HistogramEntry>,
    /// The row of a table that it is, if it is one.
    pub row: Option<RowEntry>,
    /// What runs: several parts at once, or one without a name.
    pub parts: Vec<PartEntry>,
}

impl WorkloadEntry {
    /// What runs, where that is one benchmark alone.
    pub fn alone(&self) -> Option<&Benchmark> {
        match self.parts.as_slice() {
            [part] => Some(&part.benchmark),
            _ => None,
        }
    }

    /// All that runs.
    pub fn benchmarks(&self) -> impl Iterator<Item = &Benchmark> {
        self.parts.iter().map(|part| &part.benchmark)
    }
}

/// Runs of a workload that names no number.
pub const DEFAULT_RUNS: u32 = 20;

fn default_runs() -> u32 {
    DEFAULT_RUNS
}

fn yes() -> bool {
    true
}

fn is_on(measured: &bool) -> bool {
    *measured
}

fn several(name: &str, found: usize) -> String {
    let names = Benchmark::NAMES.join("`, `");
    format!("workload `{name}`: program: found {found} of them, expected exactly one of `{names}`")
}

macro_rules! fields {
    ($($module:ident $variant:ident $from:ident $((not in guests: $reason:literal))?;)+) => {
        /// An entry as it stands in the file.
        #[derive(Clone, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Fields {
            name: String,
            #[serde(default)]
            title: String,
            #[serde(default = "default_runs")]
            runs: u32,
            variants: Option<Vec<String>>,
            background: Option<bool>,
            histogram: Option<HistogramEntry>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            row: Option<RowEntry>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            group: Option<String>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            together: Option<Vec<PartEntry>>,
            $($module: Option<workload::$module::Params>,)+
        }

        /// A part as it stands in the file.
        #[derive(Clone, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        struct PartFields {
            name: String,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            group: Option<String>,
            #[serde(default = "yes", skip_serializing_if = "is_on")]
            measured: bool,
            $($module: Option<workload::$module::Params>,)+
        }

        impl TryFrom<Fields> for WorkloadEntry {
            type Error = String;

            fn try_from(f: Fields) -> Result<WorkloadEntry, String> {
                let mut given: Vec<Benchmark> =
                    [$(f.$module.map(Benchmark::$variant)),+].into_iter().flatten().collect();
                let parts = match (given.len(), given.pop(), f.together) {
                    (1, Some(benchmark), None) => {
                        vec![PartEntry { name: String::new(), group: f.group, measured: true, benchmark }]
                    }
                    (0, None, Some(parts)) if parts.len() > 1 && f.group.is_none() => parts,
                    (0, None, Some(parts)) => return Err(wrong_parts(&f.name, &parts)),
                    (found, _, None) => return Err(several(&f.name, found)),
                    (found, _, Some(_)) => return Err(several(&f.name, found + 1)),
                };
                Ok(WorkloadEntry {
                    name: f.name,
                    title: f.title,
                    runs: f.runs,
                    variants: f.variants,
                    background: f.background,
                    histogram: f.histogram,
                    row: f.row,
                    parts,
                })
            }
        }

        impl From<WorkloadEntry> for Fields {
            fn from(mut e: WorkloadEntry) -> Fields {
                let alone = if e.parts.len() == 1 { e.parts.pop() } else { None };
                let together = alone.is_none().then_some(e.parts);
                let (group, benchmark) = alone.map_or((None, None), |p| (p.group, Some(p.benchmark)));
                let mut fields = Fields {
                    name: e.name,
                    title: e.title,
                    runs: e.runs,
                    variants: e.variants,
                    background: e.background,
                    histogram: e.histogram,
                    row: e.row,
                    group,
                    together,
                    $($module: None,)+
                };
                match benchmark {
                    $(Some(Benchmark::$variant(params)) => fields.$module = Some(params),)+
                    None => {}
                }
                fields
            }
        }

        impl TryFrom<PartFields> for PartEntry {
            type Error = String;

            fn try_from(f: PartFields) -> Result<PartEntry, String> {
                let mut given: Vec<Benchmark> =
                    [$(f.$module.map(Benchmark::$variant)),+].into_iter().flatten().collect();
                match (given.len(), given.pop()) {
                    (1, Some(benchmark)) => {
                        Ok(PartEntry { name: f.name, group: f.group, measured: f.measured, benchmark })
                    }
                    (found, _) => Err(several(&f.name, found)),
                }
            }
        }

        impl From<PartEntry> for PartFields {
            fn from(p: PartEntry) -> PartFields {
                let mut fields = PartFields {
                    name: p.name,
                    group: p.group,
                    measured: p.measured,
                    $($module: None,)+
                };
                match p.benchmark {
                    $(Benchmark::$variant(params) => fields.$module = Some(params),)+
                }
                fields
            }
        }
    };
}

fn wrong_parts(name: &str, parts: &[PartEntry]) -> String {
    match parts.len() {
        0 | 1 => format!(
            "workload `{name}`: together: found {}, expected at least two parts",
            parts.len()
        ),
        _ => {
            format!("workload `{name}`: group: found one beside `together`, expected it in a part")
        }
    }
}

workload::for_each_benchmark!(fields);
