//! Recordings of real kernels: what the readers find, beside what trace-cmd and perf print of the same files.
//!
//! Guests of Debian's kernels 6.12 and 7.2 made them under `perf bench sched`. trace-cmd 3.1.6 and perf 6.12 wrote and printed them.
//! Each was cut down to a few KB: fewer formats of events, no kernel symbols, the first records. `trace-*.txt.gz` is what
//! `trace-cmd report -t -N` prints. `perf-*.txt.gz` is what `perf script` prints, in the form of ftrace's text,
//! with `I` for the letter `W` that perf has for idle kernel threads.

mod damage;
mod packed;
mod perfetto;

use std::io::{Cursor, Read};
use trace::{Comm, Context, Event, FileKind, Kind, Recording, TaskState, TraceError};

/// trace.dat, version 7, compressed with zstd, by the kernel's release.
const DATS: [(&[u8], &[u8]); 2] = [
    (include_bytes!("trace-6.12.dat"), include_bytes!("trace-6.12.txt.gz")),
    (include_bytes!("trace-7.2.dat"), include_bytes!("trace-7.2.txt.gz")),
];
/// perf.data: a file (7.2), a pipe with zstd (6.12), a pipe with calls in the samples (7.2).
const PERFS: [(&[u8], &[u8]); 3] = [
    (include_bytes!("perf-file.data.gz"), include_bytes!("perf-file.txt.gz")),
    (include_bytes!("perf-pipe-zstd.data.gz"), include_bytes!("perf-pipe-zstd.txt.gz")),
    (include_bytes!("perf-pipe-calls.data.gz"), include_bytes!("perf-pipe-calls.txt.gz")),
];

fn plain(packed: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    flate2::read::GzDecoder::new(packed).read_to_end(&mut plain).expect("gzip");
    plain
}

fn read(bytes: &[u8]) -> Result<(Vec<Event>, trace::Read), TraceError> {
    let mut kept = Vec::new();
    let read = Recording::new(Cursor::new(bytes))?.read(&mut kept)?;
    Ok((kept, read))
}

/// What both sides of a comparison tell: text has no context.
fn told(event: &Event) -> Event {
    Event { context: Context::default(), ..*event }
}

#[test]
fn trace_dat_has_the_records_that_trace_cmd_prints() {
    for (dat, text) in DATS {
        let ours = read(dat).expect("a trace.dat");
        let theirs = read(text).expect("text");
        assert_eq!(ours.0.iter().map(told).collect::<Vec<_>>(), theirs.0);
        assert_eq!(ours.1.by_kind, theirs.1.by_kind);
        assert_eq!(ours.1.by_cpu, theirs.1.by_cpu);
        assert_eq!(ours.1.skipped, theirs.1.skipped);
        assert_eq!((ours.1.damaged, ours.1.jumps, ours.1.cut), (0, 0, false));
        assert!(ours.0.iter().all(|e| e.context.flags & 1 == 1), "irqs are off in the scheduler");
    }
}

/// perf prints no `+`, and `:PID` for names that it does not find.
fn as_perf_prints(event: &Event, theirs: &Event) -> Event {
    let mut event = told(event);
    if let Kind::Switch { prev_state, .. } = &mut event.kind {
        *prev_state = TaskState(prev_state.0 & 0xff);
    }
    if theirs.current.0.as_bytes().starts_with(b":") || event.current.1 == 0 {
        event.current.0 = theirs.current.0;
    }
    event
}

#[test]
fn perf_data_has_the_records_that_perf_prints() {
    for (data, text) in PERFS {
        let ours = read(&plain(data)).expect("a perf.data");
        let theirs = read(text).expect("text");
        assert_eq!(ours.0.len(), theirs.0.len());
        for (ours, theirs) in ours.0.iter().zip(&theirs.0) {
            assert_eq!(as_perf_prints(ours, theirs), *theirs);
        }
        assert_eq!(ours.1.skipped, theirs.1.skipped);
        assert_eq!((ours.1.damaged, ours.1.jumps, ours.1.cut), (0, 0, false));
    }
}

#[test]
fn first_bytes_tell_the_kind() {
    let kind = |bytes: &[u8]| Recording::new(Cursor::new(bytes)).expect("memory").kind();
    assert_eq!(kind(DATS[0].0), FileKind::TraceDat);
    assert_eq!(kind(&plain(PERFS[0].0)), FileKind::PerfData);
    assert_eq!(kind(PERFS[0].0), FileKind::Gzip);
    assert_eq!(kind(b"# tracer: nop\n"), FileKind::Text);
    assert_eq!(kind(b""), FileKind::Text);
}

#[test]
fn lost_samples_are_counted_where_perf_says_so() {
    let mut data = plain(PERFS[2].0);
    // `PERF_RECORD_LOST` of event 1: 7 records. `PERF_RECORD_LOST_SAMPLES`, at the end: the same.
    for word in [2u64 | 24 << 48, 1, 7, 13 | 16 << 48, 7] {
        data.extend(word.to_le_bytes());
    }
    assert_eq!(read(&data).expect("a perf.data").1.lost, 7);
}

#[test]
fn the_current_task_is_named_by_what_precedes_it() {
    let (events, _) = read(&plain(PERFS[0].0)).expect("a perf.data");
    let nameless = events.iter().filter(|e| e.current.0 == Comm::new("<...>"));
    assert_eq!(nameless.count(), 0);
}
