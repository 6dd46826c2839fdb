//! The page of a trace.

use super::{Block, Part, Source, parts, pictures, seconds, warning};
use crate::charts::Picture;
use crate::error::ReportError;
use crate::html::Drawing;
use askama::Template;
use trace::inspect::dot;

/// What the template shows.
#[derive(Debug, Template)]
#[template(path = "trace.html")]
struct Page {
    title: String,
    schedscape: &'static str,
    warning: Option<String>,
    /// Names and values.
    facts: Vec<(&'static str, String)>,
    drawing: Drawing,
    sections: Vec<Section>,
}

/// A part with its pictures.
#[derive(Debug)]
struct Section {
    part: Part,
    pictures: Vec<Picture>,
    /// What can be unfolded: a heading and text.
    further: Option<(&'static str, String)>,
}

/// The page of `source`: one file that loads nothing and works without scripts. It has the recording's name but no path, and no
/// date, so the same recording gives the same bytes.
///
/// # Errors
/// Pictures that cannot be drawn.
pub fn html(source: &Source) -> Result<String, ReportError> {
    let all = source.inspection;
    let section = |part: Part| -> Result<Section, ReportError> {
        let pictures = pictures::pictures(part.id, all)?;
        let further = match part.id {
            "wakers" => Some(("As a graph for Graphviz", dot(&all.wakers))),
            _ => None,
        };
        Ok(Section { part, pictures, further })
    };
    let parts = parts::parts(all).into_iter().chain(source.judged.clone());
    let page = Page {
        title: name(source),
        schedscape: env!("CARGO_PKG_VERSION"),
        warning: warning(source),
        facts: facts(source),
        drawing: Drawing::of(source.machine),
        sections: parts.map(section).collect::<Result<_, _>>()?,
    };
    Ok(page.render()?)
}

/// The recording's name.
fn name(source: &Source) -> String {
    source.trace.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn facts(source: &Source) -> Vec<(&'static str, String)> {
    let all = source.inspection;
    let kept = &all.conservation;
    vec![
        ("Trace", name(source)),
        ("Machine", format!("{}, {} CPUs", source.machine.name, source.machine.cpus.len())),
        ("Length", format!("{:.6} s", seconds(all))),
        ("Events", format!("{} of {} CPUs", all.events, all.cpus)),
        ("Lost records", source.read.lost.to_string()),
        ("New tasks", all.moves.forks.to_string()),
        (
            "Idle CPUs while somebody waited",
            format!(
                "{:.2} % of the time, {:.3} ms of CPU time",
                kept.percent,
                kept.lost_cpu_ns as f64 / 1e6
            ),
        ),
    ]
}
