//! Results: a group for each workload or table, its text as in the terminal and its pictures.

use super::Source;
use super::compared::{Outcome, outcomes_of};
use super::pictures::Pictures;
use crate::charts::Picture;
use crate::error::ReportError;
use crate::{comparison, counters, workload};
use results::WorkloadResults;
use results::analysis::{Finding, TableAnalysis, WorkloadAnalysis};

/// Pictures and text that belong together.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) title: String,
    pub(super) name: String,
    pub(super) outcomes: Vec<Outcome>,
    pub(super) text: String,
    pub(super) pictures: Vec<Picture>,
    /// What is shown on demand.
    pub(super) more: Vec<More>,
    pub(super) is_open: bool,
}

/// A part that is closed at first.
#[derive(Debug)]
pub(super) struct More {
    pub(super) title: String,
    pub(super) text: String,
    pub(super) pictures: Vec<Picture>,
}

/// Groups that are open at first.
const OPEN: usize = 3;
/// In tables of rows: rows whose single runs are drawn, over all tables, and workloads whose waits and pipelines are.
const ROWS: usize = 24;
const WATCHED: usize = 8;
/// Metrics of a workload whose single runs are shown at first.
const SPREAD: usize = 2;

/// By table where there are tables, else by workload.
pub(super) fn groups(source: &Source) -> Result<Vec<Group>, ReportError> {
    let draw = Pictures { source };
    let mut groups = match &source.analysis.tables {
        Some(tables) => {
            let (mut groups, mut left) = (Vec::new(), ROWS);
            for table in tables.parts().flat_map(|part| &part.tables) {
                groups.push(of_rows(&draw, table, left)?);
                left = left.saturating_sub(table.samples.rows.len());
            }
            groups.extend(beside_rows(&draw)?);
            groups
        }
        None => {
            let all = with_runs(source);
            all.map(|(w, a)| of_single(&draw, w, a)).collect::<Result<Vec<_>, _>>()?
        }
    };
    groups.iter_mut().take(OPEN).for_each(|g| g.is_open = true);
    Ok(groups)
}

/// Workloads of which there are runs.
fn with_runs<'a>(
    source: &'a Source,
) -> impl Iterator<Item = (&'a WorkloadResults, &'a WorkloadAnalysis)> {
    let all = source.analysis.results.workloads.iter().zip(&source.analysis.workloads);
    all.filter(|(w, _)| w.variants.iter().any(|v| !v.runs.is_empty()))
}

fn of_single(
    draw: &Pictures,
    workload: &WorkloadResults,
    analysis: &WorkloadAnalysis,
) -> Result<Group, ReportError> {
    let all = draw.source.analysis;
    let entry = all.results.experiment.workload(&workload.name);
    let study = all.published.as_ref().map(|p| &p.study);
    let findings = analysis.findings();
    let mut pictures = Vec::new();
    pictures.extend(draw.changes(&workload.name, &findings)?);
    let mut spread = Vec::new();
    for (at, finding) in findings.iter().enumerate() {
        if at < SPREAD { &mut pictures } else { &mut spread }.extend(draw.spread(finding)?);
    }
    pictures.extend(draw.distances(&workload.name, &[workload])?);
    let mut more = vec![More {
        title: "As in the terminal".to_string(),
        text: workload::workload(workload, analysis, entry, study),
        pictures: vec![],
    }];
    if !spread.is_empty() {
        let title = format!("Single runs, {} further metrics", spread.len());
        more.push(More { title, text: String::new(), pictures: spread });
    }
    more.push(counted(draw, workload, analysis, true)?);
    Ok(Group {
        title: workload.title.clone(),
        name: workload.name.clone(),
        outcomes: findings.iter().flat_map(outcomes_of).collect(),
        text: String::new(),
        pictures,
        more,
        is_open: false,
    })
}

/// All that runs counted, with waits and busy pipelines as pictures where `is_drawn`.
fn counted(
    draw: &Pictures,
    workload: &WorkloadResults,
    analysis: &WorkloadAnalysis,
    is_drawn: bool,
) -> Result<More, ReportError> {
    let mut pictures = Vec::new();
    if is_drawn {
        pictures.extend(draw.waits(workload)?);
        pictures.extend(draw.pipelines(workload)?);
    }
    let what = if is_drawn {
        "waits after wake-ups, shared pipelines, all counters"
    } else {
        "all counters"
    };
    let schema = &draw.source.analysis.results.counters;
    let text = counters::counters(schema, workload, analysis);
    Ok(More { title: format!("{}: {what}", workload.name), text, pictures })
}

/// A table, with the single runs of its first `drawn` rows.
fn of_rows(draw: &Pictures, analysis: &TableAnalysis, drawn: usize) -> Result<Group, ReportError> {
    let table = &analysis.samples;
    let findings = Finding::of_table(analysis);
    let mut pictures = Vec::new();
    pictures.extend(draw.ratios(analysis)?);
    let changes = draw.changes(&table.metric, &findings)?;
    let mut spread = Vec::new();
    for finding in findings.iter().take(drawn) {
        spread.extend(draw.spread(finding)?);
    }
    let more_of =
        |title: &str, pictures| More { title: title.to_string(), text: String::new(), pictures };
    let mut more = vec![more_of("Changes, row by row", changes)];
    if !spread.is_empty() {
        let title = match drawn < findings.len() {
            true => "Single runs of the first rows",
            false => "Single runs, row by row",
        };
        more.push(more_of(title, spread));
    }
    Ok(Group {
        title: format!("{} ({})", table.metric, table.unit),
        name: table.metric.clone(),
        outcomes: vec![],
        text: comparison::comparison(analysis),
        pictures,
        more,
        is_open: false,
    })
}

/// What tables do not show: placement and counters of their workloads.
fn beside_rows(draw: &Pictures) -> Result<Vec<Group>, ReportError> {
    let all: Vec<_> = with_runs(draw.source).collect();
    if all.is_empty() {
        return Ok(vec![]);
    }
    let workloads: Vec<&WorkloadResults> = all.iter().map(|(w, _)| *w).collect();
    let pictures = draw.distances("all", &workloads)?.into_iter().collect();
    let more = all.iter().enumerate().map(|(at, (w, a))| counted(draw, w, a, at < WATCHED));
    let more = more.collect::<Result<_, _>>()?;
    Ok(vec![Group {
        title: "Where wake-ups landed, waits and counters".to_string(),
        name: "placement".to_string(),
        outcomes: vec![],
        text: String::new(),
        pictures,
        more,
        is_open: false,
    }])
}
