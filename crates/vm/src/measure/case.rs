//! Single measurements: what the guest's worker is asked for, and what its snapshots say.

use super::locks::{Taker, takers};
use crate::plugin::{Counts, Kind, Snapshot};
use crate::programs::WORKER;
use crate::symbols::Symbols;
use machine::costs::{BUFFERED, Lock, LockClass, Operation, Peer, Side, SideName};
use std::collections::BTreeMap;

/// Lines by which windows may differ whatever their share is: what ticks and daemons move.
const NOISE_LINES: f64 = 1.0;
/// Share by which windows may differ beyond that.
const NOISE_SHARE: f64 = 0.05;
/// The same for whole processes: their memory is freed in batches, and by whoever comes by.
const NOISE_SHARE_OF_PROCESSES: f64 = 0.3;
/// Sections as the worker numbers them (`costs.h`).
const GIVE: u32 = 1;
const TAKE: u32 = 2;
const OWN: u32 = 3;
const CHILD: u32 = 4;
const WOKEN: u32 = 5;
const SECTIONS: [(u32, SideName); 5] = [
    (GIVE, SideName::Give),
    (TAKE, SideName::Take),
    (WOKEN, SideName::Woken),
    (OWN, SideName::Own),
    (CHILD, SideName::Child),
];
/// Locks of a class that are taken in fewer of the operations are what ticks and daemons take.
const RARE: f64 = 0.1;

/// One measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Case {
    operation: &'static str,
    peer: Peer,
    threads: bool,
    bytes: u64,
    rounds: u64,
}

/// All measurements of a guest: `rounds` of the quick ones.
pub fn cases(rounds: u64) -> Vec<Case> {
    let mut all = Vec::new();
    let mut add = |operation, peer, threads, bytes, rounds| {
        all.push(Case { operation, peer, threads, bytes, rounds });
    };
    for operation in ["pipe", "unix", "tcp", "udp", "eventfd", "futex"] {
        let bytes = if matches!(operation, "eventfd" | "futex") { 8 } else { 100 };
        for peer in [Peer::Idle, Peer::Busy, Peer::FarIdle, Peer::FarBusy, Peer::SameCpu] {
            add(operation, peer, false, bytes, rounds);
        }
    }
    for operation in ["pipe", "futex"] {
        add(operation, Peer::Idle, true, 100, rounds);
    }
    for operation in ["pipe", "unix", "tcp"] {
        add(operation, Peer::Buffered, false, 100, rounds / 2);
        add(operation, Peer::Alternating, false, 100, rounds);
    }
    add("mutex", Peer::Idle, true, 8, rounds / 2);
    for operation in ["fork", "exec"] {
        add(operation, Peer::Idle, false, 0, rounds / 5);
        add(operation, Peer::SameCpu, false, 0, rounds / 5);
    }
    for operation in ["syscall", "fault", "timer"] {
        add(operation, Peer::None, false, 0, rounds);
    }
    add("yield", Peer::SameCpu, false, 0, rounds);
    add("yield", Peer::SameCpu, true, 0, rounds);
    add("affinity", Peer::Idle, false, 0, rounds / 2);
    all
}

impl Case {
    /// The operation's name.
    pub fn operation(&self) -> &'static str {
        self.operation
    }

    /// For people.
    pub fn title(&self) -> String {
        let peer = match self.peer.words() {
            "" => String::new(),
            words => format!(" ({words})"),
        };
        format!("{}{}{peer}", self.operation, if self.threads { " of threads" } else { "" })
    }

    pub(super) fn command(&self) -> String {
        // Two sockets of two CPUs: 0 and 1 share caches, 2 is on the other side.
        let peer = match self.peer {
            Peer::FarIdle | Peer::FarBusy => 2,
            Peer::SameCpu => 0,
            Peer::Idle | Peer::Busy | Peer::Buffered | Peer::Alternating | Peer::None => 1,
        };
        let busy = matches!(self.peer, Peer::Busy | Peer::FarBusy);
        format!(
            "ip link set lo up\n/{WORKER} costs operation={} peer_is={} rounds={} cpu=0 peer={peer} bytes={} batch={} threads={}\n",
            self.operation,
            if busy { "busy" } else { "idle" },
            self.rounds,
            self.bytes.max(1),
            self.batch(),
            u8::from(self.threads)
        )
    }

    /// Messages at a time; 0 where each is waited for.
    fn batch(&self) -> u64 {
        match self.peer {
            Peer::Buffered => BUFFERED,
            Peer::Alternating => 1,
            _ => 0,
        }
    }

    /// The same with twice as many rounds.
    pub(super) fn longer(self) -> Case {
        Case { rounds: 2 * self.rounds, ..self }
    }

    /// How often each section is passed in a round.
    fn times(&self, section: u32) -> u64 {
        match (self.operation, section) {
            // Both ends give and take once.
            (
                "pipe" | "unix" | "tcp" | "udp" | "eventfd" | "futex" | "mutex",
                GIVE | TAKE | WOKEN,
            ) => 2 * self.batch().max(1),
            // There and back.
            ("yield" | "affinity", _) => 2,
            _ => 1,
        }
    }

    fn side(&self, counts: &Counts, section: u32, rounds: u64) -> Option<Side> {
        if counts.kernel_instructions == 0 {
            return None;
        }
        let times = (self.times(section) * rounds) as f64;
        let each = |count: u64| rounded(count as f64 / times);
        let lines = |kind: Kind| -> f64 {
            let of = counts.lines.iter().filter(|((k, _), _)| *k == kind);
            each(of.map(|(_, &count)| count).sum())
        };
        Some(Side {
            reads: lines(Kind::Read),
            atomics: lines(Kind::Atomic),
            atomic_upgrades: lines(Kind::AtomicUpgrade),
            upgrades: lines(Kind::Upgrade),
            writes: lines(Kind::Write),
            store_waits: each(counts.store_waits),
            kernel_instructions: each(counts.kernel_instructions),
            user_instructions: each(counts.user_instructions),
        })
    }

    /// What took locks between snapshots, later and earlier ones, per passing of its side.
    fn takers(
        &self,
        symbols: &Symbols,
        parts: &[(&Snapshot, &Snapshot)],
        rounds: u64,
    ) -> Vec<Taker> {
        let of = |(section, side): (u32, SideName)| {
            let times = (self.times(section) * rounds) as f64;
            let all = takers(&between(parts, section), symbols);
            all.into_iter()
                .map(move |(key, takings)| Taker::of(self.title(), side, key, takings, times))
        };
        SECTIONS.into_iter().flat_map(of).collect()
    }

    /// What the three snapshots of this case say.
    ///
    /// # Errors
    /// Windows that do not agree, in words.
    pub(super) fn read(
        &self,
        at: &[Snapshot],
        symbols: &Symbols,
    ) -> Result<(Operation, Vec<Taker>), String> {
        let [start, middle, end] = at else {
            return Err(format!("{}: found {} snapshots, expected 3", self.title(), at.len()));
        };
        let sides = |later: &Snapshot, earlier: &Snapshot, rounds: u64| {
            SECTIONS.map(|(section, _)| self.side(&later.since(earlier, section), section, rounds))
        };
        let lines =
            |sides: &[Option<Side>; 5]| -> f64 { sides.iter().flatten().map(Side::lines).sum() };
        let (first, second) =
            (sides(middle, start, self.rounds), sides(end, middle, 2 * self.rounds));
        let (before, after) = (lines(&first), lines(&second));
        let apart = (before - after).abs();
        let share = match self.operation {
            "fork" | "exec" => NOISE_SHARE_OF_PROCESSES,
            _ => NOISE_SHARE,
        };
        if apart > NOISE_LINES + share * after {
            return Err(format!(
                "{}: found {before:.2} lines in {} rounds and {after:.2} in {}, expected the same within {NOISE_LINES} and {:.0} %",
                self.title(),
                self.rounds,
                2 * self.rounds,
                100.0 * share
            ));
        }
        let takers = self.takers(symbols, &[(end, middle)], 2 * self.rounds);
        let disagreement = rounded(apart / after.max(NOISE_LINES));
        let window =
            Operation { rounds: 2 * self.rounds, disagreement, ..self.counted(second, &takers) };
        Ok((window, takers))
    }

    /// What the snapshots of several measurements of this case say together: the mean, and the lines of each window.
    pub(super) fn read_all(&self, all: &[Snapshot], symbols: &Symbols) -> (Operation, Vec<Taker>) {
        let lines = |window: &[Snapshot], rounds: u64| -> f64 {
            let sides = SECTIONS.map(|(section, _)| {
                self.side(&window[1].since(&window[0], section), section, rounds)
            });
            sides.iter().flatten().map(Side::lines).sum()
        };
        let measurements: Vec<&[Snapshot]> = all.chunks_exact(3).collect();
        let mut windows: Vec<f64> = (measurements.iter())
            .flat_map(|of| [lines(&of[..2], self.rounds), lines(&of[1..], 2 * self.rounds)])
            .map(rounded)
            .collect();
        windows.sort_by(f64::total_cmp);
        let rounds = 3 * self.rounds * measurements.len() as u64;
        let parts: Vec<(&Snapshot, &Snapshot)> =
            measurements.iter().map(|of| (&of[2], &of[0])).collect();
        let sides =
            SECTIONS.map(|(section, _)| self.side(&between(&parts, section), section, rounds));
        let takers = self.takers(symbols, &parts, rounds);
        let apart = windows.iter().copied().fold(0.0, f64::max) - windows.first().unwrap_or(&0.0);
        let mean: f64 = sides.iter().flatten().map(Side::lines).sum();
        let disagreement = rounded(apart / mean.max(NOISE_LINES));
        let counted = self.counted(sides, &takers);
        (Operation { rounds, disagreement, windows, ..counted }, takers)
    }

    /// The operation with these sides; how often it was done and how far windows are apart are for the caller.
    fn counted(&self, sides: [Option<Side>; 5], takers: &[Taker]) -> Operation {
        let [give, take, woken, own, child] = sides;
        Operation {
            name: self.operation.to_owned(),
            peer: self.peer,
            threads: self.threads,
            bytes: self.bytes,
            rounds: self.rounds,
            disagreement: 0.0,
            windows: Vec::new(),
            give,
            take,
            woken,
            own,
            child,
            locks: locks(takers),
        }
    }
}

/// What was counted in a section between snapshots, later and earlier ones.
fn between(parts: &[(&Snapshot, &Snapshot)], section: u32) -> Counts {
    let mut sum = Counts::default();
    for (later, earlier) in parts {
        sum.add_difference(&later.since(earlier, section), &Counts::default());
    }
    sum
}

/// Locks of each class and side.
fn locks(takers: &[Taker]) -> Vec<Lock> {
    type Key = (SideName, LockClass, bool);
    let mut sums: BTreeMap<Key, [f64; 4]> = BTreeMap::new();
    for taker in takers {
        let sum = sums.entry((taker.side, taker.class, taker.shared)).or_default();
        for (sum, of) in sum.iter_mut().zip(taker.counts()) {
            *sum += of;
        }
    }
    let lock = |((side, class, shared), [taken, instructions, stalls, spun]): (Key, [f64; 4])| {
        let each = |all: f64| rounded(all / taken);
        Lock {
            side,
            class,
            shared,
            taken: rounded(taken),
            instructions: each(instructions),
            stalls: each(stalls),
            spun: each(spun),
        }
    };
    sums.into_iter().filter(|(_, sum)| sum[0] >= RARE).map(lock).collect()
}

/// To a thousandth, which is less than what counts are good for.
fn rounded(value: f64) -> f64 {
    (value * 1e3).round() / 1e3
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plugin::snapshots;

    fn pipe(peer: Peer) -> Case {
        *cases(100).iter().find(|c| c.operation == "pipe" && c.peer == peer).unwrap()
    }

    /// Three snapshots: instructions and reads of the giving side so far.
    fn of(counts: [(u64, u64); 3]) -> Vec<Snapshot> {
        let text: String = (counts.iter().enumerate())
            .map(|(at, (instructions, reads))| {
                format!("snapshot {at}\ncpu 0 1 {instructions} 0 0 0\nlines 0 1 read 1 {reads}\n")
            })
            .collect();
        snapshots(&text).unwrap()
    }

    #[test]
    fn a_side_is_per_message_of_the_second_window() {
        let give = |peer: Peer, all: [(u64, u64); 3]| {
            pipe(peer).read(&of(all), &Symbols::default()).unwrap().0.give
        };
        let idle = [(0, 0), (200_000, 400), (600_000, 1200)];
        let found = give(Peer::Idle, idle).unwrap();
        assert_eq!((found.kernel_instructions, found.reads), (1000.0, 2.0));
        assert_eq!(give(Peer::Alternating, idle), Some(found));
        // Half the rounds of ten messages there and ten back.
        let found = give(Peer::Buffered, idle).unwrap();
        assert_eq!((found.kernel_instructions, found.reads), (200.0, 0.4));
    }

    #[test]
    fn locks_are_by_class_and_for_each_taking() {
        let symbols = Symbols::parse(
            "ffffffff81000000 t pipe_write\nffffffff81000100 t try_to_wake_up\nffffffff81000200 t end\n",
        )
        .unwrap();
        let text = "snapshot 0\nsnapshot 1\ncpu 0 1 1000 0 0 0\nsnapshot 2\ncpu 0 1 3000 0 0 0\n\
            lock 0 1 mutex ffffffff81000010 400 0 40000 800 0\n\
            lock 0 1 spin ffffffff81000110 400 1 8000 0 400\n\
            lock 0 1 queue ffffffff81000110 200 0 2000 0 0\n\
            lock 0 1 read ffffffff81000110 200 0 1000 0 0\n\
            lock 0 1 spin ffffffff81000210 2 0 1000 0 0\n";
        let (found, takers) = pipe(Peer::Idle).read(&snapshots(text).unwrap(), &symbols).unwrap();
        let lock = |class, shared, taken, instructions, stalls, spun| {
            let side = SideName::Give;
            Lock { side, class, shared, taken, instructions, stalls, spun }
        };
        let expected = [
            lock(LockClass::RunQueue, false, 0.5, 10.0, 0.0, 0.0),
            lock(LockClass::Pipe, false, 1.0, 100.0, 2.0, 0.0),
            lock(LockClass::Task, false, 1.0, 20.0, 0.0, 1.0),
            lock(LockClass::Task, true, 0.5, 5.0, 0.0, 0.0),
        ];
        assert_eq!(found.locks, expected);
        // Too rare for the table, and still told of.
        let rare = takers.iter().find(|taker| taker.class == LockClass::Other).unwrap();
        assert_eq!((rare.function.as_str(), rare.taken), ("end", 0.005));
    }

    #[test]
    fn windows_that_never_agree_are_told_with_their_mean() {
        let quiet = [(0, 0), (200_000, 4000), (600_000, 12_000)];
        let loud = [(0, 0), (200_000, 8000), (600_000, 16_000)];
        let all = [of(quiet), of(loud)].concat();
        let (found, takers) = pipe(Peer::Idle).read_all(&all, &Symbols::default());
        assert_eq!((found.rounds, found.windows), (600, vec![20.0, 20.0, 20.0, 40.0]));
        assert_eq!((found.disagreement, takers), (rounded(20.0 / (28_000.0 / 1200.0)), vec![]));
        let give = found.give.unwrap();
        assert_eq!((give.reads, give.kernel_instructions), (23.333, 1000.0));
    }

    #[test]
    fn windows_agree_within_a_line_and_a_twentieth() {
        let read = |second: u64| {
            let all = [(0, 0), (200_000, 4000), (600_000, 4000 + 2 * second)];
            pipe(Peer::Idle).read(&of(all), &Symbols::default())
        };
        assert!(read(4400).unwrap().0.disagreement > 0.05);
        let error = read(4500).unwrap_err();
        assert!(error.contains("found 20.00 lines in 100 rounds and 22.50 in 200"), "{error}");
    }
}
