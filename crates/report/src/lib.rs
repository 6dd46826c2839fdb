//! Tables and pictures as text.

pub mod histogram;
pub mod machine_tree;
pub mod ministat;
pub mod table;
