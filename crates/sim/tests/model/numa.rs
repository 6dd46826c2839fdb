//! Memory on several nodes, with pencil and paper.

mod balancing;
mod placement;
