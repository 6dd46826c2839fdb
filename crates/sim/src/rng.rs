//! Random streams that depend on the seed and their purpose only, and draws that give the same bits on any machine.
//!
//! Logarithms come from the `libm` crate, not from the platform, whose results differ in the last bit.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use workload::Spread;

/// What a stream is for. A draw from one stream never shifts another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u64)]
pub enum Purpose {
    /// Order of events at the same time.
    Ties = 1,
    /// Lengths of work and sleep.
    Work = 2,
    /// The state the machine starts in.
    Start = 3,
    /// Think times of users on other machines.
    Clients = 4,
    /// Whether newly idle balancing runs (`NI_RANDOM`).
    Balance = 5,
    /// Where the slots of clocks begin, and when governors sample first.
    Clocks = 6,
    /// Where partitions lie in memory, and when idle ones wake.
    Partitions = 7,
    /// Order of runs on real kernels.
    Order = 8,
    /// Cases of a search for bugs in a kernel tree.
    Cases = 9,
}

/// One stream.
#[derive(Debug, Clone)]
pub struct Stream(Xoshiro256PlusPlus);

impl Stream {
    /// The stream of `purpose` under `seed`.
    pub fn new(seed: u64, purpose: Purpose) -> Stream {
        Stream(Xoshiro256PlusPlus::seed_from_u64(
            seed ^ (purpose as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15),
        ))
    }

    /// 32 random bits.
    pub fn bits(&mut self) -> u32 {
        self.0.next_u32()
    }

    /// A uniform number in `(0, 1)`.
    pub fn unit(&mut self) -> f64 {
        ((self.0.next_u64() >> 12) as f64 + 0.5) / (1u64 << 52) as f64
    }

    /// A uniform integer in `[0, n)`; 0 for `n` = 0.
    pub fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.0.next_u64()) * u128::from(n)) >> 64) as u64
    }

    /// Puts `items` into a random order (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last as u64 + 1) as usize);
        }
    }

    /// A draw around `centre`: the mean for `Fixed` and `Exponential`, the median for `LogNormal`, what
    /// most draws are for `Bimodal`.
    pub fn draw(&mut self, centre: f64, spread: Spread) -> f64 {
        match spread {
            Spread::Fixed => centre,
            Spread::Exponential => -centre * libm::log(self.unit()),
            Spread::Bimodal { share, factor } if self.unit() < share => centre * factor,
            Spread::Bimodal { .. } => centre,
            Spread::LogNormal(sigma) => centre * libm::exp(sigma * self.normal()),
        }
    }

    /// A standard normal draw (Box and Muller).
    fn normal(&mut self) -> f64 {
        let radius = libm::sqrt(-2.0 * libm::log(self.unit()));
        radius * libm::cos(std::f64::consts::TAU * self.unit())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_repeat_and_differ() {
        let take = |seed, purpose| {
            let mut s = Stream::new(seed, purpose);
            [s.bits(), s.bits(), s.bits()]
        };
        assert_eq!(take(7, Purpose::Work), take(7, Purpose::Work));
        assert_ne!(take(7, Purpose::Work), take(7, Purpose::Ties));
        assert_ne!(take(7, Purpose::Work), take(8, Purpose::Work));
    }

    #[test]
    fn draws_have_their_centre() {
        let mut s = Stream::new(1, Purpose::Work);
        let n = 100_000;
        let mean = (0..n).map(|_| s.draw(5.0, Spread::Exponential)).sum::<f64>() / f64::from(n);
        assert!((mean - 5.0).abs() < 0.1, "{mean}");
        let above = (0..n).filter(|_| s.draw(5.0, Spread::LogNormal(1.0)) > 5.0).count();
        assert!((above as f64 / f64::from(n) - 0.5).abs() < 0.01, "{above}");
        let bimodal = Spread::Bimodal { share: 0.2, factor: 3.0 };
        let mean = (0..n).map(|_| s.draw(5.0, bimodal)).sum::<f64>() / f64::from(n);
        assert!((mean - 7.0).abs() < 0.1, "{mean}");
    }
}
