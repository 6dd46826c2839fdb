//! A page of a CPU's ring buffer (`include/linux/ring_buffer.h`, `kernel/trace/ring_buffer.c`).

use super::head::PageLayout;
use crate::reader::bytes::Endian;
use std::ops::Range;

/// Bits of a record's header with the time since the previous record (`TS_SHIFT`).
const DELTA_BITS: u32 = 27;
/// `RINGBUF_TYPE_PADDING`.
const PADDING: u32 = 29;
/// `RINGBUF_TYPE_TIME_EXTEND`.
const TIME_EXTEND: u32 = 30;
/// `RINGBUF_TYPE_TIME_STAMP`.
const TIME_STAMP: u32 = 31;
/// Bits of an absolute time that a record has no room for (`TS_MSB`).
const TS_MSB: u64 = 0xf8 << 56;
/// Bits of the commit word with the number of bytes (libtraceevent, `COMMIT_MASK`).
const COMMIT: u64 = (1 << 27) - 1;
/// Records before this page are missing (`RB_MISSED_EVENTS`).
const MISSED: u64 = 1 << 31;
/// Their number is behind the last record (`RB_MISSED_STORED`).
const MISSED_STORED: u64 = 1 << 30;

/// Records that a page says are missing before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Missing {
    None,
    /// Their number.
    Counted(u64),
    /// Nobody knows how many.
    Uncounted,
}

/// What [`Page::next`] finds.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// A record of an event, as place in the page.
    Record(Range<usize>),
    /// No further record.
    End,
    /// Bytes that are no record; the rest of the page is lost.
    Damaged,
}

/// A position in a page.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Page {
    at: usize,
    end: usize,
    /// Time of the last record in ticks of the trace's clock.
    pub time: u64,
}

impl Page {
    /// Begins a page, or what there is of it. The flag says whether the page ends too early.
    pub(super) fn begin(
        bytes: &[u8],
        layout: &PageLayout,
        endian: Endian,
    ) -> Option<(Page, Missing, bool)> {
        let time = endian.u64(bytes, 0)?;
        let commit = endian.at(bytes, 8, layout.long)?;
        let expected = layout.data + (commit & COMMIT) as usize;
        let missing = match commit & (MISSED | MISSED_STORED) {
            0 => Missing::None,
            flags if flags & MISSED_STORED != 0 => {
                endian.at(bytes, expected, layout.long).map_or(Missing::Uncounted, Missing::Counted)
            }
            _ => Missing::Uncounted,
        };
        let end = expected.min(bytes.len());
        Some((Page { at: layout.data, end, time }, missing, end < expected))
    }

    /// Goes to the next record of an event.
    pub(super) fn next(&mut self, bytes: &[u8], endian: Endian) -> Step {
        while self.at < self.end {
            let Some(head) = endian.u32(bytes, self.at) else { return Step::Damaged };
            let (kind, delta) = match endian {
                Endian::Little => (head & 31, head >> 5),
                Endian::Big => (head >> DELTA_BITS, head & ((1 << DELTA_BITS) - 1)),
            };
            let delta = u64::from(delta);
            let begin = self.at + 4;
            let Some(word) = endian.u32(bytes, begin) else { return self.rest(kind) };
            let long = (u64::from(word) << DELTA_BITS) + delta;
            let record = match kind {
                // Nothing follows on this page.
                PADDING if delta == 0 => return Step::End,
                PADDING => {
                    self.time = self.time.wrapping_add(delta);
                    self.at = begin + word as usize;
                    continue;
                }
                TIME_EXTEND => {
                    self.time = self.time.wrapping_add(long);
                    self.at = begin + 4;
                    continue;
                }
                TIME_STAMP => {
                    self.stamp(long);
                    self.at = begin + 4;
                    continue;
                }
                // The size is in a word of its own, which counts, too.
                0 => begin + 4..begin + (word as usize).max(4),
                words => begin..begin + 4 * words as usize,
            };
            self.time = self.time.wrapping_add(delta);
            self.at = record.end.next_multiple_of(4);
            return match record.end <= self.end {
                true => Step::Record(record),
                false => Step::Damaged,
            };
        }
        Step::End
    }

    /// The last four bytes of a page: padding, or half a record.
    fn rest(&mut self, kind: u32) -> Step {
        self.at = self.end;
        if kind == PADDING { Step::End } else { Step::Damaged }
    }

    /// `rb_fix_abs_ts`.
    fn stamp(&mut self, low: u64) {
        let mut time = low | (self.time & TS_MSB);
        if time < self.time && self.time & TS_MSB != 0 {
            time = time.wrapping_add(1 << 59);
        }
        self.time = time;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAYOUT: PageLayout = PageLayout { page_size: 4096, long: 8, data: 16 };

    /// A page of these words at this time.
    fn page(time: u64, flags: u64, words: &[u32], endian: Endian) -> Vec<u8> {
        let mut page = Vec::new();
        let long = |n: u64| match endian {
            Endian::Little => n.to_le_bytes(),
            Endian::Big => n.to_be_bytes(),
        };
        page.extend(long(time));
        page.extend(long((4 * words.len() as u64) | flags));
        page.extend(words.iter().flat_map(|w| match endian {
            Endian::Little => w.to_le_bytes(),
            Endian::Big => w.to_be_bytes(),
        }));
        page.extend(long(7));
        page
    }

    fn head(kind: u32, delta: u32, endian: Endian) -> u32 {
        match endian {
            Endian::Little => kind | delta << 5,
            Endian::Big => kind << 27 | delta,
        }
    }

    fn steps(bytes: &[u8], endian: Endian) -> Vec<(u64, Step)> {
        let mut page = Page::begin(bytes, &LAYOUT, endian).expect("a head").0;
        let mut steps = Vec::new();
        loop {
            let step = page.next(bytes, endian);
            let last = !matches!(step, Step::Record(_));
            steps.push((page.time, step));
            if last {
                return steps;
            }
        }
    }

    #[test]
    fn every_kind_of_record_is_read_in_both_orders_of_bytes() {
        for endian in [Endian::Little, Endian::Big] {
            let h = |kind, delta| head(kind, delta, endian);
            let words = [
                h(1, 5),
                0xaaaa,
                h(30, 3), // 2 << 27 ns and 3
                2,
                h(2, 0),
                1,
                2,
                h(29, 4), // discarded, with one word of data
                8,
                0,
                h(0, 1), // a word of data behind its size
                8,
                0xbbbb,
                h(31, 9), // absolute
                100,
                h(1, 0),
                0xcccc,
                h(29, 0),
                0,
            ];
            let bytes = page(1000, 0, &words, endian);
            let after = 1005 + (2 << 27) + 3;
            let at = (100u64 << 27) + 9;
            assert_eq!(
                steps(&bytes, endian),
                [
                    (1005, Step::Record(20..24)),
                    (after, Step::Record(36..44)),
                    (after + 5, Step::Record(64..68)),
                    (at, Step::Record(80..84)),
                    (at, Step::End),
                ]
            );
        }
    }

    #[test]
    fn absolute_times_keep_the_high_bits_of_the_page() {
        let words = [head(31, 1, Endian::Little), 5, head(1, 0, Endian::Little), 0];
        let time = (1 << 59) + (5 << 27);
        let steps = steps(&page(time, 0, &words, Endian::Little), Endian::Little);
        assert_eq!(steps[0].0, time + 1);
    }

    #[test]
    fn missing_records_are_told_and_short_pages_too() {
        let words = [head(1, 5, Endian::Little), 0];
        let missing = |flags| {
            let bytes = page(0, flags, &words, Endian::Little);
            Page::begin(&bytes, &LAYOUT, Endian::Little).expect("a head").1
        };
        assert_eq!(missing(0), Missing::None);
        assert_eq!(missing(MISSED), Missing::Uncounted);
        assert_eq!(missing(MISSED | MISSED_STORED), Missing::Counted(7));
        let bytes = page(0, 0, &words, Endian::Little);
        let (mut short, _, cut) =
            Page::begin(&bytes[..21], &LAYOUT, Endian::Little).expect("a head");
        assert!(cut);
        assert_eq!(short.next(&bytes[..21], Endian::Little), Step::Damaged);
        assert_eq!(Page::begin(&bytes[..12], &LAYOUT, Endian::Little), None);
    }
}
