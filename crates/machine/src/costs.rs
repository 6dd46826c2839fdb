//! What operations of a kernel cost, counted in guests: cache lines that travel between CPUs, and instructions.
//!
//! A table belongs to an architecture and a release. It holds no times: those follow from a machine's constants.

mod locks;
mod parts;
mod shipped;

pub use locks::{Lock, LockClass, SideName};
pub use parts::{Channel, End, Look, Parts, RunQueue, Target, Wake, Work};
use serde::{Deserialize, Serialize};
pub use shipped::{counted_on, find, named, names, nearest};

/// A table that is none.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum CostsError {
    /// A file that cannot be read as a table.
    #[error("{file}: {reason}")]
    File {
        /// The file.
        file: String,
        /// Line, column and what is wrong there.
        reason: String,
    },
    /// A name that no table has.
    #[error("found no table `{name}`, expected a file (.toml) or one of {known}")]
    Unknown {
        /// The name.
        name: String,
        /// Those that there are.
        known: String,
    },
    /// An architecture of which nothing was counted.
    #[error("no costs were counted on the machine's architecture, but {known}")]
    Architecture {
        /// Those that there are.
        known: String,
    },
    /// A count that cannot be.
    #[error("{file}: operation {operation}: found {found}, expected counts that are 0 or more")]
    Count {
        /// The file.
        file: String,
        /// Its name.
        operation: String,
        /// The count.
        found: f64,
    },
}

/// A count that a table lacks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{table}: {what} is missing, which the simulator needs (see `schedscape measure costs`)")]
pub struct MissingCount {
    /// The table's architecture and kernel.
    pub table: String,
    /// Operation, other end and side.
    pub what: String,
}

/// Messages at a time where they are [buffered](Peer::Buffered): a pipe holds far more.
pub const BUFFERED: u64 = 10;

/// What was counted on one kernel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CostTable {
    /// Architecture of the guest, in Debian's name.
    pub arch: String,
    /// What `uname -r` says.
    pub kernel: String,
    /// QEMU's version.
    pub qemu: String,
    /// QEMU's arguments for the machine.
    pub machine: String,
    /// What the kernel's command line had beyond what every guest's has, such as mitigations that are off.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub append: String,
    /// Bytes of a cache line.
    pub line_bytes: u32,
    /// Instructions by which the guest's CPUs may be apart.
    pub quantum: u32,
    /// Operations, as `schedscape measure costs` counts them.
    #[serde(rename = "operation")]
    pub operations: Vec<Operation>,
}

impl CostTable {
    /// The table in `text`, which `file` holds.
    ///
    /// # Errors
    /// Text that is no table, and counts below 0.
    pub fn parse(text: &str, file: &str) -> Result<CostTable, CostsError> {
        let table: CostTable = toml::from_str(text).map_err(|e| CostsError::File {
            file: file.to_string(),
            reason: e.to_string().trim_end().to_string(),
        })?;
        for operation in &table.operations {
            let sides = operation.sides().flat_map(|(_, side)| side.counts());
            let mut counts = sides.chain(operation.locks.iter().flat_map(Lock::counts));
            if let Some(found) = counts.find(|count| !(count.is_finite() && *count >= 0.0)) {
                let (file, operation) = (file.to_string(), operation.name.clone());
                return Err(CostsError::Count { file, operation, found });
            }
        }
        Ok(table)
    }

    /// The operation `name` with this other end, between processes or threads.
    ///
    /// # Errors
    /// One that the table lacks.
    pub fn operation(
        &self,
        name: &str,
        peer: Peer,
        threads: bool,
    ) -> Result<&Operation, MissingCount> {
        let found = self
            .operations
            .iter()
            .find(|o| (o.name.as_str(), o.peer, o.threads) == (name, peer, threads));
        found.ok_or_else(|| self.lacks(name, peer, ""))
    }

    /// The same table with the kernel's instructions, and all lines, times these factors.
    pub fn scaled(&self, instructions: f64, lines: f64) -> CostTable {
        let mut table = self.clone();
        for o in &mut table.operations {
            let sides = [&mut o.give, &mut o.take, &mut o.woken, &mut o.own, &mut o.child];
            sides.into_iter().flatten().for_each(|side| side.scale(instructions, lines));
        }
        table
    }

    /// That a side of an operation was not counted, or all of it.
    pub fn lacks(&self, operation: &str, peer: Peer, side: &str) -> MissingCount {
        let words = [operation, peer.words(), side];
        let what: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
        MissingCount { table: format!("{} {}", self.arch, self.kernel), what: what.join(", ") }
    }
}

impl Operation {
    /// What was counted, by side.
    pub fn sides(&self) -> impl Iterator<Item = (SideName, Side)> {
        SideName::ALL.into_iter().filter_map(|name| Some((name, self.side(name)?)))
    }
}

impl Peer {
    /// For people.
    pub fn words(self) -> &'static str {
        match self {
            Peer::Idle => "its CPU is idle",
            Peer::Busy => "its CPU is busy",
            Peer::FarIdle => "idle, other cache",
            Peer::FarBusy => "busy, other cache",
            Peer::SameCpu => "same CPU",
            Peer::Buffered => "buffered",
            Peer::Alternating => "one by one",
            Peer::None => "",
        }
    }
}

/// Where the task at the other end of an operation is, and what its CPU does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Peer {
    /// On another CPU of the last-level cache, which is idle while the task sleeps.
    Idle,
    /// On another CPU of the last-level cache; both CPUs run a `SCHED_IDLE` task while theirs sleeps.
    Busy,
    /// On a CPU of another last-level cache, idle while the task sleeps.
    FarIdle,
    /// On a CPU of another last-level cache, busy while the task sleeps.
    FarBusy,
    /// On the same CPU.
    SameCpu,
    /// On another CPU, and it does not wait: messages are buffered, and written and read [`BUFFERED`] at a time.
    Buffered,
    /// The same, one at a time: each end finds that the other one had the lines last.
    Alternating,
    /// There is none.
    None,
}

/// One operation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Operation {
    /// What it is: `pipe`, `tcp`, `fork`.
    pub name: String,
    /// Its other end.
    pub peer: Peer,
    /// Whether both ends are threads of one process.
    pub threads: bool,
    /// Bytes of a message; 0 where there is none.
    pub bytes: u64,
    /// How often it was done in the second window.
    pub rounds: u64,
    /// By how much the first window's lines differ from the second's, as a share of the second's, or of a line where these are fewer.
    pub disagreement: f64,
    /// Lines in each window, in order, where windows never agreed: the sides are the mean over all of them, `rounds` are those of all,
    /// and `disagreement` is from the least to the most. Empty where they agreed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub windows: Vec<f64>,
    /// The side that sends, forks, wakes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub give: Option<Side>,
    /// The side that receives: until its CPU is idle, or all of it where its CPU never is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub take: Option<Side>,
    /// The rest of that side: from the interrupt that ends its CPU's idle state until it goes on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub woken: Option<Side>,
    /// An operation without sides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub own: Option<Side>,
    /// A child, from its start to its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub child: Option<Side>,
    /// Locks that the sides take; none in a table of before they were counted.
    #[serde(rename = "lock", default, skip_serializing_if = "Vec::is_empty")]
    pub locks: Vec<Lock>,
}

/// What one side of an operation does once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Side {
    /// Lines that a read waited for.
    pub reads: f64,
    /// Lines that an atomic operation waited for.
    pub atomics: f64,
    /// Lines that the CPU had, and that an atomic operation had to have alone.
    pub atomic_upgrades: f64,
    /// Lines that the CPU had, and that a plain write had to have alone.
    pub upgrades: f64,
    /// Lines of others that a plain write took.
    pub writes: f64,
    /// Barriers and atomic operations that had to wait for one or more of those writes.
    pub store_waits: f64,
    /// Instructions of the kernel.
    pub kernel_instructions: f64,
    /// Instructions of the program.
    pub user_instructions: f64,
}

impl Side {
    fn counts(&self) -> [f64; 8] {
        let Side { reads, atomics, atomic_upgrades, upgrades, writes, .. } = *self;
        let (kernel, user) = (self.kernel_instructions, self.user_instructions);
        [reads, atomics, atomic_upgrades, upgrades, writes, self.store_waits, kernel, user]
    }

    fn scale(&mut self, instructions: f64, lines: f64) {
        let Side { reads, atomics, atomic_upgrades, upgrades, writes, store_waits, .. } = self;
        for count in [reads, atomics, atomic_upgrades, upgrades, writes, store_waits] {
            *count *= lines;
        }
        self.kernel_instructions *= instructions;
    }

    /// Lines that moved, of all kinds.
    pub fn lines(&self) -> f64 {
        self.reads + self.atomics + self.atomic_upgrades + self.upgrades + self.writes
    }

    /// How often the CPU waited for a line: for those that a read or an atomic operation wanted, and at barriers after plain writes.
    pub fn stalls(&self) -> f64 {
        self.reads + self.atomics + self.atomic_upgrades + self.store_waits
    }
}
