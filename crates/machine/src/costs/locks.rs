//! Locks that operations take, counted with them.

use super::{Operation, Side};
use serde::{Deserialize, Serialize};

/// Which part of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SideName {
    /// [`Operation::give`].
    Give,
    /// [`Operation::take`].
    Take,
    /// [`Operation::woken`].
    Woken,
    /// [`Operation::own`].
    Own,
    /// [`Operation::child`].
    Child,
}

impl SideName {
    /// All, in order.
    pub const ALL: [SideName; 5] =
        [SideName::Give, SideName::Take, SideName::Woken, SideName::Own, SideName::Child];

    /// As tables have it.
    pub fn name(self) -> &'static str {
        match self {
            SideName::Give => "give",
            SideName::Take => "take",
            SideName::Woken => "woken",
            SideName::Own => "own",
            SideName::Child => "child",
        }
    }
}

/// What a lock protects, by who takes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LockClass {
    /// A CPU's queue of tasks.
    RunQueue,
    /// A queue of tasks that wait for something.
    WaitQueue,
    /// A pipe.
    Pipe,
    /// A socket, its queues and what a packet passes.
    Socket,
    /// A bucket of futexes.
    Futex,
    /// One task: its state, its signals, its times.
    Task,
    /// The list of all tasks, and their numbers.
    Process,
    /// An address space, its page tables and who maps what.
    Memory,
    /// Where memory comes from: pages, slabs, what control groups may have.
    Allocator,
    /// Files, directories and their caches.
    Filesystem,
    /// Timers.
    Timer,
    /// Read-copy-update.
    Rcu,
    /// All others.
    Other,
}

impl LockClass {
    /// As tables have it.
    pub fn name(self) -> &'static str {
        match self {
            LockClass::RunQueue => "run_queue",
            LockClass::WaitQueue => "wait_queue",
            LockClass::Pipe => "pipe",
            LockClass::Socket => "socket",
            LockClass::Futex => "futex",
            LockClass::Task => "task",
            LockClass::Process => "process",
            LockClass::Memory => "memory",
            LockClass::Allocator => "allocator",
            LockClass::Filesystem => "filesystem",
            LockClass::Timer => "timer",
            LockClass::Rcu => "rcu",
            LockClass::Other => "other",
        }
    }
}

/// Locks of a class that one side of an operation takes. Those that it takes while it holds others count for these, too.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lock {
    /// The side.
    pub side: SideName,
    /// What the locks protect.
    pub class: LockClass,
    /// Whether others may hold such a lock at the same time, for reading.
    #[serde(default, skip_serializing_if = "is_false")]
    pub shared: bool,
    /// How often one is taken.
    pub taken: f64,
    /// Instructions of the kernel while it is held, for each taking.
    pub instructions: f64,
    /// Waits for lines and stores while it is held ([`Side::stalls`]), for each taking.
    pub stalls: f64,
    /// Instructions of spinning until it was had, for each taking: they count neither here nor for locks that were held meanwhile.
    #[serde(default)]
    pub spun: f64,
}

fn is_false(value: &bool) -> bool {
    !value
}

impl Lock {
    pub(super) fn counts(&self) -> [f64; 4] {
        [self.taken, self.instructions, self.stalls, self.spun]
    }
}

impl Operation {
    /// What was counted on a side.
    pub fn side(&self, name: SideName) -> Option<Side> {
        match name {
            SideName::Give => self.give,
            SideName::Take => self.take,
            SideName::Woken => self.woken,
            SideName::Own => self.own,
            SideName::Child => self.child,
        }
    }

    /// Locks of a side.
    pub fn locks_of(&self, side: SideName) -> impl Iterator<Item = &Lock> {
        self.locks.iter().filter(move |lock| lock.side == side)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{CostTable, CostsError, named};
    use super::*;
    use std::sync::Arc;

    fn with_lock(taken: f64) -> CostTable {
        let mut table = Arc::unwrap_or_clone(named("arm64-6.12").unwrap());
        table.operations[0].locks = vec![Lock {
            side: SideName::Give,
            class: LockClass::RunQueue,
            shared: false,
            taken,
            instructions: 640.0,
            stalls: 7.1,
            spun: 0.0,
        }];
        table
    }

    #[test]
    fn a_table_with_locks_and_one_without() {
        let table = with_lock(2.0);
        let text = toml::to_string(&table).unwrap();
        assert!(text.contains("[[operation.lock]]\nside = \"give\"\nclass = \"run_queue\""));
        assert_eq!(CostTable::parse(&text, "mine").as_ref(), Ok(&table));
        let mut before = table;
        before.operations.iter_mut().for_each(|operation| operation.locks.clear());
        let text = toml::to_string(&before).unwrap();
        assert!(!text.contains("lock"));
        assert_eq!(CostTable::parse(&text, "old"), Ok(before));
    }

    #[test]
    fn bad_locks_are_refused() {
        let text = toml::to_string(&with_lock(-1.0)).unwrap();
        assert!(
            matches!(CostTable::parse(&text, "mine"), Err(CostsError::Count { found, .. }) if found == -1.0)
        );
        let unknown = toml::to_string(&with_lock(1.0)).unwrap().replace("run_queue", "door");
        assert!(CostTable::parse(&unknown, "mine").unwrap_err().to_string().contains("door"));
    }
}
