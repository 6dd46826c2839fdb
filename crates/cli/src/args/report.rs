//! Layouts of results, and `schedscape report`.

use super::CacheArgs;
use clap::{Args as ClapArgs, ValueEnum};
use report::{Layout, Style};
use std::path::PathBuf;

/// How results are laid out.
#[derive(Debug, Clone, ClapArgs)]
pub struct LayoutArgs {
    /// Layout of the tables [default: mmtests for tables with rows, ministat for single workloads]
    #[arg(long, value_enum, conflicts_with = "json")]
    pub style: Option<StyleName>,
    /// Print CSV, one line per variant and quantity
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

    /// Refuses a layout of single results for those of several `engines`.
    pub fn refuse_for_several(&self, engines: usize) -> Result<(), String> {
        match self.layout() {
            Layout::Whole => Ok(()),
            _ => Err(format!("--style and --csv: found {engines} engines, expected one")),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum StyleName {
    /// Tables of figures and changes, as MMTests prints them
    Mmtests,
    /// One ministat table per quantity
    Ministat,
    /// One line per variant, with a sparkline of its runs
    Plain,
    /// Markdown tables
    Markdown,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  schedscape report out/big-core
  schedscape report out/big-core --output big-core.html --svg pictures
  schedscape report out/both/sim out/both/vm
  schedscape report out/boot-6.12 out/boot-7.2
  schedscape report out/clusters --workload hackbench-48 --output clusters.html")]
pub struct ReportArgs {
    /// A directory written by `run --out`, or several of the same experiment: the page is of the first, those of other engines are
    /// set beside it, those of this computer's boots (`--engine host`) joined
    #[arg(required = true, value_name = "DIR")]
    pub dirs: Vec<PathBuf>,
    /// One more directory; may be repeated
    #[arg(long, value_name = "DIR")]
    pub beside: Vec<PathBuf>,
    /// File to write; it appears only when complete
    #[arg(long, short, value_name = "FILE", default_value = "report.html")]
    pub output: PathBuf,
    /// Also write each picture to a file of its own in this directory
    #[arg(long, value_name = "DIR")]
    pub svg: Option<PathBuf>,
    /// Workload whose first run is simulated again for the map of busy CPUs [default: the first
    /// with several variants; the middle row of a table]
    #[arg(long, value_name = "NAME", conflicts_with = "no_heat_map")]
    pub workload: Option<String>,
    /// Omit the map of busy CPUs; nothing is simulated
    #[arg(long)]
    pub no_heat_map: bool,
    /// Directory of the experiment file, for workloads that name files
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub base: PathBuf,
    /// Report what is left of damaged results
    #[arg(long)]
    pub partial: bool,
    #[command(flatten)]
    pub cache: CacheArgs,
}
