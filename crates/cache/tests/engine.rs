//! The engine: what is restored was logged, nothing twice, at its rate, and a log that is aborted holds what it had.

use cache::{
    Chase, Engine, EnginePace, Extent, Geometry, Hierarchy, Kind, Level, LogControl, Logmpp, Mppr,
    Sampling, Shape, SizeClass, Tables, Walk,
};
use proptest::prelude::*;
use setting::Rate;

const FIRST: u64 = 0x4000_0000;
const PACE: EnginePace =
    EnginePace { log_ns: 1.0, restore_ns: [0.5, 2.0, 4.0, 6.0, 8.0], transfer_ns: 1.5 };

fn power8() -> Hierarchy {
    let geometry =
        |name, kib: u64| Geometry { name, size_bytes: kib << 10, ways: 8, line_bytes: 128 };
    let shape = Shape {
        l1i: geometry("L1I", 32),
        l1d: geometry("L1D", 64),
        l2: geometry("L2", 512),
        l3: geometry("L3", 8192),
    };
    Hierarchy::new(&shape, 1).expect("caches")
}

struct Rig {
    caches: Hierarchy,
    engine: Engine,
    tables: Tables,
    now_ns: f64,
}

impl Rig {
    fn new(class: SizeClass) -> Rig {
        let tables = Tables::new(FIRST, class, class.bytes(), Sampling::ALL, 2).expect("tables");
        let engine = Engine::new(128, Sampling::ALL);
        Rig { caches: power8(), engine, tables, now_ns: 0.0 }
    }

    fn log(&mut self, table: usize) {
        let control = match self.tables.class() {
            SizeClass::L2 => LogControl::L2,
            SizeClass::L2AndL3 => LogControl::L2AndL3,
        };
        let table = self.tables.address(table).expect("a table");
        let bits = Logmpp { table, control }.encode().expect("an operand");
        self.engine.logmpp(bits, &mut self.tables, self.now_ns).expect("a log");
    }

    fn restore(&mut self, table: usize, rate: Rate) {
        let table = self.tables.address(table).expect("a table");
        let bits = Mppr { table, extent: Extent::UntilEnd, rate }.encode();
        self.engine.mppr(bits, &self.tables, self.now_ns).expect("a restore");
    }

    /// Lines moved in so many ns.
    fn pass(&mut self, ns: f64) -> f64 {
        self.now_ns += ns;
        self.engine.advance(self.now_ns, &PACE, &mut self.caches, &mut self.tables)
    }

    fn read(&mut self, first: u64, lines: u64) {
        let mut walk = Walk::new(first, lines, Sampling::ALL);
        (0..lines).for_each(|_| _ = self.caches.access(walk.next_line(), Kind::Read));
    }

    fn entries(&self, table: u32) -> Vec<(u32, bool)> {
        let table = self.tables.get(table).expect("a table");
        (0..table.len()).filter_map(|i| table.entry(i)).map(|e| (e.line, e.l3)).collect()
    }
}

#[test]
fn a_working_set_comes_back() {
    let mut rig = Rig::new(SizeClass::L2);
    rig.read(0, 3000);
    rig.log(0);
    // A place a ns: 4096 of them, of which 3000 are taken. A line of the table holds 16 entries and takes 1.5 ns.
    assert_eq!(rig.pass(4096.0 + 187.0 * 0.5), 187.0);
    assert_eq!(rig.engine.counters().logged, 3000);
    rig.pass(1.0);
    assert_eq!(rig.engine.due_ns(), f64::INFINITY);
    // Others push it out of the L2 and the L3.
    rig.read(1 << 20, 100_000);
    assert_eq!(rig.caches.access(7, Kind::Read).level, Level::Memory);
    rig.restore(0, Rate::Every8);
    let moved = rig.pass(2.0 * 3000.0 + 188.0);
    assert_eq!(rig.engine.counters().from_memory, 2999);
    assert_eq!(rig.engine.counters().present, 1);
    assert!((2999.0 + 187.0..2999.0 + 189.0).contains(&moved), "{moved}");
    let found: Vec<Level> = (0..3000).map(|l| rig.caches.access(l, Kind::Read).level).collect();
    assert_eq!(found.iter().filter(|&&l| l == Level::L2).count(), 2999);
}

#[test]
fn lines_come_at_the_rate_or_as_memory_gives_them() {
    for (rate, ns) in [
        // Memory takes 1.5 ns for a line, and a line of the table for every 16.
        (Rate::Fastest, 1.5 * (1000.0 + 62.0)),
        (Rate::Every8, 1000.0 * 2.0 + 62.0),
        (Rate::Every32, 1000.0 * 8.0),
    ] {
        let mut rig = Rig::new(SizeClass::L2);
        rig.read(0, 1000);
        rig.log(1);
        rig.pass(5000.0);
        rig.caches = power8();
        rig.restore(1, rate);
        rig.pass(ns * 0.5);
        let half = rig.engine.counters().from_memory;
        assert!((480..=520).contains(&half), "{rate:?}: {half} lines at half time");
        rig.pass(ns * 0.5 + 10.0);
        assert_eq!(rig.engine.counters().from_memory, 1000, "{rate:?}");
        assert_eq!(rig.engine.due_ns(), f64::INFINITY, "{rate:?}");
    }
}

#[test]
fn a_log_ends_where_the_next_one_or_a_restore_begins() {
    let mut rig = Rig::new(SizeClass::L2);
    rig.read(0, 4096);
    rig.log(0);
    rig.pass(99.5);
    rig.log(1);
    rig.pass(49.5);
    rig.restore(0, Rate::Fastest);
    // Every 16th entry fills a line of the table, which takes half a ns longer.
    assert_eq!((rig.entries(0).len(), rig.entries(1).len()), (97, 49));
    assert_eq!((rig.engine.counters().logs, rig.engine.counters().aborted), (2, 2));
    // What is logged anew is not what was there before.
    rig.log(0);
    assert!(rig.entries(0).is_empty());
    assert_eq!(rig.engine.counters().stopped, 1);
    let abort =
        Logmpp { table: rig.tables.address(0).expect("a table"), control: LogControl::Abort };
    rig.engine.logmpp(abort.encode().expect("bits"), &mut rig.tables, 0.0).expect("an abort");
    assert_eq!(rig.pass(1e6), 0.0);
    assert_eq!(rig.engine.counters().aborted, 3);
}

#[test]
fn the_most_recent_way_of_the_l3_is_logged_behind_the_l2() {
    let mut rig = Rig::new(SizeClass::L2AndL3);
    // 512 KiB stay in the L2, the 20480 lines before are in the L3, two or three in each of its 8192 sets.
    rig.read(0, 20480 + 4096);
    rig.log(0);
    rig.pass(20_000.0);
    let entries = rig.entries(0);
    assert_eq!(entries.iter().filter(|e| !e.1).count(), 4096);
    assert_eq!(entries.iter().filter(|e| e.1).count(), 8192);
    assert!(entries.iter().all(|&(line, l3)| l3 == (line < 20480)));
    rig.caches = power8();
    rig.restore(0, Rate::Every16);
    rig.pass(1e6);
    assert_eq!(rig.caches.l2().lines().count(), 4096);
    assert_eq!(rig.caches.l3().lines().count(), 8192);
}

#[test]
fn operands_for_other_tables_are_refused() {
    let mut rig = Rig::new(SizeClass::L2);
    let error = rig.engine.logmpp(0x0040_0000_4000_0000, &mut rig.tables, 0.0);
    let error = error.expect_err("tables are too small").to_string();
    assert_eq!(error, "log table: size: found 131072 bytes, expected at most 32768");
    let error = rig.engine.mppr(0x2000_0000_4001_0000, &rig.tables, 0.0).expect_err("no table");
    assert!(error.to_string().contains("expected one of the 2 tables"), "{error}");
    assert_eq!(rig.engine.logmpp(0, &mut rig.tables, 0.0), Ok(()), "a no-op");
    let table = rig.tables.address(0).expect("a table");
    let none = Mppr { table, extent: Extent::NoData, rate: Rate::Fastest };
    assert_eq!(rig.engine.mppr(none.encode(), &rig.tables, 0.0), Ok(()));
    assert_eq!(rig.engine.due_ns(), f64::INFINITY);
}

#[test]
fn what_is_brought_and_not_touched_is_counted() {
    let mut rig = Rig::new(SizeClass::L2);
    rig.read(0, 512);
    rig.log(0);
    rig.pass(5000.0);
    rig.caches = power8();
    rig.restore(0, Rate::Fastest);
    rig.pass(5000.0);
    let first = |rig: &mut Rig| {
        let hits = (0..200).map(|l| rig.caches.access(l, Kind::Read).prefetched);
        hits.filter(|&p| p).count()
    };
    assert_eq!((first(&mut rig), first(&mut rig)), (200, 0));
    rig.read(1 << 20, 100_000);
    assert_eq!(rig.caches.useless_prefetches(), 312);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Lines restored were logged, lines logged were in the caches, none is logged twice, and none is in a cache twice.
    #[test]
    fn lines_are_conserved(
        seed in any::<u64>(), both in any::<bool>(), rate in 0usize..5,
        own in 1u64..30_000, other in 1u64..150_000, log_ns in 0.0f64..20_000.0, restore_ns in 0.0f64..50_000.0,
    ) {
        let class = if both { SizeClass::L2AndL3 } else { SizeClass::L2 };
        let mut rig = Rig::new(class);
        let mut chase = Chase::new(0, own, Sampling::ALL, seed);
        (0..2 * own).for_each(|_| _ = rig.caches.access(chase.next_line(), Kind::Read));
        let before: Vec<u32> = rig.caches.l2().lines().chain(rig.caches.l3().lines()).collect();
        rig.log(0);
        rig.pass(log_ns);
        let mut logged: Vec<u32> = rig.entries(0).into_iter().map(|e| e.0).collect();
        prop_assert!(logged.iter().all(|l| before.contains(l)));
        rig.read(1 << 20, other);
        rig.restore(0, Rate::ALL[rate]);
        let held: Vec<u32> = rig.caches.l2().lines().chain(rig.caches.l3().lines()).collect();
        rig.pass(restore_ns);
        let mut after: Vec<u32> = rig.caches.l2().lines().chain(rig.caches.l3().lines()).collect();
        logged.sort_unstable();
        let held: std::collections::BTreeSet<u32> = held.into_iter().collect();
        let new: Vec<u32> = after.iter().copied().filter(|l| !held.contains(l)).collect();
        prop_assert!(new.iter().all(|l| logged.binary_search(l).is_ok()));
        let c = *rig.engine.counters();
        prop_assert!(c.from_memory + c.from_l3 + c.present <= c.logged);
        prop_assert!(new.len() as u64 <= c.from_memory);
        let (all, entries) = (after.len(), logged.len());
        after.sort_unstable();
        after.dedup();
        logged.dedup();
        prop_assert_eq!((after.len(), logged.len()), (all, entries));
    }
}
