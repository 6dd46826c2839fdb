//! A report: one HTML file that needs nothing else, and its pictures alone.

mod compared;
mod domains;
mod drawing;
mod groups;
mod page;
mod pictures;
mod watched;

pub(crate) use drawing::Drawing;

use crate::charts::Picture;
use crate::error::ReportError;
use askama::Template;
use definition::Plan;
use results::Analysis;
use results::heat::Heat;
use results::reproduce::Reproduction;
use results::sides::Sides;

/// All that a report is made of.
#[derive(Debug)]
pub struct Source<'a> {
    /// The results, or what is left of them, and what follows from them.
    pub analysis: &'a Analysis<'a>,
    /// Version of schedscape that ran them.
    pub schedscape: &'a str,
    /// What is wrong with them.
    pub damage: Option<String>,
    /// The experiment with its machine and kernels, or why there is none any more.
    pub plan: Result<&'a Plan, String>,
    /// The experiment by other engines beside this one.
    pub beside: Option<&'a Sides>,
    /// One run of one workload, CPU by CPU.
    pub heat: Heats,
    /// How to run it again.
    pub reproduction: &'a Reproduction,
}

/// Runs watched CPU by CPU, or why there are none.
#[derive(Debug, Clone)]
pub enum Heats {
    /// The first run of a workload.
    Of {
        /// The workload's title.
        workload: String,
        /// By variant: its name, and the run or why there is none.
        variants: Vec<(String, Result<Heat, String>)>,
        /// Variants whose run is not the stored one.
        changed: Vec<String>,
    },
    /// None, and why.
    None(String),
}

/// A whole report, drawn.
#[derive(Debug)]
pub struct Report {
    page: page::Page,
}

impl Report {
    /// Draws all pictures and writes all texts of `source`. The same source gives the same bytes.
    ///
    /// # Errors
    /// Pictures that cannot be drawn, samples that cannot be compared.
    pub fn new(source: &Source) -> Result<Report, ReportError> {
        Ok(Report { page: page::Page::of(source)? })
    }

    /// The page: it loads nothing, and works without scripts.
    ///
    /// # Errors
    /// A page that cannot be assembled.
    pub fn html(&self) -> Result<String, ReportError> {
        Ok(self.page.render()?)
    }

    /// Every picture of the page.
    pub fn pictures(&self) -> Vec<Picture> {
        self.page.pictures()
    }
}

#[cfg(test)]
mod tests;
