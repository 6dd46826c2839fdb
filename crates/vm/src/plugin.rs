//! Cache lines and instructions of a guest, counted by a plugin in QEMU.
//!
//! The plugin (`plugin/lines`, C) is built when it is needed. It watches every access to memory from the moment at which a program in
//! the guest asks for that, and keeps who has which line. Programs divide what they do into sections by marks, and ask for snapshots,
//! which QEMU writes to a file of this computer.

use crate::compile::Sources;
use crate::packages::host_arch;
use crate::{Cache, VmError};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

pub(crate) const PLUGIN: Sources = Sources {
    name: "plugin",
    files: &[
        ("coherence.c", include_str!("plugin/lines/coherence.c")),
        ("decode.c", include_str!("plugin/lines/decode.c")),
        ("locks.c", include_str!("plugin/lines/locks.c")),
        ("lockstep.c", include_str!("plugin/lines/lockstep.c")),
        ("main.c", include_str!("plugin/lines/main.c")),
        ("marks.c", include_str!("plugin/lines/marks.c")),
        ("text.c", include_str!("plugin/lines/text.c")),
    ],
    headers: &[
        ("lines.h", include_str!("plugin/lines/lines.h")),
        ("qemu.h", include_str!("plugin/lines/qemu.h")),
    ],
    flags: &["-std=gnu11", "-O2", "-Wall", "-Wextra", "-fPIC", "-shared", "-fvisibility=hidden"],
    libraries: &[],
};

impl Cache {
    /// The plugin for this computer's QEMU, built if this source has not been built before.
    ///
    /// # Errors
    /// No compiler that does it, with what to install.
    pub fn plugin(&self) -> Result<PathBuf, VmError> {
        self.build(&PLUGIN, host_arch()?)
    }
}

/// How the plugin watches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Watching {
    /// Bytes of a cache line: a power of two, 16 or more.
    pub line_bytes: u32,
    /// Instructions by which CPUs may be apart.
    pub quantum: u32,
}

impl Watching {
    /// QEMU's arguments: the plugin, and what executes the guest so that it works. Locks are watched if there is a file that says where
    /// the kernel's lock functions are ([`crate::symbols::Symbols::lock_functions`]).
    pub fn arguments(self, plugin: &Path, out: &Path, locks: Option<&Path>) -> Vec<String> {
        let Watching { line_bytes, quantum } = self;
        let (plugin, out) = (plugin.display(), out.display());
        let mut options = format!("file={plugin},out={out},line={line_bytes},quantum={quantum}");
        if let Some(locks) = locks {
            options.push_str(&format!(",locks={}", locks.display()));
        }
        ["-accel", "tcg,thread=multi", "-plugin", &options].map(str::to_owned).to_vec()
    }
}

/// Why a CPU asked another one for a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A read.
    Read,
    /// An atomic operation.
    Atomic,
    /// An atomic operation on a line that the CPU has, and others, too.
    AtomicUpgrade,
    /// A plain write of a line that the CPU has, and others, too.
    Upgrade,
    /// A plain write of a line that only others have.
    Write,
}

impl Kind {
    const NAMES: [(&'static str, Kind); 5] = [
        ("read", Kind::Read),
        ("atomic", Kind::Atomic),
        ("atomic_upgrade", Kind::AtomicUpgrade),
        ("upgrade", Kind::Upgrade),
        ("write", Kind::Write),
    ];
}

/// How a lock is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Held {
    /// A spinlock, or a rwlock for writing: alone, and who waits spins.
    Spin,
    /// A run queue's spinlock.
    Queue,
    /// A rwlock for reading.
    Read,
    /// A mutex: alone, and who waits sleeps.
    Mutex,
    /// A semaphore of readers and writers, for writing.
    Sem,
    /// Such a semaphore, for reading.
    SemRead,
}

impl Held {
    const NAMES: [(&'static str, Held); 6] = [
        ("spin", Held::Spin),
        ("queue", Held::Queue),
        ("read", Held::Read),
        ("mutex", Held::Mutex),
        ("sem", Held::Sem),
        ("sem_read", Held::SemRead),
    ];

    /// Whether others may hold the lock at the same time.
    pub fn shared(self) -> bool {
        matches!(self, Held::Read | Held::SemRead)
    }
}

/// Locks that one place in the kernel took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Takings {
    /// How often.
    pub taken: u64,
    /// How often the lock was not free.
    pub contended: u64,
    /// Instructions of the kernel while they were held, without those of spinning for further ones.
    pub instructions: u64,
    /// Waits for lines or stores while they were held.
    pub stalls: u64,
    /// Instructions of spinning before they were had.
    pub spun: u64,
}

impl std::ops::AddAssign for Takings {
    fn add_assign(&mut self, other: Takings) {
        self.taken += other.taken;
        self.contended += other.contended;
        self.instructions += other.instructions;
        self.stalls += other.stalls;
        self.spun += other.spun;
    }
}

impl std::ops::Sub for Takings {
    type Output = Takings;

    /// What is left without `earlier` ones, which are part of these.
    fn sub(self, earlier: Takings) -> Takings {
        Takings {
            taken: self.taken - earlier.taken,
            contended: self.contended - earlier.contended,
            instructions: self.instructions - earlier.instructions,
            stalls: self.stalls - earlier.stalls,
            spun: self.spun - earlier.spun,
        }
    }
}

/// What one CPU counted in one section since it was watched.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts {
    /// Instructions of the kernel.
    pub kernel_instructions: u64,
    /// Instructions of programs and firmware.
    pub user_instructions: u64,
    /// Barriers and atomic operations that had to wait for stores before them.
    pub store_waits: u64,
    /// Accesses to memory beyond what is watched.
    pub unseen: u64,
    /// Lines by why they came and from which CPU.
    pub lines: BTreeMap<(Kind, u32), u64>,
    /// Locks by how they were held and the address of a block of the function that took them.
    pub locks: BTreeMap<(Held, u64), Takings>,
}

impl Counts {
    /// Adds what `later` has more than `earlier`.
    pub fn add_difference(&mut self, later: &Counts, earlier: &Counts) {
        self.kernel_instructions += later.kernel_instructions - earlier.kernel_instructions;
        self.user_instructions += later.user_instructions - earlier.user_instructions;
        self.store_waits += later.store_waits - earlier.store_waits;
        self.unseen += later.unseen - earlier.unseen;
        for (key, &count) in &later.lines {
            *self.lines.entry(*key).or_default() +=
                count - earlier.lines.get(key).copied().unwrap_or(0);
        }
        for (key, &takings) in &later.locks {
            let earlier = earlier.locks.get(key).copied().unwrap_or_default();
            *self.locks.entry(*key).or_default() += takings - earlier;
        }
    }
}

/// Everything that was counted up to a mark.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// The number that the program gave it.
    pub number: u32,
    /// By CPU and section.
    pub counts: BTreeMap<(u32, u32), Counts>,
}

impl Snapshot {
    /// What each CPU counted since `earlier`, in all sections.
    pub fn by_cpu_since(&self, earlier: &Snapshot) -> BTreeMap<u32, Counts> {
        let mut by_cpu: BTreeMap<u32, Counts> = BTreeMap::new();
        let nothing = Counts::default();
        for (key, later) in &self.counts {
            let before = earlier.counts.get(key).unwrap_or(&nothing);
            by_cpu.entry(key.0).or_default().add_difference(later, before);
        }
        by_cpu
    }

    /// What all CPUs counted in `section` since `earlier`.
    pub fn since(&self, earlier: &Snapshot, section: u32) -> Counts {
        let mut sum = Counts::default();
        let nothing = Counts::default();
        for (key, later) in self.counts.iter().filter(|(key, _)| key.1 == section) {
            sum.add_difference(later, earlier.counts.get(key).unwrap_or(&nothing));
        }
        sum
    }
}

/// What the plugin wrote, as far as it got.
///
/// # Errors
/// The first line that is not as the plugin writes it.
pub fn snapshots(text: &str) -> Result<Vec<Snapshot>, String> {
    let mut found: Vec<Snapshot> = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let words: Vec<&str> = line.split(' ').collect();
        read_line(&words, &mut found)
            .ok_or_else(|| format!("line {}: found `{line}`, expected a count", at + 1))?;
    }
    Ok(found)
}

/// What the last snapshot has of a CPU and a section.
fn counts<'a>(found: &'a mut [Snapshot], cpu: &str, section: &str) -> Option<&'a mut Counts> {
    let key = (cpu.parse().ok()?, section.parse().ok()?);
    Some(found.last_mut()?.counts.entry(key).or_default())
}

fn takings(numbers: &[&str]) -> Option<Takings> {
    let [taken, contended, instructions, stalls, spun] = *numbers else { return None };
    Some(Takings {
        taken: taken.parse().ok()?,
        contended: contended.parse().ok()?,
        instructions: instructions.parse().ok()?,
        stalls: stalls.parse().ok()?,
        spun: spun.parse().ok()?,
    })
}

fn read_line(words: &[&str], found: &mut Vec<Snapshot>) -> Option<()> {
    match *words {
        ["snapshot", number] => {
            found.push(Snapshot { number: number.parse().ok()?, ..Snapshot::default() });
        }
        ["cpu", cpu, section, kernel, user, waits, unseen] => {
            let of = counts(found, cpu, section)?;
            of.kernel_instructions = kernel.parse().ok()?;
            of.user_instructions = user.parse().ok()?;
            of.store_waits = waits.parse().ok()?;
            of.unseen = unseen.parse().ok()?;
        }
        ["lines", cpu, section, kind, from, count] => {
            let kind = Kind::NAMES.iter().find(|(name, _)| *name == kind)?.1;
            let key = (kind, from.parse().ok()?);
            counts(found, cpu, section)?.lines.insert(key, count.parse().ok()?);
        }
        ["lock", cpu, section, how, caller, ref numbers @ ..] => {
            let how = Held::NAMES.iter().find(|(name, _)| *name == how)?.1;
            let caller = u64::from_str_radix(caller, 16).ok()?;
            counts(found, cpu, section)?.locks.insert((how, caller), takings(numbers)?);
        }
        ["end", gave_up] => drop(gave_up.parse::<u64>().ok()?),
        _ => return None,
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "snapshot 0\ncpu 0 1 100 20 1 0\nlines 0 1 read 1 5\n\
                        snapshot 1\ncpu 0 1 150 30 3 0\nlines 0 1 read 1 9\nlines 0 1 upgrade 1 2\ncpu 1 1 7 0 0 0\nend 3\n";

    #[test]
    fn what_comes_between_snapshots() {
        let all = snapshots(TEXT).unwrap();
        assert_eq!(all.iter().map(|s| s.number).collect::<Vec<_>>(), [0, 1]);
        let found = all[1].since(&all[0], 1);
        assert_eq!((found.kernel_instructions, found.user_instructions), (57, 10));
        assert_eq!(found.store_waits, 2);
        let lines = BTreeMap::from([((Kind::Read, 1), 4), ((Kind::Upgrade, 1), 2)]);
        assert_eq!(found.lines, lines);
        assert_eq!(all[1].since(&all[0], 2), Counts::default());
    }

    #[test]
    fn locks_between_snapshots() {
        let text = "snapshot 0\nlock 0 1 spin ff00 2 1 30 4 50\nsnapshot 1\nlock 0 1 spin ff00 5 1 90 7 50\n\
                    lock 1 1 spin ff00 1 0 10 0 0\n";
        let all = snapshots(text).unwrap();
        let found = all[1].since(&all[0], 1).locks[&(Held::Spin, 0xff00)];
        let expected = Takings { taken: 4, contended: 0, instructions: 70, stalls: 3, spun: 0 };
        assert_eq!(found, expected);
    }

    #[test]
    fn rubbish_is_named() {
        for bad in [
            "cpu 0 1 1 1 0 0",
            "snapshot x",
            "snapshot 0\nlines 0 1 dance 1 5",
            "snapshot 0\nlock 0 1 spin ff00 1 2 3 4",
            "snapshot 0\nlock 0 1 spin xyz 1 2 3 4 5",
            "hello",
        ] {
            let error = snapshots(bad).unwrap_err();
            assert!(error.contains("expected a count"), "{error}");
        }
    }
}
