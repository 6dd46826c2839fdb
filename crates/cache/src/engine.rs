//! The engine of one core: it logs the caches' contents in the background, and restores them in the background.
//!
//! A log goes through the directory place by place and notes what is there when it comes by; it is aborted before another
//! begins and before a restore. A restore brings the table's lines at its rate and no faster than memory gives them.

use crate::CacheError;
use crate::hierarchy::{Hierarchy, Level};
use crate::logmpp::{LogControl, Logmpp};
use crate::mppr::{Extent, Mppr};
use crate::sampling::Sampling;
use crate::table::{ENTRY_BYTES, Entry, LogTable, SizeClass, Tables};
use setting::Rate;

/// How fast the engine is, in ns.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EnginePace {
    /// From a place of the directory to the next while logging.
    pub log_ns: f64,
    /// From a line to the next while restoring, by [`Rate`].
    pub restore_ns: [f64; Rate::COUNT],
    /// What memory takes for a line at the bandwidth that the engine gets.
    pub transfer_ns: f64,
}

/// What the engine did, in sampled lines.
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
    /// Lines brought from memory.
    pub from_memory: u64,
    /// Lines brought from the L3 to the L2.
    pub from_l3: u64,
    /// Lines that were there already.
    pub present: u64,
}

/// What it is doing; tables go by number.
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
    /// When it does its next step.
    due_ns: f64,
    /// Bytes of tables read or written since the last whole line of them.
    table_bytes: f64,
    line_bytes: f64,
    factor: f64,
    counters: EngineCounters,
}

impl Engine {
    /// An engine at rest, for lines of `line_bytes`.
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

    /// When it does its next step, in ns; infinite at rest.
    #[inline]
    pub fn due_ns(&self) -> f64 {
        self.due_ns
    }

    /// What it did.
    pub fn counters(&self) -> &EngineCounters {
        &self.counters
    }

    /// `logmpp` with the operand `bits`: what is being logged or restored is left off, and a log's table begins anew.
    /// Log control "no-op" does nothing.
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

    /// A write of `bits` to the MPPR: what is being logged or restored is left off, and a restore begins unless the
    /// register says "no data".
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

    /// Does what is due until `now_ns`: lines moved from and to memory, those of its table included.
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

    /// One step: lines moved.
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

    /// Logs a place of the directory: that of the L2, then, where both are logged, the most recent line of each set of the
    /// L3. Lines moved; `None` at the end.
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

    /// Brings the line of an entry. Lines moved; `None` at the end.
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

    /// The lines of the table that an entry takes, whole ones.
    fn table_lines(&mut self) -> f64 {
        self.table_bytes += ENTRY_BYTES as f64 * self.factor;
        let whole = (self.table_bytes / self.line_bytes).floor();
        self.table_bytes -= whole * self.line_bytes;
        whole
    }
}
