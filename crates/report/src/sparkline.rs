//! How samples spread, and values over time, in a few characters.

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
    let counts: Vec<f64> =
        counts(samples, range, width).into_iter().map(|count| count as f64).collect();
    bars(&counts)
}

/// `values` as no more than `width` bars, each of the mean of as many values.
pub fn over_time(values: &[f64], width: usize) -> String {
    let each = values.len().div_ceil(width.max(1)).max(1);
    let means: Vec<f64> = values.chunks(each).filter_map(stats::amean).collect();
    bars(&means)
}

/// A bar each: a blank for 0, the highest for the most.
fn bars(values: &[f64]) -> String {
    let most = values.iter().copied().fold(0.0, f64::max);
    let bar = |&value: &f64| match value {
        value if value > 0.0 => {
            let height = (value * BARS.len() as f64 / most).ceil() as usize;
            BARS[height.clamp(1, BARS.len()) - 1]
        }
        _ => ' ',
    };
    values.iter().map(bar).collect()
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

    #[test]
    fn values_over_time_are_means_of_a_few() {
        assert_eq!(over_time(&[0.0, 1.0, 4.0, 8.0], 60), " ▁▄█");
        assert_eq!(over_time(&[1.0; 120], 60), "█".repeat(60));
        assert_eq!(over_time(&[0.0, 2.0, 4.0, 4.0, 1.0], 2), "▇█");
        assert_eq!(over_time(&[0.0], 60), " ");
        assert_eq!(over_time(&[], 60), "");
    }
}
