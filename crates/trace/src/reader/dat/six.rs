//! Version 6 of trace.dat (trace-cmd.dat.v6(5), of trace-cmd).

use super::Contents;
use super::head::{
    Beginning, PageLayout, event_formats, ftrace_formats, page_layout, skip_section,
};
use super::options::Options;
use super::stream::{Kept, Part};
use crate::TraceError;
use crate::reader::bytes::{Head, wrong};
use crate::reader::decode::Names;
use std::io::{Read, Seek, SeekFrom};

/// Most CPUs that a file may have.
const MOST_CPUS: u32 = machine::MAX_CPUS as u32;

/// Reads everything but the pages.
pub(super) fn contents<R: Read + Seek>(
    beginning: Beginning<&mut R>,
) -> Result<Contents, TraceError> {
    let Beginning { mut head, page_size, .. } = beginning;
    let layout = page_layout(&mut head, page_size)?;
    let mut formats = Vec::new();
    ftrace_formats(&mut head, &mut formats)?;
    event_formats(&mut head, &mut formats)?;
    skip_section(&mut head, "kallsyms")?;
    skip_section(&mut head, "formats of trace_printk")?;
    let names = Names::saved(&head.sized("names of tasks")?);
    let cpus = head.u32("number of CPUs")?;
    if cpus > MOST_CPUS {
        return Err(wrong("number of CPUs", cpus.to_string(), "as many as a machine can have"));
    }
    let mut options = Options::default();
    let mut kind = head.text("kind of trace")?;
    if kind == "options  " {
        while options.read(&mut head, 6)? {}
        kind = head.text("kind of trace")?;
    }
    if kind != "flyrecord" {
        return Err(wrong("kind of trace", kind, "flyrecord"));
    }
    let mut parts = places(&mut head, cpus, layout)?;
    for &at in &options.instances {
        head.from.seek(SeekFrom::Start(at)).map_err(TraceError::Input)?;
        head.expect("flyrecord")?;
        parts.append(&mut places(&mut head, cpus, layout)?);
    }
    Ok(Contents {
        endian: head.endian,
        formats,
        names,
        parts,
        clock: options.clock,
        lost: options.lost,
    })
}

/// The place of each CPU's pages.
fn places<R: Read>(
    head: &mut Head<R>,
    cpus: u32,
    layout: PageLayout,
) -> Result<Vec<Part>, TraceError> {
    (0..cpus)
        .map(|cpu| {
            let (at, size) = (head.u64("place of pages")?, head.u64("size of pages")?);
            Ok(Part { cpu, at, size, layout, kept: Kept::Plain })
        })
        .collect()
}
