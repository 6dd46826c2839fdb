//! Random traces against a reference without sets in arrays or flags in entries: lists, searched.

use cache::{Geometry, Hierarchy, Kind, Level, Shape};
use proptest::prelude::*;

/// A cache as a list of lines with whether they are dirty, the most recent last.
struct Plain {
    sets: u32,
    ways: usize,
    lines: Vec<(u32, bool)>,
}

impl Plain {
    fn take(&mut self, line: u32) -> Option<bool> {
        let at = self.lines.iter().position(|l| l.0 == line)?;
        Some(self.lines.remove(at).1)
    }

    fn touch(&mut self, line: u32, write: bool) -> bool {
        let Some(dirty) = self.take(line) else { return false };
        self.lines.push((line, dirty || write));
        true
    }

    fn insert(&mut self, line: u32, dirty: bool) -> Option<(u32, bool)> {
        let same_set = |l: &(u32, bool)| l.0 % self.sets == line % self.sets;
        let full = self.lines.iter().filter(|l| same_set(l)).count() == self.ways;
        let oldest = self.lines.iter().position(same_set).filter(|_| full);
        let out = oldest.map(|at| self.lines.remove(at));
        self.lines.push((line, dirty));
        out
    }
}

struct Reference {
    l1i: Plain,
    l1d: Plain,
    l2: Plain,
    l3: Plain,
}

impl Reference {
    fn access(&mut self, line: u32, kind: Kind) -> (Level, u32) {
        let write = kind == Kind::Write;
        let l1 = if kind == Kind::Fetch { &mut self.l1i } else { &mut self.l1d };
        if l1.touch(line, false) && !write {
            return (Level::L1, 0);
        }
        let mut found = (Level::L2, 0);
        if !self.l2.touch(line, write) {
            let above = self.l3.take(line);
            found.0 = if above.is_some() { Level::L3 } else { Level::Memory };
            if let Some((out, dirty)) = self.l2.insert(line, write || above == Some(true)) {
                self.l1i.take(out);
                self.l1d.take(out);
                found.1 = u32::from(self.l3.insert(out, dirty).is_some_and(|(_, dirty)| dirty));
            }
        }
        match kind {
            Kind::Fetch => _ = self.l1i.insert(line, false),
            Kind::Read => _ = self.l1d.insert(line, false),
            Kind::Write => {}
        }
        found
    }
}

fn both(ways: [u32; 4], sets: [u32; 4]) -> (Hierarchy, Reference) {
    let geometry = |at: usize| Geometry {
        name: "c",
        size_bytes: u64::from(ways[at] * sets[at] * 128),
        ways: ways[at],
        line_bytes: 128,
    };
    let shape = Shape { l1i: geometry(0), l1d: geometry(1), l2: geometry(2), l3: geometry(3) };
    let plain = |at: usize| Plain { sets: sets[at], ways: ways[at] as usize, lines: Vec::new() };
    let reference = Reference { l1i: plain(0), l1d: plain(1), l2: plain(2), l3: plain(3) };
    (Hierarchy::new(&shape, 1).expect("caches"), reference)
}

fn sorted(lines: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut lines: Vec<u32> = lines.collect();
    lines.sort_unstable();
    lines
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn random_traces_are_as_the_reference_has_them(
        ways in prop::array::uniform4(1u32..9),
        sets in prop::array::uniform4(0u32..4),
        trace in prop::collection::vec((0u32..120, 0u8..3), 1..400),
    ) {
        let (mut caches, mut reference) = both(ways, sets.map(|s| 1 << s));
        for (line, kind) in trace {
            let kind = [Kind::Fetch, Kind::Read, Kind::Write][kind as usize];
            let found = caches.access(line, kind);
            prop_assert_eq!((found.level, found.writebacks), reference.access(line, kind));
            for (cache, plain) in [
                (caches.l1i(), &reference.l1i),
                (caches.l1d(), &reference.l1d),
                (caches.l2(), &reference.l2),
                (caches.l3(), &reference.l3),
            ] {
                prop_assert_eq!(sorted(cache.lines()), sorted(plain.lines.iter().map(|l| l.0)));
            }
        }
    }
}

#[test]
fn shapes_that_cannot_be_are_named() {
    let bad = |size_bytes, ways, line_bytes| {
        Geometry { name: "L2", size_bytes, ways, line_bytes }
            .sets()
            .expect_err("no shape")
            .to_string()
    };
    assert_eq!(bad(1 << 19, 0, 128), "L2: ways: found 0, expected 1 to 8");
    assert_eq!(bad(1 << 19, 8, 100), "L2: line_bytes: found 100, expected a power of two");
    let sets = "expected a power of two of sets, at most 2^24";
    assert_eq!(bad(3 << 17, 8, 128), format!("L2: size_bytes: found 393216, {sets}"));
    assert_eq!(bad(100, 8, 128), format!("L2: size_bytes: found 100, {sets}"));
    let l1 = Geometry { name: "L1", size_bytes: 1 << 16, ways: 8, line_bytes: 128 };
    for (sampled, wanted) in [(3, "one set in 3"), (128, "one set in 128")] {
        let error = cache::Cache::new(&l1, sampled).expect_err("no sampling").to_string();
        assert!(error.contains(wanted), "{error}");
    }
}
