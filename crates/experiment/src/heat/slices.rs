//! Sums over equal slices of time.

/// Most slices of a run. Where a run outlasts them, slices are joined two by two, so that a run has at least half as many.
pub const MOST_SLICES: usize = 320;
/// Length of a slice before any are joined.
pub(super) const FIRST_SLICE_NS: u64 = 1000;

/// Rows of slices, each a sum of `value x ns`.
#[derive(Debug)]
pub(super) struct Slices {
    /// Length of a slice now.
    pub(super) slice_ns: u64,
    /// By row and slice.
    pub(super) sums: Vec<Vec<f64>>,
}

impl Slices {
    pub(super) fn new(rows: usize) -> Slices {
        Slices { slice_ns: FIRST_SLICE_NS, sums: vec![vec![0.0; MOST_SLICES]; rows] }
    }

    /// One row more.
    pub(super) fn grow(&mut self) {
        self.sums.push(vec![0.0; MOST_SLICES]);
    }

    /// Joins slices until `at_ns` is in one.
    pub(super) fn reach(&mut self, at_ns: u64) {
        while at_ns > self.slice_ns * MOST_SLICES as u64 {
            self.slice_ns *= 2;
            for slices in &mut self.sums {
                for at in 0..MOST_SLICES / 2 {
                    slices[at] = slices[2 * at] + slices[2 * at + 1];
                }
                slices[MOST_SLICES / 2..].fill(0.0);
            }
        }
    }

    /// `row` has `value` from one point in time to another.
    pub(super) fn add(&mut self, row: usize, mut from_ns: u64, to_ns: u64, value: f64) {
        self.reach(to_ns);
        while from_ns < to_ns {
            let slice = from_ns / self.slice_ns;
            let end_ns = to_ns.min((slice + 1) * self.slice_ns);
            self.sums[row][slice as usize] += value * (end_ns - from_ns) as f64;
            from_ns = end_ns;
        }
    }

    /// Means over the slices of a run that ends at `end_ns`; the last slice's is over what the run has of it.
    pub(super) fn means(&mut self, end_ns: u64) -> Vec<Vec<f64>> {
        self.reach(end_ns);
        let slices = end_ns.div_ceil(self.slice_ns) as usize;
        let length_ns = |at: usize| (end_ns - at as u64 * self.slice_ns).min(self.slice_ns);
        let mean = |(at, &sum): (usize, &f64)| sum / length_ns(at) as f64;
        let row = |sums: &Vec<f64>| sums.iter().take(slices).enumerate().map(mean).collect();
        self.sums.iter().map(row).collect()
    }
}
