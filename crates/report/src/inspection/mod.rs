//! What happened in a trace, for people and for other programs: text, a page of HTML, tables for Parquet.
//!
//! Text and page show the same [`Part`]s; the page adds pictures.

mod page;
mod parts;
mod pictures;
mod tables;
#[cfg(test)]
mod tests;

pub use page::html;
pub use tables::tables;

use crate::sparkline;
use crate::table::{WIDTH, fitted};
use machine::Machine;
use std::path::Path;
use trace::Read;
use trace::inspect::Inspection;

/// Bars of a picture of values over time in a terminal.
const BARS: usize = 60;

/// What was inspected.
#[derive(Debug)]
pub struct Source<'a> {
    /// The recording.
    pub trace: &'a Path,
    /// The machine on which it was recorded.
    pub machine: &'a Machine,
    /// What was read of it.
    pub read: &'a Read,
    /// What happened.
    pub inspection: &'a Inspection,
    /// Wake-ups beside a kernel's model, if somebody asked for that.
    pub judged: Option<Part>,
}

/// A part of what is told of a trace.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// A short name that no other part has: letters and `-`.
    pub id: &'static str,
    /// Its heading.
    pub title: String,
    /// What it shows, in sentences.
    pub note: String,
    /// Its content.
    pub blocks: Vec<Block>,
}

/// A piece of a part.
#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    /// Sentences.
    Words(String),
    /// A table.
    Cells(Cells),
    /// Lines of text as they are.
    Lines(String),
    /// Values over time by name: a picture on a page, bars in a terminal.
    Bars(Vec<(&'static str, Vec<f64>)>),
}

/// A table.
#[derive(Debug, Clone, PartialEq)]
pub struct Cells {
    /// Heads of columns.
    pub columns: Vec<&'static str>,
    /// The first columns that are names; the others are figures.
    pub names: usize,
    /// Cells by row.
    pub rows: Vec<Vec<String>>,
}

/// Everything as text of at most 100 columns.
pub fn text(source: &Source) -> String {
    let all = source.inspection;
    let mut out = format!(
        "{}: {:.6} s, {} events of {} CPUs, on {}\n",
        source.trace.display(),
        seconds(all),
        all.events,
        all.cpus,
        source.machine.name
    );
    if let Some(warning) = warning(source) {
        out.push_str(&wrapped(&format!("warning: {warning}")));
    }
    let judged = source.judged.iter();
    let parts = parts::parts(all);
    out.extend(parts.iter().chain(judged).map(Part::text));
    out
}

/// Length of the trace.
fn seconds(all: &Inspection) -> f64 {
    all.to_ns.saturating_sub(all.from_ns) as f64 / 1e9
}

/// What makes figures wrong, in a sentence; none of a whole trace.
fn warning(source: &Source) -> Option<String> {
    let mut flaws = source.read.flaws();
    if source.inspection.repairs > 0 {
        let repairs = source.inspection.repairs;
        flaws.push(format!("{repairs} switches from a task that was not known to run"));
    }
    (!flaws.is_empty()).then(|| format!("{}; figures are too low", flaws.join(", ")))
}

fn wrapped(text: &str) -> String {
    textwrap::fill(text, WIDTH) + "\n"
}

impl Part {
    /// The part with an empty line before it.
    pub fn text(&self) -> String {
        let mut out = format!("\n{}\n", self.title);
        if !self.note.is_empty() {
            out.push_str(&wrapped(&self.note));
        }
        out.extend(self.blocks.iter().map(|block| format!("\n{}", block.text())));
        out
    }
}

impl Block {
    /// The block as it is in a terminal.
    pub fn text(&self) -> String {
        match self {
            Block::Words(words) => wrapped(words),
            Block::Cells(cells) => cells.text(),
            Block::Lines(lines) => lines.clone(),
            Block::Bars(of) => {
                let width = of.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
                let line = |(name, values): &(&str, Vec<f64>)| {
                    format!("{name:<width$} {}\n", sparkline::over_time(values, BARS))
                };
                of.iter().map(line).collect()
            }
        }
    }
}

impl Cells {
    fn text(&self) -> String {
        fitted(&self.columns, &self.rows, self.names.max(1))
    }
}
