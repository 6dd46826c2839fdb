//! Tables and pictures as text, and pictures of machines.

pub mod charts;
pub mod comparison;
pub mod constants;
pub mod counters;
pub mod domains_diff;
pub mod domains_tree;
pub mod engines;
mod error;
pub mod findings;
pub mod histogram;
pub mod html;
pub mod machine_diff;
mod machine_levels;
pub mod machine_svg;
#[cfg(test)]
mod machine_testing;
pub mod machine_tree;
mod machine_words;
pub mod ministat;
pub mod prefetch_sweep;
pub mod prefetch_sweep_svg;
pub mod results;
pub mod sparkline;
pub mod styles;
pub mod table;
pub mod validation;

pub use error::ReportError;
