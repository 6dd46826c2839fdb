//! What the template shows.

use super::Source;
use super::compared::{self, Constant, Outcome, Variant, Workload};
use super::domains::{self, Mode};
use super::drawing::Drawing;
use super::groups::{self, Group};
use super::pictures::Pictures;
use super::watched::{self, Watched};
use crate::charts::Picture;
use crate::computers::{self, Told};
use crate::error::ReportError;
use crate::hangs::{self, Said};
use crate::robust;
use crate::text::warned;
use crate::validation::validation;
use askama::Template;
use results::Results;
use results::computer::differences;
use results::sides::Sides;

/// Verdicts that are shown at first.
const AT_ONCE: usize = 12;

/// The page.
#[derive(Debug, Template)]
#[template(path = "report.html")]
pub(super) struct Page {
    title: String,
    name: String,
    engine: String,
    is_simulated: bool,
    is_guest: bool,
    schedscape: String,
    seed: u64,
    damage: Option<String>,
    /// A line for each variant whose kernel said that something went wrong, and for what differs between computers and is not
    /// compared.
    warned: Vec<String>,
    /// Which variants did not run.
    not_run: Option<String>,
    /// The computers that ran variants by their own kernels, where some did.
    computers: Option<Told>,
    /// The engines, and what is set side by side of them.
    beside: Option<(String, String)>,
    machine_name: String,
    machine: Result<Drawing, String>,
    variants: Vec<Variant>,
    workloads: Vec<Workload>,
    constants: Vec<Constant>,
    /// Kernels on which costs were counted, in one sentence, or nothing.
    counted: String,
    /// How many of all verdicts are what.
    tally: String,
    outcomes: Vec<Outcome>,
    /// Those beyond what a reader takes in at once.
    further: Vec<Outcome>,
    further_proven: usize,
    modes: Result<Vec<Mode>, String>,
    groups: Vec<Group>,
    heat: Result<Watched, String>,
    published: Option<Published>,
    hangs: Option<Hangs>,
    robust: Option<OverRanges>,
    command: String,
    file: Option<String>,
}

/// On which constants comparisons hang.
#[derive(Debug)]
struct Hangs {
    legend: String,
    comparisons: Vec<Said>,
    notes: Vec<String>,
}

/// Whether comparisons hold over the ranges of constants.
#[derive(Debug)]
struct OverRanges {
    legend: &'static str,
    comparisons: Vec<robust::Said>,
    notes: Vec<String>,
}

/// A study's figures.
#[derive(Debug)]
struct Published {
    title: String,
    source: String,
    text: String,
    pictures: Vec<Picture>,
}

impl Page {
    pub(super) fn of(source: &Source) -> Result<Page, ReportError> {
        let results = source.analysis.results;
        let experiment = &results.experiment;
        let outcomes = compared::outcomes(source);
        let tally = compared::tally(&outcomes);
        let (outcomes, further) = at_once(outcomes);
        Ok(Page {
            title: experiment.title.clone(),
            name: experiment.name.clone(),
            engine: results.engine.to_string(),
            is_simulated: results.engine.is_simulated(),
            is_guest: results.engine.is_guest(),
            schedscape: source.schedscape.to_string(),
            seed: experiment.seed(),
            damage: source.damage.clone(),
            warned: [computers_differ(results), warned(results)].concat(),
            not_run: computers::not_run(results),
            computers: (!results.computers.is_empty()).then(|| computers::told(&results.computers)),
            beside: source.beside.map(|sides| beside(sides, results)),
            machine_name: experiment.machine.clone(),
            machine: source.plan.clone().map(|plan| Drawing::of(&plan.machine)),
            variants: compared::variants(source),
            workloads: compared::workloads(source),
            constants: compared::constants(source),
            counted: crate::constants::counted(&source.analysis.results.counted),
            tally,
            outcomes,
            further_proven: further.iter().filter(|o| o.is_proven()).count(),
            further,
            modes: domains::modes(source),
            groups: groups::groups(source)?,
            heat: watched::watched(source)?,
            published: published(source)?,
            hangs: results.sensitivity.as_ref().map(|s| Hangs {
                legend: hangs::legend(s),
                comparisons: source.analysis.hangs.iter().map(hangs::said).collect(),
                notes: hangs::notes(s),
            }),
            robust: results.robustness.as_ref().map(|r| OverRanges {
                legend: robust::LEGEND,
                comparisons: robust::all_said(source.analysis),
                notes: robust::notes(r),
            }),
            command: source.reproduction.command.clone(),
            file: source.reproduction.file.clone(),
        })
    }

    /// Every picture once, in the page's order.
    pub(super) fn pictures(&self) -> Vec<Picture> {
        let mut all: Vec<Picture> = Vec::new();
        all.extend(self.machine.iter().map(|m| m.picture.clone()));
        for group in &self.groups {
            all.extend(group.pictures.iter().cloned());
            all.extend(group.more.iter().flat_map(|m| &m.pictures).cloned());
        }
        all.extend(self.heat.iter().flat_map(Watched::pictures).cloned());
        all.extend(self.published.iter().flat_map(|p| &p.pictures).cloned());
        numbered(all)
    }
}

/// What differs between the computers of `results` besides what is compared.
fn computers_differ(results: &Results) -> Vec<String> {
    let mut between = differences(&results.computers, &results.experiment);
    between.retain(|difference| !difference.is_compared);
    computers::differing(&results.computers, &between)
}

/// The engines of `sides` and their text; without computers where the page shows those of `results`.
fn beside(sides: &Sides, results: &Results) -> (String, String) {
    let names = crate::sides::engines(&sides.engines);
    let names = match &names[..] {
        [all @ .., last] if !all.is_empty() => format!("{} and {last}", all.join(", ")),
        _ => names.concat(),
    };
    let text = match results.computers.is_empty() {
        true => crate::sides::sides(sides, false),
        false => crate::sides::between(sides, false),
    };
    (names, text)
}

/// Verdicts to be seen at once, and the others: where there are many, what is proven comes first.
fn at_once(all: Vec<Outcome>) -> (Vec<Outcome>, Vec<Outcome>) {
    if all.len() <= AT_ONCE {
        return (all, vec![]);
    }
    let (mut first, rest): (Vec<Outcome>, Vec<Outcome>) =
        all.into_iter().partition(Outcome::is_proven);
    first.extend(rest);
    let further = first.split_off(AT_ONCE);
    (first, further)
}

/// Pictures whose names would be taken for one another have numbers; letters' case does not tell files apart everywhere.
fn numbered(pictures: Vec<Picture>) -> Vec<Picture> {
    let mut out: Vec<Picture> = Vec::new();
    for picture in pictures {
        let taken = |name: &str| out.iter().any(|p: &Picture| p.name.eq_ignore_ascii_case(name));
        let mut name = picture.name.clone();
        let mut number = 2;
        while taken(&name) {
            name = format!("{}-{number}", picture.name);
            number += 1;
        }
        out.push(Picture { name, ..picture }.titled());
    }
    out
}

fn published(source: &Source) -> Result<Option<Published>, ReportError> {
    let Some(published) = &source.analysis.published else { return Ok(None) };
    Ok(Some(Published {
        title: published.study.title.clone(),
        source: published.study.source.clone(),
        text: validation(published),
        pictures: Pictures { source }.published(published)?,
    }))
}
