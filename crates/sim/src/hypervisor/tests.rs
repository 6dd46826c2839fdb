//! The working-set model of [`crate::warmth`] against the caches line by line, where both apply: what a neighbour leaves of a
//! set in the L2.
//!
//! Both have the same to say where all of the set stays and where none does. Between, they differ by what replacement does:
//! the working-set model evicts a random line, so that a part exp(-F/S) survives F bytes that come into S; least recently
//! used lines survive until set and stream together no longer fit, and then all go.

use super::costs::Costs;
use crate::warmth::{Fit, survives};
use cache::{Chase, Hierarchy, Kind, Level, Sampling, Walk};

const L2_KIB: f64 = 512.0;
const LINES_OF_KIB: u64 = 8;

/// Touches of a lap over a set of `kib` that miss the L2 after a neighbour streamed `other_kib` through, and what the other
/// model expects.
fn misses(kib: u64, other_kib: u64) -> (f64, f64) {
    let costs = Costs::new(&machine::catalog::load("power8").unwrap()).unwrap();
    let mut caches = Hierarchy::new(&costs.shape, 1).unwrap();
    let lines = kib * LINES_OF_KIB;
    let mut chase = Chase::new(0, lines, Sampling::ALL, 1);
    let mut lap = |caches: &mut Hierarchy| {
        let level = |_| caches.access(chase.next_line(), Kind::Read).level;
        (0..lines).map(level).filter(|&l| l > Level::L2).count() as f64
    };
    (0..4).for_each(|_| _ = lap(&mut caches));
    let mut walk = Walk::new(1 << 20, other_kib * LINES_OF_KIB, Sampling::ALL);
    (0..other_kib * LINES_OF_KIB).for_each(|_| _ = caches.access(walk.next_line(), Kind::Read));
    let found = lap(&mut caches);

    let fit =
        Fit { set_bytes: kib as f64 * 1024.0, size_bytes: L2_KIB * 1024.0, line_bytes: 128.0 };
    let kept = fit.set_bytes * survives(other_kib as f64 * 1024.0, fit.size_bytes);
    // Touches of a lap come by each line once instead of at random: those of the lines that are gone miss.
    let gone = (fit.set_bytes - kept) / fit.line_bytes;
    // At random, so many touches that all lines are touched fetch what is gone.
    let many = fit.stretch(kept, 20.0 * lines as f64, 0.0).misses;
    assert!((many / gone.max(1.0) - 1.0).abs() < 0.01 || gone < 1.0, "{many} and {gone}");
    (found, gone)
}

#[test]
fn both_models_keep_what_nobody_pushes_out() {
    for kib in [64, 256, 500] {
        assert_eq!(misses(kib, 0), (0.0, 0.0), "{kib} KiB");
    }
}

#[test]
fn both_models_lose_what_several_times_the_cache_pushes_out() {
    for kib in [64, 256, 500] {
        let (found, expected) = misses(kib, 4096);
        let lines = (kib * LINES_OF_KIB) as f64;
        assert_eq!(found, lines, "{kib} KiB");
        assert!((expected / lines - 1.0).abs() < 0.001, "{kib} KiB: {expected} of {lines}");
    }
}

#[test]
fn between_least_recently_used_lines_stay_longer_and_then_all_go() {
    // 128 and 256 of 512 KiB fit together: nothing goes, of which the other model loses two fifths.
    let (found, expected) = misses(128, 256);
    assert_eq!(found, 0.0);
    assert!((0.39..0.40).contains(&(expected / 1024.0)), "{expected}");
    // 256 and 512 do not: all goes, of which it loses five eighths.
    let (found, expected) = misses(256, 512);
    assert_eq!(found, 2048.0);
    assert!((0.63..0.64).contains(&(expected / 2048.0)), "{expected}");
}
