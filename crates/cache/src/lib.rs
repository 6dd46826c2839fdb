//! A line-by-line model of a core's caches and of POWER8's micro-partition prefetch engine, which logs their contents and
//! restores them later.
//!
//! [`Hierarchy`] is the caches of a core, [`Engine`] its prefetch engine. Caches are set-associative with LRU replacement. An
//! address is the number of a cache line ([`Line`]). To save time, simulate a sample of the sets ([`Sampling`]): a cache with
//! every S-th set, and programs that touch every S-th line, behave like the whole.
//!
//! The crate is pure. It knows nothing of scheduling or randomness, and callers tell it the time.

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
pub use mppr::{Extent, Mppr};
pub use pattern::{Chase, Walk};
pub use sampling::Sampling;
pub use set_associative::{Cache, Evicted, Geometry, Hit, Line, MAX_LINE};
pub use streams::Streams;
pub use table::{Entry, LogTable, SizeClass, TableAddress, Tables};

/// An impossible shape, address or operand. The message says what was found and what was expected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CacheError {
    /// An impossible shape of a cache.
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
    /// A table that is not aligned to the largest size of its class.
    #[error("log table: address: found {found:#x}, expected a multiple of {expected:#x}")]
    Misaligned {
        /// The address.
        found: u64,
        /// The size class's bytes.
        expected: u64,
    },
    /// A table larger than its size class allows.
    #[error("log table: size: found {found} bytes, expected at most {expected}")]
    Oversized {
        /// Bytes asked for.
        found: u64,
        /// The size class's bytes.
        expected: u64,
    },
    /// An address with bits that do not fit into the operand.
    #[error("log table: address: found {found:#x}, expected one below {expected:#x}")]
    Address {
        /// The address.
        found: u64,
        /// The first address out of reach.
        expected: u64,
    },
    /// An address without a table.
    #[error(
        "log table: address: found {found:#x}, expected one of the {number} tables from {first:#x} on"
    )]
    NoTable {
        /// The address.
        found: u64,
        /// The address of the first table.
        first: u64,
        /// Number of consecutive tables.
        number: usize,
    },
    /// Bits without a meaning.
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
        /// The sampling asked for: one set in this many.
        found: u32,
        /// The largest that leaves a set.
        most: u32,
    },
}
