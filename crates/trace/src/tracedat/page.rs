//! One page of a CPU's ring buffer (`buffer_data_page`).

use super::format::Format;
use crate::event::{Comm, Event};

/// Size of a page in bytes.
pub(super) const PAGE: usize = 4096;
/// Bytes of a page before its records: the time of the first record and the number of bytes that follow.
const HEAD: usize = 16;
/// `RINGBUF_TYPE_TIME_EXTEND`.
const TIME_EXTEND: u32 = 30;
/// Bits of a record's header with the time since the previous record (`TS_SHIFT`).
const DELTA_BITS: u32 = 27;
/// The earliest time of a record, in ns. KernelShark treats 0 as "no time" and then sorts by CPU.
const EARLIEST_NS: u64 = 1;
/// Time since the previous record that is too long for a `TIME_EXTEND`, in ns.
const LONGEST_NS: u64 = 1 << (DELTA_BITS + 32);

/// A page that is being filled.
#[derive(Debug, Default)]
pub(super) struct Page {
    bytes: Vec<u8>,
    last_ns: u64,
}

impl Page {
    /// Whether the page is empty.
    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Whether a record of `size` bytes at this time fits.
    pub(super) fn takes(&self, at_ns: u64, size: usize) -> bool {
        self.is_empty()
            || (self.bytes.len() + 12 + size <= PAGE
                && at_ns.saturating_sub(self.last_ns) < LONGEST_NS)
    }

    /// Begins a record of `format`. Its fields follow.
    pub(super) fn begin(&mut self, event: &Event, format: &Format, irq_info: bool) {
        let at_ns = event.at_ns.max(EARLIEST_NS);
        if self.is_empty() {
            self.bytes.reserve_exact(PAGE);
            self.bytes.extend_from_slice(&at_ns.to_le_bytes());
            self.bytes.extend_from_slice(&[0; 8]);
            self.last_ns = at_ns;
        }
        let mut since_ns = at_ns.saturating_sub(self.last_ns);
        self.last_ns += since_ns;
        if since_ns >> DELTA_BITS != 0 {
            self.u32(TIME_EXTEND | (since_ns as u32) << 5);
            self.u32((since_ns >> DELTA_BITS) as u32);
            since_ns = 0;
        }
        self.u32((format.size() / 4) as u32 | (since_ns as u32) << 5);
        let context = event.context;
        let preempt_count = if irq_info { context.preempt_count } else { 0 };
        self.bytes.extend_from_slice(&format.id.to_le_bytes());
        self.bytes.extend_from_slice(&[context.flags, preempt_count]);
        self.u32(event.current.1);
    }

    /// A field of 4 bytes.
    pub(super) fn u32(&mut self, value: u32) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    /// A field of 4 bytes.
    pub(super) fn i32(&mut self, value: i32) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    /// A field of 8 bytes.
    pub(super) fn u64(&mut self, value: u64) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    /// A field of 16 bytes with a name.
    pub(super) fn comm(&mut self, comm: &Comm) {
        let mut field = [0; 16];
        for (to, from) in field.iter_mut().zip(comm.as_bytes()) {
            *to = *from;
        }
        self.bytes.extend_from_slice(&field);
    }

    /// Passes the whole page to `write` and empties it.
    pub(super) fn take<E>(&mut self, write: impl FnOnce(&[u8]) -> Result<(), E>) -> Result<(), E> {
        let commit = (self.bytes.len().saturating_sub(HEAD) as u64).to_le_bytes();
        self.bytes.resize(PAGE, 0);
        if let Some(field) = self.bytes.get_mut(8..HEAD) {
            field.copy_from_slice(&commit);
        }
        let written = write(&self.bytes);
        self.bytes.clear();
        written
    }
}
