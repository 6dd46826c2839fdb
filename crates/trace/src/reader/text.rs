//! Reader of ftrace text, as `/sys/kernel/tracing/trace` and `trace-cmd report` print it.

use super::line::{self, Line};
use super::tally::{Read, Tally};
use crate::TraceError;
use crate::event::Sink;
use std::io::BufRead;

/// Longest line that can be ftrace text, in bytes.
const LONGEST_LINE: usize = 16 * 1024;

/// Reads line by line and passes the records that timelines show to `sink`. Does not finish `sink`.
///
/// # Errors
/// Input that cannot be read, a line that is not ftrace text, a text without any such record, and the sink's errors.
pub fn read(mut from: impl BufRead, sink: &mut impl Sink) -> Result<Read, TraceError> {
    let mut text = Vec::new();
    let (mut line, mut tally) = (0, Tally::new(sink));
    loop {
        text.clear();
        let mut limited = std::io::Read::take(&mut from, LONGEST_LINE as u64);
        if limited.read_until(b'\n', &mut text).map_err(TraceError::Input)? == 0 {
            return tally.finish();
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
            Line::Event(event) => tally.pass_as_is(&event)?,
            Line::Other(name) => {
                tally.read.others += 1;
                if let Some(name) = name {
                    tally.skip(name);
                }
            }
            Line::Lost(records) => tally.read.lost += records,
            Line::Nothing => {}
        }
    }
}
