//! Claims that only repetition can check: how often intervals cover the truth, how often a thing compared
//! with itself is called different, and how often the smallest detectable effect is seen.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use stats::table::Estimator;
use stats::{
    Better, Cell, Confidence, Mean, Resampling, Row, Table, Verdict, compare, mean_change,
    percent_change,
};

/// Runs a sample has, as in the big-core study.
const RUNS: usize = 100;

/// A seeded source of run times.
struct Source(Xoshiro256PlusPlus);

impl Source {
    fn new(seed: u64) -> Source {
        Source(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// Uniform in (0, 1].
    fn uniform(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) + 1) as f64 / (1u64 << 53) as f64
    }

    /// Standard normal, by Box and Muller.
    fn normal(&mut self) -> f64 {
        (-2.0 * self.uniform().ln()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// Normal runs around `mean` with 8 % noise.
    fn steady(&mut self, mean: f64) -> Vec<f64> {
        (0..RUNS).map(|_| mean * (1.0 + 0.08 * self.normal())).collect()
    }

    /// Runs like ebizzy's on a big core: a share `good` around 5.5, the others around 3.
    fn bimodal(&mut self, good: f64) -> Vec<f64> {
        (0..RUNS)
            .map(|_| {
                let (mode, noise) = (self.uniform() <= good, 0.15 * self.normal());
                if mode { 5.5 + noise } else { 3.0 + noise }
            })
            .collect()
    }
}

fn settings(resamples: u32, seed: u64) -> Resampling {
    Resampling::new(resamples, seed, Confidence::P95).unwrap()
}

/// Share of 2000 repetitions in which the 95 % interval holds `truth`.
fn coverage(truth: f64, mut pair: impl FnMut(&mut Source) -> (Vec<f64>, Vec<f64>)) -> f64 {
    let mut source = Source::new(2018);
    let covered = (0..2000).filter(|&seed| {
        let (base, variant) = pair(&mut source);
        let i = percent_change(&base, &variant, Better::Higher, &settings(1000, seed)).unwrap();
        i.low <= truth && truth <= i.high
    });
    covered.count() as f64 / 2000.0
}

#[test]
fn interval_covers_the_truth_of_normal_runs() {
    let share = coverage(10.0, |s| (s.steady(5.0), s.steady(5.5)));
    assert!((0.93..=0.97).contains(&share), "{share}");
}

#[test]
fn interval_covers_the_truth_of_bimodal_runs() {
    // Means 0.6 x 5.5 + 0.4 x 3 = 4.5 and 0.89 x 5.5 + 0.11 x 3 = 5.225.
    let truth = 100.0 * 5.225 / 4.5 - 100.0;
    let share = coverage(truth, |s| (s.bimodal(0.6), s.bimodal(0.89)));
    assert!((0.93..=0.97).contains(&share), "{share}");
}

/// 100 batches of 100 comparisons of two samples from one source: at most 2 % claims over all, and at
/// most 5 in any batch.
#[test]
fn a_thing_beside_itself_is_no_different() {
    let mut source = Source::new(7);
    let mut claim = |seed| {
        let (base, variant) = (source.bimodal(0.6), source.bimodal(0.6));
        let c = compare(&base, &variant, Better::Higher, &settings(500, seed)).unwrap();
        c.verdict != Verdict::NoDifference
    };
    let batches: Vec<usize> =
        (0..100).map(|b| (0..100).filter(|r| claim(100 * b + r)).count()).collect();
    let claims: usize = batches.iter().sum();
    assert!(claims <= 200, "{claims} of 10000");
    assert!(claims >= 20, "{claims} of 10000: a verdict that never speaks proves nothing");
    assert!(batches.iter().all(|&b| b <= 5), "{batches:?}");
}

#[test]
fn smallest_detectable_effect_is_seen_four_times_in_five() {
    let mut source = Source::new(11);
    let percent = {
        let (base, variant) = (source.steady(5.0), source.steady(5.0));
        let c = compare(&base, &variant, Better::Higher, &settings(500, 1)).unwrap();
        c.smallest_detectable_percent
    };
    // By the true spread: (2.6009 + 0.8434) x 8 % x sqrt(2 / 100) = 3.90 %.
    assert!((percent - 3.90).abs() < 0.4, "{percent}");
    let seen = (0..1000).filter(|&seed| {
        let (base, mut variant) = (source.steady(5.0), source.steady(5.0));
        variant.iter_mut().for_each(|x| *x += 5.0 * 0.0390);
        let c = compare(&base, &variant, Better::Higher, &settings(1000, seed)).unwrap();
        c.verdict == Verdict::Better
    });
    let share = seen.count() as f64 / 1000.0;
    assert!((0.74..=0.84).contains(&share), "{share}");
}

/// Run times that are lognormal, as latencies are: `exp(N(level, sigma))`.
fn lognormal(source: &mut Source, level: f64, sigma: f64, runs: usize) -> Vec<f64> {
    (0..runs).map(|_| (level + sigma * source.normal()).exp()).collect()
}

/// Arithmetic means of lognormal samples with equal sigma are as far apart as their medians, and so are harmonic ones.
#[test]
fn interval_covers_the_truth_of_lognormal_ratios() {
    let cases = [
        (Mean::Arithmetic, 100, 0.93),
        (Mean::Harmonic, 100, 0.93),
        (Mean::Harmonic, 40, 0.93),
        (Mean::Harmonic, 20, 0.93),
        (Mean::Arithmetic, 20, 0.93),
        (Mean::Harmonic, 10, 0.93),
        (Mean::Arithmetic, 10, 0.93),
    ];
    for (mean, runs, least) in cases {
        let truth = 100.0 * 0.2f64.exp() - 100.0;
        let mut source = Source::new(2020);
        let covered = (0..2000).filter(|&seed| {
            let base = lognormal(&mut source, 3.0, 0.25, runs);
            let variant = lognormal(&mut source, 3.2, 0.25, runs);
            let i = mean_change(mean, &base, &variant, Better::Higher, &settings(1000, seed));
            i.is_some_and(|i| i.low <= truth && truth <= i.high)
        });
        let share = covered.count() as f64 / 2000.0;
        assert!((least..=0.97).contains(&share), "{mean:?} of {runs}: {share}");
    }
}

/// Among 200 tables of 14 rows and 5 columns without any difference, about 5 % claim one at most (8 % is three standard errors away).
#[test]
fn a_table_without_differences_claims_none() {
    let mut source = Source::new(1979);
    let mut claims = |seed| {
        let mut cell = || Cell::of(&lognormal(&mut source, 3.0, 0.1, 20));
        let columns = || ["base", "a", "b", "c", "d", "e"].map(String::from).to_vec();
        let row = |r: usize| Row { label: r.to_string(), cells: (0..6).map(|_| cell()).collect() };
        let table = Table {
            metric: "tput".into(),
            varying: "clients".into(),
            unit: "MB/s".into(),
            better: Better::Higher,
            estimator: Estimator::Hmean,
            columns: columns(),
            rows: (0..14).map(row).collect(),
        };
        let compared = table.compare(&settings(1000, seed), Confidence::P95).unwrap();
        let mut changes =
            compared.rows.iter().flat_map(|r| r.cells.iter().filter_map(|c| c.change()));
        changes.any(|c| c.verdict != Verdict::NoDifference)
    };
    let share = (0..200).filter(|&seed| claims(seed)).count() as f64 / 200.0;
    assert!(share <= 0.08, "{share}");
}

/// Five runs a side whose levels differ as their samples do: below a p-value of 1 % lies one table in a hundred, which the
/// normal distribution, for runs of which there are so few, would make three.
#[test]
fn runs_of_many_samples_beside_themselves_are_no_different() {
    let mut source = Source::new(5);
    let mut runs = || {
        let run = |source: &mut Source| {
            let level = 100.0 + source.normal();
            (0..20).map(|_| level + source.normal()).collect()
        };
        Cell { runs: (0..5).map(|_| run(&mut source)).collect() }
    };
    let tables = 1500;
    let claimed = (0..tables).filter(|&seed| {
        let table = Table {
            metric: "m".into(),
            varying: String::new(),
            unit: "ms".into(),
            better: Better::Lower,
            estimator: Estimator::SubAmean,
            columns: vec!["base".into(), "same".into()],
            rows: vec![Row { label: String::new(), cells: vec![runs(), runs()] }],
        };
        let compared = table.compare(&settings(100, seed), Confidence::P99).unwrap();
        compared.rows[0].cells[1].change().unwrap().verdict != Verdict::NoDifference
    });
    let claims = claimed.count();
    assert!((4..=25).contains(&claims), "{claims} of {tables}");
}
