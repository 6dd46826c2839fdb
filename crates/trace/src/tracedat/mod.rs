//! Writer of trace.dat, version 6, which trace-cmd and KernelShark read (trace-cmd.dat.v6(5), of trace-cmd).
//!
//! The file begins with a header that names all tasks. Then come the pages of each CPU's ring buffer, CPU by CPU. Neither is
//! complete before the run ends. Until then, full pages wait in a spool file, in the order in which they filled up.

mod format;
mod page;

use crate::event::{Comm, Event, IDLE_EXIT, Kind, Sink, Task};
use crate::{About, TraceError};
use format::{
    ENTRY_HEADER, FREQUENCY, Format, IDLE, MIGRATE, PAGE_HEADER, SWITCH, SYSTEMS, WAKING, WOKEN,
    WOKEN_NEW,
};
use page::{PAGE, Page};
use std::io::{Read, Seek, SeekFrom, Write};

/// `TRACECMD_OPTION_TRACECLOCK`.
const TRACE_CLOCK: u16 = 4;
/// `TRACECMD_OPTION_UNAME`.
const UNAME: u16 = 5;

/// Writes records as a trace.dat. Leaves out what is no tracepoint of a kernel ([`Kind::is_tracepoint`]).
#[derive(Debug)]
pub struct TraceDat<W, S> {
    out: W,
    /// File with the full pages.
    spool: S,
    /// By page in the spool file: its CPU.
    cpus: Vec<u32>,
    /// By CPU: the page being filled.
    pages: Vec<Page>,
    /// By thread ID: the last name.
    names: Vec<Comm>,
    uname: String,
    irq_info: bool,
}

impl<W: Write, S: Read + Write + Seek> TraceDat<W, S> {
    /// Creates a writer to `out`, which [`Sink::finish`] fills. Until then, records are in `spool`, an initially empty file,
    /// except for one page per CPU in memory. `irq_info` is ftrace's option of that name; without it, no record has the depth
    /// of disabled preemption.
    pub fn new(out: W, spool: S, about: &About, irq_info: bool) -> TraceDat<W, S> {
        let uname = format!("Linux {} {} ({})", about.release, about.machine, about.source);
        let pages = about.cpu_names.iter().map(|_| Page::default()).collect();
        let (cpus, names) = (Vec::new(), Vec::new());
        TraceDat { out, spool, cpus, pages, names, uname, irq_info }
    }

    fn meet(&mut self, task: (Comm, u32)) {
        let (comm, pid) = (task.0, task.1 as usize);
        if pid >= self.names.len() {
            self.names.resize(pid + 1, Comm::default());
        }
        if let Some(name) = self.names.get_mut(pid) {
            *name = comm;
        }
    }

    /// Begins a record on its CPU's page, or on a new page if that is full.
    fn begin(&mut self, event: &Event, format: &Format) -> Result<&mut Page, TraceError> {
        self.meet(event.current);
        let cpu = event.cpu as usize;
        if cpu >= self.pages.len() {
            self.pages.resize_with(cpu + 1, Page::default);
        }
        let page = &mut self.pages[cpu];
        if !page.takes(event.at_ns, format.size()) {
            page.take(|bytes| self.spool.write_all(bytes))?;
            self.cpus.push(event.cpu);
        }
        page.begin(event, format, self.irq_info);
        Ok(page)
    }

    fn switch(
        &mut self,
        event: &Event,
        prev: &Task,
        prev_state: u16,
        next: &Task,
    ) -> Result<(), TraceError> {
        self.meet((next.comm, next.pid));
        let page = self.begin(event, &SWITCH)?;
        page.comm(&prev.comm);
        page.u32(prev.pid);
        page.i32(prev.prio);
        page.u64(prev_state.into());
        page.comm(&next.comm);
        page.u32(next.pid);
        page.i32(next.prio);
        Ok(())
    }

    /// Writes a record of a task and CPUs.
    fn task(
        &mut self,
        event: &Event,
        format: &Format,
        task: &Task,
        cpus: &[u32],
    ) -> Result<(), TraceError> {
        self.meet((task.comm, task.pid));
        let page = self.begin(event, format)?;
        page.comm(&task.comm);
        page.u32(task.pid);
        page.i32(task.prio);
        cpus.iter().for_each(|&cpu| page.u32(cpu));
        Ok(())
    }

    fn power(
        &mut self,
        event: &Event,
        format: &Format,
        state: u32,
        cpu: u32,
    ) -> Result<(), TraceError> {
        let page = self.begin(event, format)?;
        page.u32(state);
        page.u32(cpu);
        Ok(())
    }

    /// Everything before the pages. These begin at a multiple of [`PAGE`].
    fn head(&self) -> Vec<u8> {
        let mut head = b"\x17\x08\x44tracing6\0\0\x08".to_vec();
        head.extend_from_slice(&(PAGE as u32).to_le_bytes());
        for (name, text) in [("header_page", PAGE_HEADER), ("header_event", ENTRY_HEADER)] {
            head.extend_from_slice(name.as_bytes());
            head.push(0);
            sized(&mut head, text.as_bytes());
        }
        // No formats of ftrace's own events.
        head.extend_from_slice(&0u32.to_le_bytes());
        head.extend_from_slice(&(SYSTEMS.len() as u32).to_le_bytes());
        for (system, events) in SYSTEMS {
            head.extend_from_slice(system.as_bytes());
            head.push(0);
            head.extend_from_slice(&(events.len() as u32).to_le_bytes());
            events.iter().for_each(|e| sized(&mut head, e.text().as_bytes()));
        }
        // Neither kallsyms nor formats of trace_printk.
        head.extend_from_slice(&[0; 8]);
        sized(&mut head, &self.cmdlines());
        head.extend_from_slice(&(self.pages.len() as u32).to_le_bytes());
        head.extend_from_slice(b"options  \0");
        option(&mut head, TRACE_CLOCK, b"[local]\0");
        option(&mut head, UNAME, format!("{}\0", self.uname).as_bytes());
        head.extend_from_slice(&0u16.to_le_bytes());
        head.extend_from_slice(b"flyrecord\0");
        self.places(&mut head);
        head
    }

    /// `saved_cmdlines`.
    fn cmdlines(&self) -> Vec<u8> {
        let mut text = Vec::new();
        for (pid, name) in self.names.iter().enumerate().skip(1) {
            if *name != Comm::default() {
                text.extend_from_slice(format!("{pid} ").as_bytes());
                text.extend(name.as_bytes());
                text.push(b'\n');
            }
        }
        text
    }

    /// The position of each CPU's pages, and padding up to the first.
    fn places(&self, head: &mut Vec<u8>) {
        let mut pages = vec![0; self.pages.len()];
        self.cpus.iter().for_each(|&cpu| pages[cpu as usize] += 1);
        let begin = (head.len() + 16 * pages.len()).next_multiple_of(PAGE);
        let mut at = begin as u64;
        for n in pages {
            let bytes = n * PAGE as u64;
            head.extend_from_slice(&at.to_le_bytes());
            head.extend_from_slice(&bytes.to_le_bytes());
            at += bytes;
        }
        head.resize(begin, 0);
    }
}

/// A section, preceded by its size in 8 bytes.
fn sized(head: &mut Vec<u8>, bytes: &[u8]) {
    head.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
    head.extend_from_slice(bytes);
}

fn option(head: &mut Vec<u8>, id: u16, bytes: &[u8]) {
    head.extend_from_slice(&id.to_le_bytes());
    head.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
    head.extend_from_slice(bytes);
}

impl<W: Write, S: Read + Write + Seek> Sink for TraceDat<W, S> {
    fn event(&mut self, event: &Event) -> Result<(), TraceError> {
        match &event.kind {
            Kind::Switch { prev, prev_state, next } => self.switch(event, prev, prev_state.0, next),
            Kind::Waking { task, target } => self.task(event, &WAKING, task, &[*target]),
            Kind::Wakeup { task, target } => self.task(event, &WOKEN, task, &[*target]),
            Kind::WakeupNew { task, target } => self.task(event, &WOKEN_NEW, task, &[*target]),
            Kind::Migrate { task, from, to } => self.task(event, &MIGRATE, task, &[*from, *to]),
            Kind::Frequency { cpu, khz } => self.power(event, &FREQUENCY, *khz, *cpu),
            Kind::Idle { cpu, state } => self.power(event, &IDLE, state.unwrap_or(IDLE_EXIT), *cpu),
            Kind::Runnable { .. }
            | Kind::Clock { .. }
            | Kind::PlaceAsked { .. }
            | Kind::PlaceAnswered { .. } => Ok(()),
        }
    }

    fn finish(&mut self) -> Result<(), TraceError> {
        for (cpu, page) in self.pages.iter_mut().enumerate().filter(|(_, p)| !p.is_empty()) {
            page.take(|bytes| self.spool.write_all(bytes))?;
            self.cpus.push(cpu as u32);
        }
        self.spool.flush()?;
        self.out.write_all(&self.head())?;
        let mut order: Vec<usize> = (0..self.cpus.len()).collect();
        order.sort_by_key(|&page| self.cpus[page]);
        let mut bytes = vec![0; PAGE];
        for page in order {
            self.spool.seek(SeekFrom::Start(page as u64 * PAGE as u64))?;
            self.spool.read_exact(&mut bytes)?;
            self.out.write_all(&bytes)?;
        }
        self.out.flush()?;
        Ok(())
    }
}
