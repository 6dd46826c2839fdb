//! The prefetch engine of one core. In the background, it logs the contents of the caches and restores them.
//!
//! A log walks the cache directory entry by entry and records what it finds there at that moment. The next log or restore
//! aborts it. A restore fetches the lines of a table at its rate, but no faster than memory delivers them.

use crate::CacheError;
use crate::hierarchy::{Hierarchy, Level};
use crate::logmpp::{LogControl, Logmpp};
use crate::mppr::{Extent, Mppr};
use crate::sampling::Sampling;
use crate::table::{ENTRY_BYTES, Entry, LogTable, SizeClass, Tables};
use setting::Rate;

/// Speed of the engine, in ns.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EnginePace {
    /// From one directory entry to the next while logging.
    pub log_ns: f64,
    /// From one line to the next while restoring, by [`Rate`].
    pub restore_ns: [f64; Rate::COUNT],
    /// Time for one line from memory at the engine's share of the bandwidth.
    pub transfer_ns: f64,
}

/// What the engine did. Lines are sampled lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EngineCounters {
    /// Logs begun.
    pub logs: u64,
    /// Logs aborted before their end.
    pub aborted: u64,
    /// Entries written.
    pub logged: u64,
    /// Restores begun.
    pub restores: u64,
    /// Restores stopped before their end.
    pub stopped: u64,
    /// Lines fetched from memory.
    pub from_memory: u64,
    /// Lines moved from the L3 to the L2.
    pub from_l3: u64,
    /// Lines that were there already.
    pub present: u64,
}

/// The current activity; tables are given by number.
#[derive(Debug, Clone, Copy, PartialEq)]
enum State {
    Idle,
    Logging { table: u32, class: SizeClass, place: usize },
    Restoring { table: u32, at: usize, rate: Rate },
}

/// The engine.
#[derive(Debug, Clone)]
pub struct Engine {
    state: State,
    /// Time of the next step.
    due_ns: f64,
    /// Bytes of tables read or written since the last whole line of them.
    table_bytes: f64,
    line_bytes: f64,
    factor: f64,
    counters: EngineCounters,
}

impl Engine {
    /// Creates an engine at rest, for lines of `line_bytes`.
    pub fn new(line_bytes: u32, sampling: Sampling) -> Engine {
        Engine {
            state: State::Idle,
            due_ns: f64::INFINITY,
            table_bytes: 0.0,
            line_bytes: f64::from(line_bytes),
            factor: f64::from(sampling.factor()),
            counters: EngineCounters::default(),
        }
    }

    /// Time of the next step, in ns; infinite at rest.
    #[inline]
    pub fn due_ns(&self) -> f64 {
        self.due_ns
    }

    /// The counters so far.
    pub fn counters(&self) -> &EngineCounters {
        &self.counters
    }

    /// Executes `logmpp` with the operand `bits`: stops the current log or restore; a new log clears its table. Log control
    /// "no-op" does nothing.
    ///
    /// # Errors
    /// As [`Logmpp::decode`] and [`Tables::number`].
    pub fn logmpp(
        &mut self,
        bits: u64,
        tables: &mut Tables,
        now_ns: f64,
    ) -> Result<(), CacheError> {
        let operand = Logmpp::decode(bits)?;
        let class = match operand.control {
            LogControl::NoOp => return Ok(()),
            LogControl::Abort => {
                self.rest();
                return Ok(());
            }
            LogControl::L2 => SizeClass::L2,
            LogControl::L2AndL3 => SizeClass::L2AndL3,
        };
        let number = tables.number(operand.table.address(), class)?;
        self.rest();
        if let Some(table) = tables.get_mut(number) {
            table.clear();
        }
        self.counters.logs += 1;
        self.state = State::Logging { table: number, class, place: 0 };
        self.due_ns = now_ns;
        Ok(())
    }

    /// Writes `bits` to the MPPR: stops the current log or restore, and starts a restore unless the register says "no data".
    ///
    /// # Errors
    /// As [`Mppr::decode`] and [`Tables::number`].
    pub fn mppr(&mut self, bits: u64, tables: &Tables, now_ns: f64) -> Result<(), CacheError> {
        let register = Mppr::decode(bits, tables.class())?;
        let table = tables.number(register.table.address(), tables.class())?;
        self.rest();
        if register.extent == Extent::UntilEnd {
            self.counters.restores += 1;
            self.state = State::Restoring { table, at: 0, rate: register.rate };
            self.due_ns = now_ns;
        }
        Ok(())
    }

    /// Aborts the log and stops the restore.
    fn rest(&mut self) {
        match self.state {
            State::Logging { .. } => self.counters.aborted += 1,
            State::Restoring { .. } => self.counters.stopped += 1,
            State::Idle => {}
        }
        self.state = State::Idle;
        self.due_ns = f64::INFINITY;
    }

    /// Advances to `now_ns`. Returns the number of lines moved from and to memory, including those of the table.
    pub fn advance(
        &mut self,
        now_ns: f64,
        pace: &EnginePace,
        caches: &mut Hierarchy,
        tables: &mut Tables,
    ) -> f64 {
        let mut moved = 0.0;
        while self.due_ns <= now_ns {
            moved += self.step(pace, caches, tables);
        }
        moved
    }

    /// Does one step. Returns the number of lines moved.
    fn step(&mut self, pace: &EnginePace, caches: &mut Hierarchy, tables: &mut Tables) -> f64 {
        let (lines, least_ns) = match &mut self.state {
            State::Idle => (None, 0.0),
            &mut State::Logging { table, class, ref mut place } => {
                *place += 1;
                let at = *place - 1;
                let table = tables.get_mut(table);
                (table.and_then(|t| self.log_place(at, class, caches, t)), pace.log_ns)
            }
            &mut State::Restoring { table, ref mut at, rate } => {
                *at += 1;
                let at = *at - 1;
                let table = tables.get(table);
                let least_ns = pace.restore_ns[rate as usize];
                (table.and_then(|t| self.restore_line(at, caches, t)), least_ns)
            }
        };
        let Some(lines) = lines else {
            self.state = State::Idle;
            self.due_ns = f64::INFINITY;
            return 0.0;
        };
        self.due_ns += (self.factor * least_ns).max(lines * pace.transfer_ns);
        lines
    }

    /// Logs one directory entry: first those of the L2, then, if both are logged, the most recent line of each set of the L3.
    /// Returns the number of lines moved; `None` at the end.
    fn log_place(
        &mut self,
        place: usize,
        class: SizeClass,
        caches: &Hierarchy,
        table: &mut LogTable,
    ) -> Option<f64> {
        let l2 = caches.l2().capacity();
        let entry = if place < l2 {
            caches.l2().at(place).map(|line| Entry { line, l3: false })
        } else if class == SizeClass::L2AndL3 && place - l2 < caches.l3().sets() {
            caches.l3().most_recent(place - l2).map(|line| Entry { line, l3: true })
        } else {
            return None;
        };
        let Some(entry) = entry else { return Some(0.0) };
        if !table.push(entry) {
            return None;
        }
        self.counters.logged += 1;
        Some(self.table_lines())
    }

    /// Restores the line of one entry. Returns the number of lines moved; `None` at the end.
    fn restore_line(&mut self, at: usize, caches: &mut Hierarchy, table: &LogTable) -> Option<f64> {
        let Entry { line, l3 } = table.entry(at)?;
        let found = if l3 {
            caches.prefetch_l3(line).map(|writebacks| (Level::Memory, writebacks))
        } else {
            caches.prefetch_l2(line)
        };
        let of_table = self.table_lines();
        let moved = match found {
            None => {
                self.counters.present += 1;
                0.0
            }
            Some((Level::Memory, writebacks)) => {
                self.counters.from_memory += 1;
                f64::from(1 + writebacks)
            }
            Some((_, writebacks)) => {
                self.counters.from_l3 += 1;
                f64::from(writebacks)
            }
        };
        Some(of_table + moved * self.factor)
    }

    /// Whole lines of the table that one more entry fills.
    fn table_lines(&mut self) -> f64 {
        self.table_bytes += ENTRY_BYTES as f64 * self.factor;
        let whole = (self.table_bytes / self.line_bytes).floor();
        self.table_bytes -= whole * self.line_bytes;
        whole
    }
}
