//! Options of a trace.dat (`TRACECMD_OPTION_*` of trace-cmd), as far as they matter to records.

use super::clock::Clock;
use crate::TraceError;
use crate::reader::bytes::Head;
use std::io::Read;

const DONE: u16 = 0;
const DATE: u16 = 1;
const CPU_STAT: u16 = 2;
const BUFFER: u16 = 3;
const TRACE_CLOCK: u16 = 4;
const OFFSET: u16 = 7;
const TSC2NSEC: u16 = 14;
/// Of version 7: where sections are.
const HEADER_INFO: u16 = 16;
const FTRACE_EVENTS: u16 = 17;
const EVENT_FORMATS: u16 = 18;
const CMDLINES: u16 = 21;

/// What the options say.
#[derive(Debug, Default)]
pub(super) struct Options {
    pub clock: Clock,
    /// Records that the CPUs' statistics count as lost.
    pub lost: u64,
    /// Version 6: where further instances have the places of their pages.
    pub instances: Vec<u64>,
    /// Version 7: the instances' descriptions.
    pub buffers: Vec<Vec<u8>>,
    pub headers: Option<u64>,
    pub ftrace_events: Option<u64>,
    pub event_formats: Option<u64>,
    pub cmdlines: Option<u64>,
    /// Version 7: where further options are, or 0.
    pub further: u64,
}

impl Options {
    /// Reads one option; `false` for the last.
    pub(super) fn read<R: Read>(
        &mut self,
        head: &mut Head<R>,
        version: u32,
    ) -> Result<bool, TraceError> {
        let id = head.u16("option")?;
        // Only version 7's last option has contents.
        if id == DONE && version == 6 {
            return Ok(false);
        }
        let size = head.u32("option")?;
        let bytes = head.bytes(size.into(), "option")?;
        let place = head.endian.u64(&bytes, 0);
        match id {
            DONE => {
                self.further = place.unwrap_or(0);
                return Ok(false);
            }
            DATE | OFFSET => self.clock.shift(&text(&bytes)),
            BUFFER if version == 6 => self.instances.extend(place),
            BUFFER => self.buffers.push(bytes),
            TRACE_CLOCK => self.clock.name(&text(&bytes)),
            // trace-cmd does not use the offset that follows.
            TSC2NSEC => {
                let numbers = head.endian.u32(&bytes, 0).zip(head.endian.u32(&bytes, 4));
                numbers.into_iter().for_each(|(by, shift)| self.clock.ticks(by, shift));
            }
            CPU_STAT => self.lost = self.lost.saturating_add(lost(&text(&bytes))),
            HEADER_INFO => self.headers = place,
            FTRACE_EVENTS => self.ftrace_events = place,
            EVENT_FORMATS => self.event_formats = place,
            CMDLINES => self.cmdlines = place,
            _ => {}
        }
        Ok(true)
    }
}

/// Records that a CPU's `stats` count as overwritten or dropped (`tracing_stats_read` of `kernel/trace/trace.c`).
fn lost(stats: &str) -> u64 {
    let lines = stats.lines().filter_map(|line| line.split_once(": "));
    let lost = lines.filter(|(key, _)| ["overrun", "dropped events"].contains(key));
    lost.filter_map(|(_, n)| n.trim().parse::<u64>().ok()).fold(0, u64::saturating_add)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim_end_matches('\0').to_string()
}
