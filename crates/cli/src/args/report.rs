//! Layouts of results, and `schedscape report`.

use clap::{Args as ClapArgs, ValueEnum};
use report::{Layout, Style};
use std::path::PathBuf;

/// How results are laid out.
#[derive(Debug, ClapArgs)]
pub struct LayoutArgs {
    /// Layout; where absent, tables of rows as MMTests' and single workloads as ministat's
    #[arg(long, value_enum, conflicts_with = "json")]
    pub style: Option<StyleName>,
    /// Print figures as comma-separated values, a line for each variant of each quantity
    #[arg(long, conflicts_with_all = ["json", "style", "counters"])]
    pub csv: bool,
}

impl LayoutArgs {
    /// What was asked for.
    pub fn layout(&self) -> Layout {
        match (self.style, self.csv) {
            (Some(StyleName::Mmtests), _) => Layout::Style(Style::Mmtests),
            (Some(StyleName::Ministat), _) => Layout::Style(Style::Ministat),
            (Some(StyleName::Plain), _) => Layout::Style(Style::Plain),
            (Some(StyleName::Markdown), _) => Layout::Style(Style::Markdown),
            (None, true) => Layout::Csv,
            (None, false) => Layout::Whole,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum StyleName {
    /// Tables of figures and changes, as MMTests' users mail them
    Mmtests,
    /// ministat's table of each quantity
    Ministat,
    /// A line a variant, with the spread of its runs
    Plain,
    /// The same as tables in Markdown
    Markdown,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  schedscape report out/big-core
  schedscape report out/big-core --output big-core.html --svg pictures
  schedscape report out/clusters --workload hackbench-48 --output clusters.html")]
pub struct ReportArgs {
    /// A directory that `run --out` wrote
    pub dir: PathBuf,
    /// The file to write, whole or not at all
    #[arg(long, short, value_name = "FILE", default_value = "report.html")]
    pub output: PathBuf,
    /// Write each picture as a file of its own into this directory
    #[arg(long, value_name = "DIR")]
    pub svg: Option<PathBuf>,
    /// The workload whose first run is simulated again for the map of busy CPUs; where absent the first that has several
    /// variants, of a table's rows the middle one
    #[arg(long, value_name = "NAME", conflicts_with = "no_heat_map")]
    pub workload: Option<String>,
    /// Leave the map of busy CPUs out, and simulate nothing
    #[arg(long)]
    pub no_heat_map: bool,
    /// The folder of the experiment file, for workloads that name files
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub base: PathBuf,
    /// Report what is left of results that are damaged
    #[arg(long)]
    pub partial: bool,
}
