//! One workload of an experiment file: exactly one of the built-in benchmarks, by its name.

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

/// One workload: exactly one of the benchmarks.
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
    /// What runs.
    pub benchmark: Benchmark,
}

/// Runs of a workload that names no number.
pub const DEFAULT_RUNS: u32 = 20;

fn default_runs() -> u32 {
    DEFAULT_RUNS
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
            $($module: Option<workload::$module::Params>,)+
        }

        impl TryFrom<Fields> for WorkloadEntry {
            type Error = String;

            fn try_from(f: Fields) -> Result<WorkloadEntry, String> {
                let mut given: Vec<Benchmark> =
                    [$(f.$module.map(Benchmark::$variant)),+].into_iter().flatten().collect();
                let found = given.len();
                match given.pop() {
                    Some(benchmark) if found == 1 => Ok(WorkloadEntry {
                        name: f.name,
                        title: f.title,
                        runs: f.runs,
                        variants: f.variants,
                        background: f.background,
                        histogram: f.histogram,
                        row: f.row,
                        benchmark,
                    }),
                    _ => Err(format!(
                        "workload `{}`: program: found {found} of them, expected exactly one of `{}`",
                        f.name,
                        Benchmark::NAMES.join("`, `")
                    )),
                }
            }
        }

        impl From<WorkloadEntry> for Fields {
            fn from(e: WorkloadEntry) -> Fields {
                let mut fields = Fields {
                    name: e.name,
                    title: e.title,
                    runs: e.runs,
                    variants: e.variants,
                    background: e.background,
                    histogram: e.histogram,
                    row: e.row,
                    $($module: None,)+
                };
                match e.benchmark {
                    $(Benchmark::$variant(params) => fields.$module = Some(params),)+
                }
                fields
            }
        }
    };
}

workload::for_each_benchmark!(fields);
