//! All that is computed of results, once. What shows results only renders this.
//!
//! Every workload has each metric under each variant: samples, their summary, the comparison with the baseline. Where the
//! experiment lists a parameter's values, its workloads are rows, and tables and ratios are computed over them with one
//! correction a table. Where it names a study, published figures stand beside predicted ones.

mod findings;
mod tables;

pub use findings::{Finding, Side, SideChange};
pub use tables::{LEVEL, Part, TableAnalysis, TablesAnalysis, Watts, analyse, singly};

use crate::ResultsError;
use crate::counters::{self, CounterMeans};
use crate::robust::{Robust, judged};
use crate::runs::{MetricInfo, Results, WorkloadResults};
use crate::sensitivity::{Hangs, hangs};
use crate::study::{self, Study};
use crate::tables::Tables;
use crate::validate::{Validation, validate};
use stats::{Comparison, Confidence, Resampling, StatsError, Summary};
use std::borrow::Cow;

/// Resamples behind every bootstrap interval.
const RESAMPLES: u32 = 10_000;

/// How intervals are made wherever an analysis is shown: 95 %, 10,000 resamples, always the same draws.
///
/// # Errors
/// None with these numbers.
pub fn resampling() -> Result<Resampling, StatsError> {
    Resampling::new(RESAMPLES, 1, Confidence::P95)
}

/// Results and all that follows from them.
#[derive(Debug)]
pub struct Analysis<'a> {
    /// The results.
    pub results: &'a Results,
    /// How intervals are made.
    pub resampling: Resampling,
    /// By workload, in the results' order.
    pub workloads: Vec<WorkloadAnalysis>,
    /// Tables over workloads that are rows, if the experiment lists a parameter's values.
    pub tables: Option<TablesAnalysis>,
    /// Published beside predicted figures, if the experiment names a study.
    pub published: Option<Published>,
    /// By comparison, where constants were moved: on which of them it hangs.
    pub hangs: Vec<Hangs>,
    /// By comparison, where constants were moved over their ranges: whether its answer holds there.
    pub robust: Vec<Robust>,
}

/// A workload under all its variants.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkloadAnalysis {
    /// The workload's name.
    pub name: String,
    /// By metric.
    pub metrics: Vec<MetricAnalysis>,
    /// By counter, in the order of the schema.
    pub counters: Vec<CounterMeans>,
}

/// A metric under all variants, the baseline first.
#[derive(Debug, Clone, PartialEq)]
pub struct MetricAnalysis {
    /// What is measured.
    pub info: MetricInfo,
    /// By variant.
    pub variants: Vec<VariantAnalysis>,
}

/// A metric under one variant.
#[derive(Debug, Clone, PartialEq)]
pub struct VariantAnalysis {
    /// The variant's name.
    pub name: String,
    /// By run.
    pub samples: Vec<f64>,
    /// Of the samples; none without any.
    pub summary: Option<Summary>,
    /// Against the baseline; none for itself, and where samples carry no percent change.
    pub comparison: Option<Comparison>,
}

/// A study's figures beside those of the results.
#[derive(Debug, Clone, PartialEq)]
pub struct Published {
    /// What was published.
    pub study: Study,
    /// Cell by cell.
    pub validation: Validation,
}

impl<'a> Analysis<'a> {
    /// All of whole results.
    ///
    /// # Errors
    /// Samples that cannot be compared, a study that does not exist.
    pub fn of(results: &'a Results, resampling: Resampling) -> Result<Analysis<'a>, ResultsError> {
        let tables = Tables::of(results).map(|t| TablesAnalysis::of(t, &resampling)).transpose()?;
        Ok(Analysis { tables, ..Analysis::of_partial(results, resampling)? })
    }

    /// What can be said of results that lack runs: all but tables over rows.
    ///
    /// # Errors
    /// As [`Analysis::of`].
    pub fn of_partial(
        results: &'a Results,
        resampling: Resampling,
    ) -> Result<Analysis<'a>, ResultsError> {
        let workloads = results.workloads.iter();
        let workloads: Vec<WorkloadAnalysis> =
            workloads.map(|w| WorkloadAnalysis::of(results, w, &resampling)).collect();
        Ok(Analysis {
            results,
            resampling,
            hangs: hangs(results, &workloads, &resampling),
            robust: judged(results, &workloads, &resampling),
            workloads,
            tables: None,
            published: published(results, &resampling)?,
        })
    }

    /// The workload called `name`.
    pub fn workload(&self, name: &str) -> Option<&WorkloadAnalysis> {
        self.workloads.iter().find(|w| w.name == name)
    }

    /// What runs say: of tables' rows where there are tables, else of each workload and metric.
    pub fn findings(&self) -> Vec<Finding> {
        match &self.tables {
            Some(tables) => {
                tables.parts().flat_map(|p| &p.tables).flat_map(Finding::of_table).collect()
            }
            None => self.single_findings(),
        }
    }

    /// What runs of each workload say, rows or not.
    pub fn single_findings(&self) -> Vec<Finding> {
        self.workloads.iter().flat_map(WorkloadAnalysis::findings).collect()
    }

    /// Tables over everything: those over rows, or else each workload as a table of its own.
    ///
    /// # Errors
    /// Samples that cannot be compared.
    pub fn all_tables(&self) -> Result<Cow<'_, TablesAnalysis>, ResultsError> {
        match &self.tables {
            Some(tables) => Ok(Cow::Borrowed(tables)),
            None => {
                let tables = TablesAnalysis::of(Tables::all(self.results), &self.resampling)?;
                Ok(Cow::Owned(tables))
            }
        }
    }
}

impl WorkloadAnalysis {
    /// Of `of`, a workload of `results`.
    pub fn of(
        results: &Results,
        of: &WorkloadResults,
        resampling: &Resampling,
    ) -> WorkloadAnalysis {
        let metric = |m: usize| MetricAnalysis::of(of, m, resampling);
        WorkloadAnalysis {
            name: of.name.clone(),
            metrics: (0..of.metrics.len()).map(metric).collect(),
            counters: counters::means(results, of),
        }
    }

    /// What its runs say, a finding a metric.
    pub fn findings(&self) -> Vec<Finding> {
        self.metrics.iter().map(|m| Finding::of_metric(&self.name, m)).collect()
    }
}

impl MetricAnalysis {
    fn of(of: &WorkloadResults, m: usize, resampling: &Resampling) -> MetricAnalysis {
        let info = of.metrics[m].clone();
        let base = of.variants.first().map_or(vec![], |v| of.samples(&v.name, m));
        let variants = of.variants.iter().enumerate().map(|(at, v)| {
            let samples = of.samples(&v.name, m);
            let compared = || stats::compare(&base, &samples, info.better, resampling);
            let comparison = if at > 0 { compared() } else { None };
            let summary = Summary::of(&samples);
            VariantAnalysis { name: v.name.clone(), samples, summary, comparison }
        });
        MetricAnalysis { variants: variants.collect(), info }
    }
}

/// The study's figures. Times of guests are not those of a machine, so no figure that was published for one goes beside them.
fn published(
    results: &Results,
    resampling: &Resampling,
) -> Result<Option<Published>, ResultsError> {
    let Some(name) = results.experiment.study.as_deref().filter(|_| !results.engine.is_guest())
    else {
        return Ok(None);
    };
    let study = study::load(name)?;
    let validation = validate(&study, results, resampling);
    Ok(Some(Published { study, validation }))
}
