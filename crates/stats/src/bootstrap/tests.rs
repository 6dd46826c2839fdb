use super::*;
use proptest::prelude::*;

const A: [f64; 10] = [6.174, 6.02, 5.871, 7.25, 4.225, 6.31, 9.754, 5.99, 6.182, 6.1];
const B: [f64; 9] = [6.08, 5.12, 4.069, 5.93, 6.745, 5.31, 5.7, 6.05, 4.88];

fn settings(resamples: u32, seed: u64, level: f64) -> Resampling {
    Resampling::new(resamples, seed, Confidence::new(level).unwrap()).unwrap()
}

fn near(a: f64, b: f64, tolerance: f64) {
    assert!((a - b).abs() <= tolerance, "{a} is not {b} within {tolerance}");
}

/// scipy 1.17: `f = lambda x, y, axis=-1: 100 * y.mean(axis=axis) / x.mean(axis=axis) - 100` and
/// `scipy.stats.bootstrap((a, b), f, method='BCa', n_resamples=1000000, batch=20000, vectorized=True,
/// confidence_level=L, random_state=1)`; the lower-is-better interval is its mirror image.
/// R 4.2's `boot.ci(type = "bca")` on 400,000 resamples gives -27.73 to -0.78 and -32.34 to 2.92
/// with the infinitesimal jackknife in place of the ordinary one.
#[test]
fn interval_equals_scipy() {
    let by_scipy = [
        (0.95, -27.842714827088866, -0.9674904396840286),
        (0.99, -32.49548908566645, 2.663129125995543),
    ];
    for (level, low, high) in by_scipy {
        let rise = percent_change(&A, &B, Better::Higher, &settings(400_000, 7, level)).unwrap();
        near(rise.estimate, -13.227712025382516, 1e-12);
        near(rise.low, low, 0.15);
        near(rise.high, high, 0.15);
        let gain = percent_change(&A, &B, Better::Lower, &settings(400_000, 7, level)).unwrap();
        near(gain.estimate, -rise.estimate, 1e-12);
        near(gain.low, -rise.high, 1e-9);
        near(gain.high, -rise.low, 1e-9);
    }
}

/// The same jackknife in numpy as scipy's `_bca_interval` runs it.
#[test]
fn acceleration_equals_scipy() {
    near(acceleration(&A, &B, Better::Higher), -0.04609973534050449, 1e-12);
    near(acceleration(&A, &B, Better::Lower), 0.04609973534050449, 1e-12);
}

/// numpy: `np.quantile([1, 2, 4, 8], [0, .25, .5, .9, 1])`
#[test]
fn quantile_equals_numpy() {
    let by_numpy = [(0.0, 1.0), (0.25, 1.75), (0.5, 3.0), (0.9, 6.8), (1.0, 8.0)];
    for (p, q) in by_numpy {
        near(quantile(&[1.0, 2.0, 4.0, 8.0], p), q, 1e-12);
    }
}

#[test]
fn seed_decides() {
    let interval = |seed| percent_change(&A, &B, Better::Lower, &settings(2000, seed, 0.95));
    assert_eq!(interval(1), interval(1));
    assert_ne!(interval(1), interval(2));
    // Recorded here, so that no change of the computation goes unseen.
    near(interval(1).unwrap().low, 0.8916409938152496, 1e-9);
    near(interval(1).unwrap().high, 27.235715589619264, 1e-9);
}

/// Pins the stream: a change of generator, seeding or draw order shows here.
#[test]
fn stream_is_value_stable() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(42);
    let drawn: Vec<u64> = (0..3).map(|_| rng.next_u64()).collect();
    assert_eq!(drawn, [15021278609987233951, 5881210131331364753, 18149643915985481100]);
}

#[test]
fn samples_without_spread_have_an_interval_without_width() {
    let s = settings(1000, 1, 0.95);
    let half = percent_change(&[4.0; 50], &[2.0; 20], Better::Lower, &s).unwrap();
    assert_eq!((half.low, half.estimate, half.high), (50.0, 50.0, 50.0));
    let none = percent_change(&[0.1; 100], &[0.1; 7], Better::Lower, &s).unwrap();
    assert_eq!((none.low, none.estimate, none.high), (0.0, 0.0, 0.0));
}

#[test]
fn samples_that_carry_no_percentage_have_none() {
    let s = settings(1000, 1, 0.95);
    let of = |base: &[f64], variant: &[f64]| percent_change(base, variant, Better::Higher, &s);
    assert_eq!(of(&[], &[1.0, 2.0]), None);
    assert_eq!(of(&[1.0, 2.0], &[1.0]), None);
    assert_eq!(of(&[1.0, -2.0], &[1.0, 2.0]), None);
    assert_eq!(of(&[1.0, f64::NAN], &[1.0, 2.0]), None);
    assert_eq!(of(&[0.0, 0.0, 5.0], &[1.0, 2.0]), None);
    // A third of such resamples hold nothing but zeros: the upper end is infinite.
    assert_eq!(of(&[0.0, 0.0, 0.0, 0.0, 1.0, 1.0], &[1.0, 2.0]), None);
    // Here next to none do.
    let mut counts = [3.0; 40];
    counts[7] = 0.0;
    assert!(of(&counts, &[1.0, 2.0]).is_some());
}

#[test]
fn refuses_senseless_numbers_of_resamples() {
    for bad in [0, 99, 1_000_001] {
        let message = Resampling::new(bad, 1, Confidence::P95).unwrap_err().to_string();
        assert_eq!(message, format!("resamples: found {bad}, expected 100 to 1000000"));
    }
}

proptest! {
    #[test]
    fn any_samples_give_ordered_finite_intervals_or_none(
        a in prop::collection::vec(any::<f64>(), 0..8),
        b in prop::collection::vec(0.0..1e6f64, 0..8),
        c in prop::collection::vec(prop_oneof![Just(0.0), 0.0..10f64], 0..8),
        level in 0.5..0.999f64,
    ) {
        for (x, y) in [(&a, &b), (&b, &a), (&b, &c), (&c, &b)] {
            if let Some(i) = percent_change(x, y, Better::Higher, &settings(100, 3, level)) {
                prop_assert!(i.low.is_finite() && i.high.is_finite() && i.low <= i.high, "{i:?}");
            }
        }
    }

    #[test]
    fn wider_confidence_gives_a_wider_interval(
        a in prop::collection::vec(1.0..9f64, 2..12),
        b in prop::collection::vec(1.0..9f64, 2..12),
    ) {
        let of = |level| percent_change(&a, &b, Better::Lower, &settings(500, 5, level)).unwrap();
        let (narrow, wide) = (of(0.8), of(0.95));
        prop_assert!(wide.low <= narrow.low && narrow.high <= wide.high);
    }
}
