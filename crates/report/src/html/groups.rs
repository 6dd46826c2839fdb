//! Results: a group for each workload or table, its text as in the terminal and its pictures.

use super::Source;
use super::compared::{Outcome, outcomes_of};
use super::pictures::Pictures;
use crate::charts::Picture;
use crate::error::ReportError;
use crate::findings::{of_table, of_workload};
use crate::{comparison, counters, results};
use experiment::results::WorkloadResults;
use stats::Table;
use stats::table::Compared;

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
    let mut groups = match &source.rows {
        Some(rows) => {
            let (mut groups, mut left) = (Vec::new(), ROWS);
            for (table, compared) in &rows.tables {
                groups.push(of_rows(&draw, table, compared, left)?);
                left = left.saturating_sub(table.rows.len());
            }
            groups.extend(beside_rows(&draw)?);
            groups
        }
        None => {
            let workloads = source.results.workloads.iter().filter(|w| has_runs(w));
            workloads.map(|w| of_single(&draw, w)).collect::<Result<Vec<_>, _>>()?
        }
    };
    groups.iter_mut().take(OPEN).for_each(|g| g.is_open = true);
    Ok(groups)
}

fn has_runs(workload: &WorkloadResults) -> bool {
    workload.variants.iter().any(|v| !v.runs.is_empty())
}

fn of_single(draw: &Pictures, workload: &WorkloadResults) -> Result<Group, ReportError> {
    let source = draw.source;
    let entry = source.results.experiment.workloads.iter().find(|w| w.name == workload.name);
    let study = source.published.map(|p| p.0);
    let findings = of_workload(workload, &source.resampling);
    let mut pictures = Vec::new();
    pictures.extend(draw.changes(&workload.name, &findings)?);
    let mut spread = Vec::new();
    for (at, finding) in findings.iter().enumerate() {
        if at < SPREAD { &mut pictures } else { &mut spread }.extend(draw.spread(finding)?);
    }
    pictures.extend(draw.distances(&workload.name, &[workload])?);
    let mut more = vec![More {
        title: "As in the terminal".to_string(),
        text: results::workload(workload, entry, study, &source.resampling),
        pictures: vec![],
    }];
    if !spread.is_empty() {
        let title = format!("Single runs, {} further metrics", spread.len());
        more.push(More { title, text: String::new(), pictures: spread });
    }
    more.push(counted(draw, workload, true)?);
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
    let (title, text) = (format!("{}: {what}", workload.name), counters::counters(workload));
    Ok(More { title, text, pictures })
}

/// A table, with the single runs of its first `drawn` rows.
fn of_rows(
    draw: &Pictures,
    table: &Table,
    compared: &Compared,
    drawn: usize,
) -> Result<Group, ReportError> {
    let findings = of_table(table, compared);
    let mut pictures = Vec::new();
    pictures.extend(draw.ratios(table, compared)?);
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
        text: comparison::comparison(table, compared),
        pictures,
        more,
        is_open: false,
    })
}

/// What tables do not show: placement and counters of their workloads.
fn beside_rows(draw: &Pictures) -> Result<Vec<Group>, ReportError> {
    let all: Vec<&WorkloadResults> =
        draw.source.results.workloads.iter().filter(|w| has_runs(w)).collect();
    if all.is_empty() {
        return Ok(vec![]);
    }
    let pictures = draw.distances("all", &all)?.into_iter().collect();
    let more = all.iter().enumerate().map(|(at, w)| counted(draw, w, at < WATCHED));
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
