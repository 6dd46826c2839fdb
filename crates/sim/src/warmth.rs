//! How much of a working set a cache holds, and what misses: expected values in closed form.
//!
//! Touches are spread evenly over the working set, and a fill evicts a random line. Over a stretch of work in which
//! a task makes `touches`, and `other_bytes` that are not its working set come into the cache at an even pace, its
//! warm bytes `w` follow `dw/ds = a (W - w) - b w` for `s` from 0 to 1, with `a = touches * line / W` and
//! `b = other_bytes / size`: the missing part fills, the warm part is evicted. It never exceeds `min(W, size)`.

/// A working set and the cache that holds part of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fit {
    pub(crate) set_bytes: f64,
    pub(crate) size_bytes: f64,
    pub(crate) line_bytes: f64,
}

/// What a stretch of work leaves.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Stretch {
    pub(crate) warm_bytes: f64,
    /// Touches that missed.
    pub(crate) misses: f64,
}

impl Fit {
    /// A stretch that begins with `warm_bytes`.
    pub(crate) fn stretch(&self, warm_bytes: f64, touches: f64, other_bytes: f64) -> Stretch {
        let set = self.set_bytes;
        let most = set.min(self.size_bytes);
        let start = warm_bytes.min(most);
        let a = touches * self.line_bytes / set;
        let b = other_bytes / self.size_bytes;
        let k = a + b;
        if k <= 0.0 {
            return Stretch { warm_bytes: start, misses: 0.0 };
        }
        let limit = set * a / k;
        // Where the cache is full before the end, the rest of the stretch goes on full.
        let full_at =
            if limit > most { libm::log((limit - start) / (limit - most)) / k } else { 1.0 };
        let filling = full_at.min(1.0);
        let faded = -libm::expm1(-k * filling);
        // The mean of w over the stretch.
        let mean = limit * filling - (limit - start) * faded / k + most * (1.0 - filling);
        let end = if full_at < 1.0 { most } else { limit - (limit - start) * (1.0 - faded) };
        Stretch {
            warm_bytes: end.clamp(0.0, most),
            misses: (touches * (1.0 - mean / set)).clamp(0.0, touches),
        }
    }
}

/// Part of what lies in a cache that is still there after `other_bytes` came in.
pub(crate) fn survives(other_bytes: f64, size_bytes: f64) -> f64 {
    libm::exp(-other_bytes / size_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The same by small steps.
    fn by_steps(fit: Fit, start: f64, touches: f64, other: f64) -> Stretch {
        let most = fit.set_bytes.min(fit.size_bytes);
        let (mut w, mut misses) = (start.min(most), 0.0);
        let steps = 200_000.0;
        for _ in 0..steps as u32 {
            let missed = touches / steps * (1.0 - w / fit.set_bytes);
            misses += missed;
            w += missed * fit.line_bytes - other / steps * w / fit.size_bytes;
            w = w.min(most);
        }
        Stretch { warm_bytes: w, misses }
    }

    #[test]
    fn closed_form_is_the_integral() {
        for (set, size, start, touches, other) in [
            (1e5, 1e6, 0.0, 3e3, 0.0),
            (1e5, 1e6, 4e4, 2e3, 5e5),
            (4e6, 1e6, 0.0, 1e5, 0.0),
            (4e6, 1e6, 5e5, 1e4, 2e6),
            (4e6, 1e6, 1e6, 1e5, 1e5),
            (1e5, 1e6, 1e5, 0.0, 1e6),
        ] {
            let fit = Fit { set_bytes: set, size_bytes: size, line_bytes: 64.0 };
            let (found, wanted) =
                (fit.stretch(start, touches, other), by_steps(fit, start, touches, other));
            let near = |a: f64, b: f64| (a - b).abs() <= 1e-3 * b.abs() + 1e-6 * touches.max(1.0);
            assert!(near(found.warm_bytes, wanted.warm_bytes), "{found:?} {wanted:?}");
            assert!(near(found.misses, wanted.misses), "{found:?} {wanted:?}");
        }
    }

    #[test]
    fn a_cold_set_that_fits_is_fetched_once() {
        let fit = Fit { set_bytes: 64e3, size_bytes: 1e6, line_bytes: 64.0 };
        let touches: f64 = 2_000.0;
        let lines = 1_000.0;
        let expected = lines * (1.0 - libm::exp(-touches / lines));
        assert!((fit.stretch(0.0, touches, 0.0).misses - expected).abs() < 1e-6);
    }

    proptest! {
        /// More warmth never means more misses; more touches or less eviction never leave less; bytes and misses
        /// stay within what there is; and a stretch is the sum of its parts.
        #[test]
        fn warmth_is_monotonic(
            set in 1e3f64..1e8, size in 1e4f64..1e8, part in 0.0f64..1.0, more in 0.0f64..1.0,
            touches in 0.0f64..1e6, other in 0.0f64..1e8,
        ) {
            let fit = Fit { set_bytes: set, size_bytes: size, line_bytes: 64.0 };
            let most = set.min(size);
            let (low, high) = (most * part.min(more), most * part.max(more));
            let near = |bytes: f64| 1e-9 * bytes + 1e-9;
            let (a, b) = (fit.stretch(low, touches, other), fit.stretch(high, touches, other));
            prop_assert!(b.misses <= a.misses + near(touches));
            prop_assert!(b.warm_bytes >= a.warm_bytes - near(most));
            let calm = fit.stretch(low, touches, other / 2.0);
            prop_assert!(calm.warm_bytes >= a.warm_bytes - near(most));
            prop_assert!(calm.misses <= a.misses + near(touches));
            prop_assert!(fit.stretch(low, 0.0, other).warm_bytes <= low);
            prop_assert!((0.0..=most).contains(&a.warm_bytes));
            let first = fit.stretch(low, touches / 2.0, other / 2.0);
            let second = fit.stretch(first.warm_bytes, touches / 2.0, other / 2.0);
            prop_assert!((second.warm_bytes - a.warm_bytes).abs() <= 1e-6 * most);
            prop_assert!((first.misses + second.misses - a.misses).abs() <= 1e-6 * touches + 1e-6);
        }
    }
}
