//! Holm's step-down correction for a family of tests (S. Holm, "A Simple Sequentially Rejective Multiple Test Procedure",
//! Scandinavian Journal of Statistics 6, 1979).

use crate::error::StatsError;

/// Adjusts the p-values of a family of tests, in the order given. If you claim a difference wherever the adjusted value is
/// below `alpha`, the probability of any false claim in the family is at most `alpha`, however the tests depend on each other.
///
/// The i-th smallest of m values is multiplied by m - i + 1 (i from 1), raised to at least the one before and capped at 1,
/// like R's `p.adjust(method = "holm")`.
pub fn holm(p_values: &[f64]) -> Result<Vec<f64>, StatsError> {
    if let Some(index) = p_values.iter().position(|p| !(0.0..=1.0).contains(p)) {
        return Err(StatsError::Probability { index, found: p_values[index] });
    }
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    let mut adjusted = vec![0.0; p_values.len()];
    let mut largest: f64 = 0.0;
    for (place, &index) in order.iter().enumerate() {
        let tests_left = (p_values.len() - place) as f64;
        largest = largest.max(tests_left * p_values[index]).min(1.0);
        adjusted[index] = largest;
    }
    Ok(adjusted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// R 4.2: `p.adjust(c(0.01, 0.02, 0.03, 0.005, 0.8, 0.04, 0.0001), method = "holm")`; statsmodels 0.15:
    /// `multipletests([...], method="holm")[1]` gives the same.
    #[test]
    fn equals_r_and_statsmodels() {
        let by_r = [0.05, 0.08, 0.09, 0.03, 0.8, 0.09, 0.0007];
        let ours = holm(&[0.01, 0.02, 0.03, 0.005, 0.8, 0.04, 0.0001]).unwrap();
        for (ours, r) in ours.iter().zip(by_r) {
            assert!((ours - r).abs() < 1e-12, "{ours} is not {r}");
        }
    }

    #[test]
    fn no_test_and_no_probability() {
        assert_eq!(holm(&[]), Ok(vec![]));
        assert_eq!(holm(&[0.6, 0.6]), Ok(vec![1.0, 1.0]));
        let message = holm(&[0.5, f64::NAN]).unwrap_err().to_string();
        assert_eq!(message, "p-values[1]: found NaN, expected 0 to 1");
        assert!(holm(&[1.5]).is_err());
    }

    proptest! {
        #[test]
        fn lies_between_the_raw_value_and_bonferronis(p in prop::collection::vec(0.0..=1.0f64, 1..30)) {
            let m = p.len() as f64;
            for (raw, adjusted) in p.iter().zip(holm(&p).unwrap()) {
                prop_assert!(*raw <= adjusted && adjusted <= (raw * m).min(1.0) + 1e-12);
            }
        }
    }
}
