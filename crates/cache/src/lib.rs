//! An address-level model of a core's caches, and of POWER8's micro-partition prefetch engine, which logs their contents
//! and restores them.
//!
//! Pure: nothing here knows of scheduling, of time other than what it is told, or of randomness. Caches are
//! set-associative with least-recently-used replacement; an address is the number of a line ([`Line`]). Sets can be
//! sampled ([`Sampling`]): a cache with every S-th set, and programs that touch every S-th line, behave as the whole.

mod engine;
mod hierarchy;
mod logmpp;
mod mppr;
mod pattern;
mod sampling;
mod set_associative;
mod streams;
mod table;

pub use engine::{Engine, EngineCounters, EnginePace};
pub use hierarchy::{Access, Hierarchy, Kind, Level, Shape};
pub use logmpp::{LogControl, Logmpp};
pub use mppr::{Extent, Mppr, Rate};
pub use pattern::{Chase, Walk};
pub use sampling::Sampling;
pub use set_associative::{Cache, Evicted, Geometry, Hit, Line, MAX_LINE};
pub use streams::Streams;
pub use table::{Entry, LogTable, SizeClass, TableAddress, Tables};

/// What cannot be: one error with what was found and what was expected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CacheError {
    /// A cache of a shape that cannot be.
    #[error("{cache}: {field}: found {found}, expected {expected}")]
    Geometry {
        /// Which cache.
        cache: &'static str,
        /// Its field.
        field: &'static str,
        /// What it holds.
        found: u64,
        /// What is possible.
        expected: &'static str,
    },
    /// A table that is not aligned to the most that its size class takes.
    #[error("log table: address: found {found:#x}, expected a multiple of {expected:#x}")]
    Misaligned {
        /// The address.
        found: u64,
        /// The size class's bytes.
        expected: u64,
    },
    /// A table of more bytes than its size class takes.
    #[error("log table: size: found {found} bytes, expected at most {expected}")]
    Oversized {
        /// Bytes asked for.
        found: u64,
        /// The size class's bytes.
        expected: u64,
    },
    /// An address with bits that the operand has no room for.
    #[error("log table: address: found {found:#x}, expected one below {expected:#x}")]
    Address {
        /// The address.
        found: u64,
        /// The first address out of reach.
        expected: u64,
    },
    /// An address where no table lies.
    #[error(
        "log table: address: found {found:#x}, expected one of the {number} tables from {first:#x} on"
    )]
    NoTable {
        /// The address.
        found: u64,
        /// The first table's.
        first: u64,
        /// Tables in a row.
        number: usize,
    },
    /// Bits that mean nothing.
    #[error("{register}: {field}: found {found:#x}, expected {expected}")]
    Bits {
        /// The register or operand.
        register: &'static str,
        /// The field.
        field: &'static str,
        /// Its bits, in place.
        found: u64,
        /// What is possible.
        expected: &'static str,
    },
    /// A sampling that leaves a cache without sets.
    #[error("sampling: found one set in {found}, expected a power of two up to {most}")]
    Sampling {
        /// One set in so many.
        found: u32,
        /// The most.
        most: u32,
    },
}
