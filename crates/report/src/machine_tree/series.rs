//! Series of CPU lists and of names, short where they are regular.

use crate::machine_words::list_text;
use machine::CpuSet;

/// Longest series shown in full.
const SERIES_WIDTH: usize = 32;

/// `(CPUs 0-7)` or `(CPUs 0,64 1,65 … 7,71)`: the sets in order. `None` where that would be long and is not
/// regular.
pub(super) fn cpu_series(sets: &[CpuSet]) -> Option<String> {
    let plural = if sets.iter().map(CpuSet::len).sum::<usize>() == 1 { "" } else { "s" };
    self::sets(sets).map(|text| format!("(CPU{plural} {text})"))
}

/// The same without brackets.
pub(super) fn sets(sets: &[CpuSet]) -> Option<String> {
    if let [only] = sets {
        return Some(list_text(only));
    }
    let ascend = sets.windows(2).all(|w| w[0].last() < w[1].first());
    if ascend && sets.iter().all(|s| s.len() == 1) {
        let all = sets.iter().fold(CpuSet::EMPTY, |all, s| all | s).to_string();
        if all.len() <= SERIES_WIDTH {
            return Some(all);
        }
    }
    let texts: Vec<String> = sets.iter().map(CpuSet::to_string).collect();
    let full = texts.join(" ");
    if full.len() <= SERIES_WIDTH {
        return Some(full);
    }
    let [first, second, .., last] = &texts[..] else { return None };
    let cut = format!("{first} {second} \u{2026} {last}");
    match cut.chars().count() <= SERIES_WIDTH {
        _ if !is_regular(sets) => None,
        true => Some(cut),
        false => Some(format!("{first} \u{2026} {last}")),
    }
}

/// Whether each set is the one before, moved up by the same number of CPUs.
fn is_regular(sets: &[CpuSet]) -> bool {
    let step = |w: &[CpuSet]| match w {
        [a, b] => b.first()?.checked_sub(a.first()?).filter(|step| {
            a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| a + step == b)
        }),
        _ => None,
    };
    let mut steps = sets.windows(2).map(step);
    let first = steps.next().flatten();
    first.is_some_and(|f| f > 0) && steps.all(|step| step == first)
}

/// A name without the number at its end, and the number.
pub(super) fn split(name: &str) -> (&str, Option<u32>) {
    match name.rsplit_once(' ') {
        Some((stem, number)) => match number.parse() {
            Ok(number) => (stem, Some(number)),
            Err(_) => (name, None),
        },
        None => (name, None),
    }
}

/// `core 0-7` of `core 0`, `core 1` and so on, `core 0,8,…,56` where they are further apart; `None` where they
/// are not alike or not regular.
pub(super) fn names(names: &[&str]) -> Option<String> {
    let (stem, _) = split(names.first()?);
    if names.iter().any(|n| split(n).0 != stem) {
        return None;
    }
    if let [only] = names {
        return Some(only.to_string());
    }
    let numbers: Vec<u32> = names.iter().filter_map(|n| split(n).1).collect();
    if numbers.is_empty() {
        return Some(stem.to_string());
    }
    let steps: Vec<Option<u32>> = numbers.windows(2).map(|w| w[1].checked_sub(w[0])).collect();
    let step = steps.first().copied().flatten().filter(|&step| step > 0)?;
    if numbers.len() != names.len() || steps.iter().any(|s| *s != Some(step)) {
        return None;
    }
    let (first, last) = (numbers.first()?, numbers.last()?);
    Some(match (step, &numbers[..]) {
        (1, _) => format!("{stem} {first}-{last}"),
        (_, [a, b]) => format!("{stem} {a},{b}"),
        (_, [a, b, c]) => format!("{stem} {a},{b},{c}"),
        _ => format!("{stem} {first},{},\u{2026},{last}", first + step),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cpus(lists: &[&str]) -> Option<String> {
        sets(&lists.iter().map(|l| l.parse().unwrap()).collect::<Vec<CpuSet>>())
    }

    #[test]
    fn short_series_are_whole_and_regular_ones_cut() {
        assert_eq!(cpus(&["0", "1", "2"]).as_deref(), Some("0-2"));
        assert_eq!(cpus(&["0,4", "1,5", "3,7"]).as_deref(), Some("0,4 1,5 3,7"));
        let regular: Vec<String> = (0..64).map(|i| format!("{i},{}", i + 64)).collect();
        let mut regular: Vec<&str> = regular.iter().map(String::as_str).collect();
        assert_eq!(cpus(&regular).as_deref(), Some("0,64 1,65 \u{2026} 63,127"));
        let wide = ["0,2,4,6", "8,10,12,14", "16,18,20,22", "24,26,28,30"];
        assert_eq!(cpus(&wide).as_deref(), Some("0,2,4,6 8,10,12,14 \u{2026} 24,26,28,30"));
        let wider = ["0,2,4,6,8", "10,12,14,16,18", "20,22,24,26,28"];
        assert_eq!(cpus(&wider).as_deref(), Some("0,2,4,6,8 \u{2026} 20,22,24,26,28"));
        regular.remove(30);
        assert_eq!(cpus(&regular), None, "a gap would be hidden");
        regular.reverse();
        assert_eq!(cpus(&regular), None, "the order would be hidden");
    }

    /// Singles out of order must not look as if they were in order.
    #[test]
    fn singles_keep_their_order() {
        assert_eq!(cpus(&["2", "1", "3"]).as_deref(), Some("2 1 3"));
    }

    #[test]
    fn names_of_a_series() {
        assert_eq!(names(&["core 3"]).as_deref(), Some("core 3"));
        assert_eq!(names(&["core 3", "core 4"]).as_deref(), Some("core 3-4"));
        let eights = ["big core 0", "big core 8", "big core 16", "big core 24"];
        assert_eq!(names(&eights).as_deref(), Some("big core 0,8,\u{2026},24"));
        assert_eq!(names(&["small core", "small core"]).as_deref(), Some("small core"));
        assert_eq!(names(&["core 0", "core 1", "core 3"]), None);
        assert_eq!(names(&["core 1", "core 0"]), None);
        assert_eq!(names(&["core 0", "die 1"]), None);
    }
}
