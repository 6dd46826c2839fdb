//! What people look at: tables, histograms and comparisons as text, JSON and CSV; pictures; the HTML report.
//!
//! Everything of results is rendered from one [`results::Analysis`]. Nothing is computed of runs here, and nothing is printed.

pub mod charts;
mod comparison;
mod computers;
pub mod constants;
pub mod costs;
mod counters;
pub mod domains_diff;
pub mod domains_tree;
pub mod effects;
pub mod effects_svg;
mod error;
mod hangs;
mod heat_cells;
mod histogram;
pub mod html;
pub mod inspection;
pub mod json;
mod layouts;
pub mod lines;
pub mod machine_diff;
mod machine_levels;
pub mod machine_svg;
#[cfg(test)]
mod machine_testing;
pub mod machine_tree;
mod machine_words;
mod ministat;
pub mod mmtests;
pub mod number;
#[cfg(test)]
mod page_testing;
pub mod prefetch_sweep;
pub mod prefetch_sweep_svg;
mod robust;
pub mod setup;
pub mod sides;
mod sparkline;
pub mod table;
pub mod text;
pub mod turns;
pub mod validation;
mod words;
mod workload;

pub use error::ReportError;
pub use layouts::Style;
pub use text::Layout;
