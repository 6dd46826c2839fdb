//! How samples spread, in a few characters.

/// Heights of a bar, the lowest first.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Lowest and highest of all finite samples; `None` without any.
pub fn range<'a>(samples: impl IntoIterator<Item = &'a [f64]>) -> Option<(f64, f64)> {
    let values = samples.into_iter().flatten().filter(|v| v.is_finite());
    values.fold(None, |range: Option<(f64, f64)>, &v| {
        Some(range.map_or((v, v), |(low, high)| (low.min(v), high.max(v))))
    })
}

/// `samples` counted in `width` equal bins over `range`, a bar each: a blank where there are none, the highest for the fullest.
pub fn sparkline(samples: &[f64], range: (f64, f64), width: usize) -> String {
    let counts = counts(samples, range, width);
    let most = counts.iter().copied().max().unwrap_or(0).max(1);
    let bar = |&count: &usize| match count {
        0 => ' ',
        _ => BARS[(count * BARS.len()).div_ceil(most) - 1],
    };
    counts.iter().map(bar).collect()
}

/// Samples in each of `bins` equal bins over `range`; those outside, and what is no number, are in none.
pub(crate) fn counts(samples: &[f64], (low, high): (f64, f64), bins: usize) -> Vec<usize> {
    let mut counts = vec![0; bins];
    for &value in samples.iter().filter(|v| (low..=high).contains(*v)) {
        let part = if high > low { (value - low) / (high - low) } else { 0.5 };
        let bin = ((part * bins as f64) as usize).min(bins.saturating_sub(1));
        if let Some(count) = counts.get_mut(bin) {
            *count += 1;
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_grow_with_the_number_of_samples() {
        let samples = [0.0, 0.1, 0.2, 0.3, 4.0, 10.0, 10.0];
        assert_eq!(range([&samples[..], &[f64::NAN]]), Some((0.0, 10.0)));
        assert_eq!(sparkline(&samples, (0.0, 10.0), 5), "█ ▂ ▄");
        assert_eq!(sparkline(&[3.0], (3.0, 3.0), 3), " █ ");
        assert_eq!(sparkline(&[], (0.0, 1.0), 2), "  ");
        assert_eq!(range([&[][..]]), None);
    }
}
