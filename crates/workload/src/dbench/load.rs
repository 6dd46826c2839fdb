//! What lies between the `fsync`s of dbench's load, lines 601 to 4173 of `client.txt` of Debian's dbench 4.0, counted in it.
//!
//! They come in bursts: of 43, 21 follow the one before with one or two operations between, 11 others within 60. Of the 3530
//! operations 2140 lie in the four longest stretches.

/// Operations before an `fsync`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stretch {
    /// By kind, as [`super::WORK`] has them: attributes and closing, listing, names, writes, reads.
    pub(super) operations: [u16; 5],
    /// Those of the names that change a directory: creates, unlinks and renames.
    pub(super) transactions: u16,
    /// Whether the file has nothing new since its last `fsync` but data in a page that it had.
    pub(super) overwrites: bool,
}

const fn stretch(operations: [u16; 5], transactions: u16) -> Stretch {
    Stretch { operations, transactions, overwrites: false }
}

const fn overwrite(operations: [u16; 5], transactions: u16) -> Stretch {
    Stretch { operations, transactions, overwrites: true }
}

/// All of a pass. What follows the last `fsync` is with the first, as the load is played again and again.
pub(super) const STRETCHES: [Stretch; 43] = [
    stretch([342, 40, 289, 47, 179], 136),
    overwrite([0, 0, 0, 1, 0], 0),
    overwrite([1, 0, 0, 1, 0], 0),
    overwrite([0, 0, 0, 1, 0], 0),
    overwrite([0, 0, 0, 1, 0], 0),
    stretch([1, 0, 0, 1, 0], 0),
    stretch([19, 2, 12, 5, 6], 4),
    overwrite([0, 0, 0, 1, 0], 0),
    overwrite([1, 0, 0, 1, 0], 0),
    overwrite([0, 0, 0, 1, 0], 0),
    overwrite([0, 0, 0, 1, 0], 0),
    stretch([1, 0, 0, 1, 0], 0),
    stretch([21, 2, 15, 5, 12], 5),
    overwrite([0, 0, 0, 1, 0], 0),
    overwrite([1, 0, 0, 1, 0], 0),
    overwrite([0, 0, 0, 1, 0], 0),
    overwrite([0, 0, 0, 1, 0], 0),
    stretch([1, 0, 0, 1, 0], 0),
    stretch([21, 7, 14, 5, 24], 4),
    stretch([1, 0, 0, 1, 0], 0),
    stretch([14, 1, 11, 5, 5], 4),
    stretch([1, 0, 0, 1, 0], 0),
    stretch([25, 5, 17, 5, 11], 5),
    stretch([1, 0, 0, 1, 0], 0),
    stretch([192, 27, 86, 42, 150], 29),
    stretch([60, 9, 45, 14, 22], 6),
    stretch([0, 0, 0, 1, 0], 0),
    stretch([110, 12, 71, 16, 40], 10),
    stretch([0, 0, 0, 1, 0], 0),
    stretch([0, 0, 0, 1, 0], 0),
    stretch([218, 29, 80, 45, 84], 12),
    stretch([14, 5, 5, 4, 2], 2),
    stretch([18, 2, 10, 7, 2], 6),
    stretch([24, 3, 15, 16, 2], 9),
    stretch([74, 16, 32, 11, 157], 15),
    stretch([34, 2, 19, 24, 74], 8),
    stretch([24, 3, 11, 2, 19], 5),
    stretch([8, 1, 5, 2, 1], 2),
    stretch([31, 3, 16, 8, 138], 9),
    stretch([25, 15, 10, 16, 33], 3),
    overwrite([2, 3, 0, 1, 1], 0),
    overwrite([2, 20, 0, 1, 0], 0),
    overwrite([0, 8, 0, 1, 0], 0),
];
