//! Reader of ftrace text, as `/sys/kernel/tracing/trace` and `trace-cmd report` print it.

mod line;

use crate::TraceError;
use crate::event::Sink;
use std::io::BufRead;

/// Longest line that can be ftrace text, in bytes.
const LONGEST_LINE: usize = 16 * 1024;

/// Counts of what a text contained.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Read {
    /// Records that timelines show.
    pub events: u64,
    /// Lines of other events.
    pub others: u64,
    /// Records that the kernel lost, according to the text.
    pub lost: u64,
}

/// Reads line by line and passes the records that timelines show to `sink`. Does not finish `sink`.
///
/// # Errors
/// Input that cannot be read, a line that is not ftrace text, a text without any such record, and the sink's errors.
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
                read.events += u64::from(event.kind.is_tracepoint());
            }
            line::Line::Other => read.others += 1,
            line::Line::Lost(records) => read.lost += records,
            line::Line::Nothing => {}
        }
    }
    if read.events == 0 { Err(TraceError::NoEvents) } else { Ok(read) }
}
