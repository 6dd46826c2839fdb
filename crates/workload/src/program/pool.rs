//! Iterations of a loop that tasks share, as OpenMP's `dynamic` and `guided` schedules divide them.

/// How many iterations a task takes at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Chunks {
    /// So many, at least 1 (`schedule(dynamic, chunk)`).
    Dynamic(u32),
    /// What is left divided by the parties, rounded up, and `least` at least (`schedule(guided, chunk)`).
    Guided {
        /// At least 1.
        least: u32,
        /// Those who take, at least 1.
        parties: u32,
    },
}

/// A loop whose iterations' work goes evenly from the first one's to the last one's.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pool {
    /// Iterations.
    pub iterations: u32,
    /// Core cycles of the first.
    pub first_cycles: f64,
    /// Core cycles of the last.
    pub last_cycles: f64,
    /// How they are taken.
    pub chunks: Chunks,
}

impl Pool {
    /// Core cycles of the iterations `from..to`.
    pub fn cycles(&self, from: u32, to: u32) -> f64 {
        let count = f64::from(to.saturating_sub(from));
        let of = |at: f64| {
            let part = at / f64::from(self.iterations.max(2) - 1);
            self.first_cycles + (self.last_cycles - self.first_cycles) * part
        };
        // The mean of an even slope is that of its ends.
        count * (of(f64::from(from)) + of(f64::from(to) - 1.0)) / 2.0
    }

    /// The end of the chunk that begins with iteration `from`, which is one of the loop's.
    pub fn chunk_end(&self, from: u32) -> u32 {
        let left = self.iterations - from;
        let size = match self.chunks {
            Chunks::Dynamic(size) => size,
            Chunks::Guided { least, parties } => left.div_ceil(parties.max(1)).max(least),
        };
        from + size.clamp(1, left)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(pool: &Pool) -> Vec<u32> {
        let next = |&from: &u32| (from < pool.iterations).then(|| pool.chunk_end(from));
        std::iter::successors(Some(0), next).skip(1).collect()
    }

    /// `gomp_iter_guided_next` on 20 iterations by 4 threads.
    #[test]
    fn chunks_are_libgomps() {
        let pool = |chunks| Pool { iterations: 20, first_cycles: 1.0, last_cycles: 1.0, chunks };
        assert_eq!(ends(&pool(Chunks::Dynamic(8))), [8, 16, 20]);
        let guided = |least| ends(&pool(Chunks::Guided { least, parties: 4 }));
        assert_eq!(guided(1), [5, 9, 12, 14, 16, 17, 18, 19, 20]);
        assert_eq!(guided(4), [5, 9, 13, 17, 20]);
    }

    #[test]
    fn chunks_add_up_to_the_loop() {
        let pool = Pool {
            iterations: 101,
            first_cycles: 10.0,
            last_cycles: 30.0,
            chunks: Chunks::Guided { least: 2, parties: 3 },
        };
        assert!((pool.cycles(0, 101) - 101.0 * 20.0).abs() < 1e-9);
        assert_eq!((pool.cycles(0, 1), pool.cycles(100, 101)), (10.0, 30.0));
        let froms = std::iter::once(0).chain(ends(&pool));
        let sum: f64 = froms.zip(ends(&pool)).map(|(from, to)| pool.cycles(from, to)).sum();
        assert!((sum - 101.0 * 20.0).abs() < 1e-9, "{sum}");
    }
}
