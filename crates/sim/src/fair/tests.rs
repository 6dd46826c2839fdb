//! Rules of the class, each on both sides of the release that brought it.

mod asym;
mod averages;
mod detach;
mod idlest;
mod inherited;
mod intervals;
mod load;
mod newidle;
mod nohz;
mod packing;
mod pinned;
mod search;
mod smt;
mod tracking;
