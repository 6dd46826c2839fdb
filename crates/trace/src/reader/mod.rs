//! A reader of ftrace's text, as `/sys/kernel/tracing/trace` or `trace-cmd report` print it.

mod line;

use crate::TraceError;
use crate::event::Sink;
use std::io::BufRead;

/// Bytes of a line beyond which it is none of ftrace's.
const LONGEST_LINE: usize = 16 * 1024;

/// What a text held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Read {
    /// Records that timelines show.
    pub events: u64,
    /// Lines of other events.
    pub others: u64,
    /// Records that the kernel had no room for, by the text's own count.
    pub lost: u64,
}

/// Reads records line by line and passes those that timelines show on to `sink`, which it does not finish.
///
/// # Errors
/// Input that cannot be read, a line that is none of ftrace's, a text without any such record, and the sink's errors.
pub fn read(mut from: impl BufRead, sink: &mut impl Sink) -> Result<Read, TraceError> {
    let mut text = Vec::new();
    let (mut line, mut read) = (0, Read::default());
    loop {
        text.clear();
        let mut limited = std::io::Read::take(&mut from, LONGEST_LINE as u64);
        if limited.read_until(b'\n', &mut text).map_err(TraceError::Input)? == 0 {
            break;
        }
        line += 1;
        if text.len() == LONGEST_LINE {
            return Err(TraceError::Line {
                line,
                field: "line",
                found: String::from_utf8_lossy(&text[..40]).into_owned(),
                expected: "less than 16 KiB",
            });
        }
        let text = String::from_utf8_lossy(&text);
        match line::parse(text.trim_end_matches(['\n', '\r']), line)? {
            line::Line::Event(event) => {
                sink.event(&event)?;
                read.events += 1;
            }
            line::Line::Other => read.others += 1,
            line::Line::Lost(records) => read.lost += records,
            line::Line::Nothing => {}
        }
    }
    if read.events == 0 { Err(TraceError::NoEvents) } else { Ok(read) }
}
