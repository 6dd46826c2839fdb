//! The sweep of the prefetch engine as text: when logging pays, and when it costs.

use crate::machine_words::kib;
use crate::number::signed;
use crate::table::{fitted, table};
use results::prefetch_sweep::{Point, Scene, Sweep};

/// A gain or a loss of less than so many percent counts as none.
const SMALL: f64 = 1.0;

/// How often a line is restored, in words.
pub(crate) fn rate_words(rate_cycles: Option<u32>) -> String {
    rate_cycles.map_or_else(|| "as fast as possible".to_string(), |c| format!("every {c} cycles"))
}

/// Who is measured beside whom, in words.
pub(crate) fn scene_words(scene: &Scene) -> String {
    let who = if scene.chase { "pointer chase" } else { "stream" };
    format!("{who} beside a stream through {}", size_words(scene.neighbour_kib))
}

/// A size in KiB in words.
pub(crate) fn size_words(size_kib: f64) -> String {
    kib(size_kib as u64)
}

/// A table for each scene at the fastest rate, what changes with the rate, and the best and the worst case.
pub fn prefetch_sweep(sweep: &Sweep) -> String {
    let mut out = String::new();
    for scene in &sweep.grid.scenes {
        out.push_str(&format!(
            "{}: change in percent, restored as fast as possible\n",
            scene_words(scene)
        ));
        out.push_str(&by_size_and_slice(sweep, scene));
        out.push('\n');
    }
    out.push_str(&by_rate(sweep));
    if let Some((best, worst)) = sweep.extremes() {
        out.push_str(&format!("\nbest:  {}\nworst: {}\n", case(best), case(worst)));
    }
    out
}

fn by_size_and_slice(sweep: &Sweep, scene: &Scene) -> String {
    let slices: Vec<String> = sweep.grid.slices_us.iter().map(|us| format!("{us} us")).collect();
    let head: Vec<&str> =
        std::iter::once("working set").chain(slices.iter().map(String::as_str)).collect();
    let row = |&set: &f64| -> Vec<String> {
        let fastest =
            |p: &&Point| p.scene == *scene && p.rate_cycles.is_none() && p.working_set_kib == set;
        let percents = sweep.points.iter().filter(fastest).map(|p| format!("{:+.1}", p.percent));
        std::iter::once(size_words(set)).chain(percents).collect()
    };
    let rows: Vec<Vec<String>> = sweep.grid.working_sets_kib.iter().map(row).collect();
    fitted(&head, &rows, 1)
}

fn by_rate(sweep: &Sweep) -> String {
    let mut rates: Vec<Option<u32>> = sweep.points.iter().map(|p| p.rate_cycles).collect();
    rates.sort_unstable();
    rates.dedup();
    let row = |&rate: &Option<u32>| -> Vec<String> {
        let percents: Vec<f64> =
            sweep.points.iter().filter(|p| p.rate_cycles == rate).map(|p| p.percent).collect();
        let count = |of: &dyn Fn(f64) -> bool| percents.iter().filter(|&&p| of(p)).count();
        vec![
            rate_words(rate),
            signed(percents.iter().copied().fold(f64::NEG_INFINITY, f64::max), 1),
            signed(percents.iter().copied().fold(f64::INFINITY, f64::min), 1),
            count(&|p| p >= SMALL).to_string(),
            count(&|p| p <= -SMALL).to_string(),
            percents.len().to_string(),
        ]
    };
    let rows: Vec<Vec<String>> = rates.iter().map(row).collect();
    table(&["restored", "best", "worst", "gain 1 % or more", "lose 1 % or more", "of"], &rows)
}

fn case(p: &Point) -> String {
    format!(
        "{} %: {}, {} for {} us, restored {}; {:.0} lines restored in a slice, {:.0} of them used",
        signed(p.percent, 1),
        scene_words(&p.scene),
        size_words(p.working_set_kib),
        p.slice_us,
        rate_words(p.rate_cycles),
        p.lines_restored,
        p.lines_useful
    )
}
