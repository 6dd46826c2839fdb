//! A report: one HTML file that needs nothing else, and its pictures alone.

mod compared;
mod domains;
mod groups;
mod page;
mod pictures;
mod watched;

use crate::charts::Picture;
use crate::error::ReportError;
use askama::Template;
use experiment::heat::Heat;
use experiment::reproduce::Reproduction;
use experiment::study::Study;
use experiment::validate::Validation;
use experiment::{Plan, Results};
use stats::table::{Compared, Overview};
use stats::{Resampling, Table};

/// All that a report is made of.
#[derive(Debug)]
pub struct Source<'a> {
    /// The results, or what is left of them.
    pub results: &'a Results,
    /// Version of schedscape that ran them.
    pub schedscape: &'a str,
    /// What is wrong with them.
    pub damage: Option<String>,
    /// The experiment with its machine and kernels, or why there is none any more.
    pub plan: Result<&'a Plan, String>,
    /// Tables with what they say, by what they show; where the experiment lists a parameter's values.
    pub rows: Option<Rows<'a>>,
    /// Published beside predicted figures, where there are some.
    pub published: Option<(&'a Study, &'a Validation)>,
    /// One run of one workload, CPU by CPU.
    pub heat: Heats,
    /// How to run it again.
    pub reproduction: &'a Reproduction,
    /// How intervals are made.
    pub resampling: Resampling,
}

/// Tables of rows, compared.
#[derive(Debug, Clone)]
pub struct Rows<'a> {
    /// Ratios by table.
    pub overviews: Vec<Overview>,
    /// Tables: performance, performance per watt, power.
    pub tables: Vec<(&'a Table, Compared)>,
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
