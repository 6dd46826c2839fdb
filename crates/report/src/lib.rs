//! Tables and pictures as text.

pub mod constants;
pub mod domains_diff;
pub mod domains_tree;
pub mod histogram;
pub mod machine_tree;
pub mod ministat;
pub mod results;
pub mod table;
pub mod validation;
