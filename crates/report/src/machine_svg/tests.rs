use super::*;
use crate::machine_testing::{bare, big_cores, cache, node};
use machine::{CacheKind, CpuSet, ThreadGroupProperty, ThreadGroups};
use proptest::prelude::*;
use roxmltree::{Document, Node};

/// A rectangle of the document: edges, and what it stands for.
struct Drawn {
    left: f64,
    top: f64,
    right: f64,
    bottom: f64,
    kind: String,
    tip: String,
}

/// Rounding of coordinates in the document.
const ROUNDING: f64 = 0.03;

impl Drawn {
    fn holds(&self, other: &Drawn) -> bool {
        other.left >= self.left - ROUNDING
            && other.right <= self.right + ROUNDING
            && other.top >= self.top - ROUNDING
            && other.bottom <= self.bottom + ROUNDING
    }

    fn misses(&self, other: &Drawn) -> bool {
        other.left >= self.right - ROUNDING
            || other.right <= self.left + ROUNDING
            || other.top >= self.bottom - ROUNDING
            || other.bottom <= self.top + ROUNDING
    }
}

fn number(node: Node, name: &str) -> f64 {
    node.attribute(name).unwrap().parse().unwrap()
}

fn drawn(document: &Document) -> Vec<Drawn> {
    let rects = document.descendants().filter(|n| n.attribute("data-kind").is_some());
    let of = |n: Node| Drawn {
        left: number(n, "x"),
        top: number(n, "y"),
        right: number(n, "x") + number(n, "width"),
        bottom: number(n, "y") + number(n, "height"),
        kind: n.attribute("data-kind").unwrap().to_string(),
        tip: n
            .children()
            .find(|c| c.has_tag_name("title"))
            .and_then(|t| t.text())
            .unwrap_or("")
            .to_string(),
    };
    rects.map(of).collect()
}

/// Checks the picture of any machine: it is XML, every CPU is drawn once in its state, boxes nest or miss each
/// other, and no text leaves its box or the page.
fn check(m: &Machine) {
    let svg = machine_svg(m);
    let document = Document::parse(&svg).unwrap();
    let drawn = drawn(&document);
    let tips = |kind: &str| -> Vec<String> {
        let mut tips: Vec<String> =
            drawn.iter().filter(|d| d.kind == kind).map(|d| d.tip.clone()).collect();
        tips.sort();
        tips
    };
    let expected = |cpus: CpuSet, state: &str| -> Vec<String> {
        let mut tips: Vec<String> = cpus.iter().map(|c| format!("CPU {c}{state}")).collect();
        tips.sort();
        tips
    };
    assert_eq!(tips("cpu"), expected(m.online.clone(), ""));
    assert_eq!(tips("offline-cpu"), expected(m.possible() - &m.online, ", offline"));
    for (index, a) in drawn.iter().enumerate() {
        for b in &drawn[index + 1..] {
            assert!(a.holds(b) || a.misses(b), "{} {} and {} {}", a.kind, a.tip, b.kind, b.tip);
        }
    }
    let page = document.root_element();
    for text in document.descendants().filter(|n| n.has_tag_name("text")) {
        check_text(text, &drawn, number(page, "width"));
    }
}

/// A text lies within the smallest box around the point where it is put, or within the page.
fn check_text(text: Node, drawn: &[Drawn], page: f64) {
    let content: String =
        text.descendants().filter_map(|n| n.text().filter(|_| n.is_text())).collect();
    let width = text::width(content.trim(), number(text, "font-size"));
    let (x, y) = (number(text, "x"), number(text, "y"));
    let is_centred = text.attribute("text-anchor") == Some("middle");
    let left = if is_centred { x - width / 2.0 } else { x };
    let around =
        drawn.iter().filter(|d| d.left <= x && x <= d.right && d.top <= y && y <= d.bottom);
    let area = |d: &&Drawn| (d.right - d.left) * (d.bottom - d.top);
    let (from, to) = match around.min_by(|a, b| area(a).total_cmp(&area(b))) {
        Some(d) => (d.left, d.right),
        None => (0.0, page),
    };
    assert!(left >= from - ROUNDING && left + width <= to + ROUNDING, "{content:?}");
}

fn count(svg: &str, part: &str) -> usize {
    svg.matches(part).count()
}

#[test]
fn big_cores_are_drawn_with_all_their_levels() {
    let m = big_cores().with_smt(4).unwrap();
    check(&m);
    let svg = machine_svg(&m);
    for (kind, boxes) in [
        ("package", 1),
        ("core", 2),
        ("small-core", 4),
        ("cache", 10),
        ("published-cache", 1),
        ("memory", 1),
        ("cpu", 8),
        ("offline-cpu", 8),
    ] {
        assert_eq!(count(&svg, &format!("data-kind=\"{kind}\"")), boxes, "{kind}");
    }
    assert!(svg.contains("Grey and dashed: offline CPUs."), "{svg}");
    assert_eq!(svg, machine_svg(&m), "the same machine gives the same bytes");
}

/// Package, node and L3 of the same CPUs are one box with two bars.
#[test]
fn levels_of_the_same_cpus_are_one_box() {
    let mut m = bare((0..8).map(|i| (i, 0, i / 4, i / 4)));
    m.nodes = vec![node(0, "0-3", &[10, 20]), node(1, "4-7", &[20, 10])];
    m.caches.push(cache(3, CacheKind::Unified, 16384, "0-3"));
    check(&m);
    let svg = machine_svg(&m);
    assert_eq!(count(&svg, "data-kind=\"package\""), 2);
    assert_eq!(count(&svg, "data-kind=\"node\"") + count(&svg, "data-kind=\"sharers\""), 0);
    assert_eq!(count(&svg, "data-kind=\"memory\""), 2);
    assert_eq!(count(&svg, "data-kind=\"distance\""), 9);
}

#[test]
fn names_cannot_break_the_document() {
    let mut m = bare([(0, 0, 0, 0)]);
    m.name = "a<b>&\"\u{1}\u{7f}".to_string();
    m.title = "x".repeat(400);
    m.unknown = vec!["]]> <!-- & -- > \u{0}".to_string(), String::new()];
    check(&m);
}

/// Pictures of regular machines of any size are neither towers nor strips.
#[test]
fn regular_machines_are_well_proportioned() {
    for cpus in [8, 16, 64, 128, 256, 1024] {
        let mut m = bare((0..cpus).map(|i| (i / 2, i % 2, i / (cpus / 2), i / (cpus / 2))));
        for core in 0..cpus / 2 {
            let list = format!("{}-{}", 2 * core, 2 * core + 1);
            m.caches.push(cache(1, CacheKind::Data, 32, &list));
            m.caches.push(cache(2, CacheKind::Unified, 512, &list));
        }
        let svg = machine_svg(&m);
        let document = Document::parse(&svg).unwrap();
        let drawn = drawn(&document);
        let machine = drawn.iter().find(|d| d.kind == "machine").unwrap();
        let aspect = (machine.right - machine.left) / (machine.bottom - machine.top);
        assert!((0.9..2.6).contains(&aspect), "{cpus} CPUs: {aspect}");
        assert_eq!(drawn.iter().filter(|d| d.kind == "cpu").count(), cpus as usize);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever overlaps what, boxes nest and every CPU is drawn once.
    #[test]
    fn any_machine_is_drawn_whole(
        cpus in prop::collection::vec((0u32..6, 0u32..4, 0u32..3, 0u32..3), 1..24),
        parts in prop::collection::vec((prop::option::of(0u32..4), 0u32..3), 24),
        sets in prop::collection::vec(prop::collection::vec(0usize..30, 0..8), 0..8),
        online in prop::collection::vec(any::<bool>(), 24),
    ) {
        let mut m = bare(cpus);
        for (cpu, (cluster, die)) in m.cpus.iter_mut().zip(parts) {
            (cpu.cluster, cpu.die) = (cluster, die);
        }
        m.online = m.possible().iter().filter(|&c| online[c]).collect();
        m.nodes = vec![node(0, "0", &[10, 20]), node(1, "", &[20, 10])];
        for (level, cpus) in (1..).zip(&sets) {
            let cpus: CpuSet = cpus.iter().copied().collect();
            m.caches.push(cache(level, CacheKind::Unified, 77, &cpus.to_string()));
        }
        let groups = sets.iter().map(|s| s.iter().copied().collect()).collect();
        m.thread_groups.push(ThreadGroups { property: ThreadGroupProperty::L1, core: 1, groups });
        check(&m);
    }
}
