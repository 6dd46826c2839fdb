//! Events that perf recorded, and where their samples have what (`struct perf_event_attr` and `enum perf_event_type` in
//! `include/uapi/linux/perf_event.h`).

use crate::reader::bytes::Endian;

/// `PERF_TYPE_TRACEPOINT`.
const TRACEPOINT: u32 = 2;
/// Bit of `sample_id_all` in the flags.
const SAMPLE_ID_ALL: u32 = 18;

/// `PERF_SAMPLE_*`.
const IP: u64 = 1 << 0;
const TID: u64 = 1 << 1;
const TIME: u64 = 1 << 2;
const ADDR: u64 = 1 << 3;
const READ: u64 = 1 << 4;
const CALLCHAIN: u64 = 1 << 5;
const ID: u64 = 1 << 6;
const CPU: u64 = 1 << 7;
const PERIOD: u64 = 1 << 8;
const STREAM_ID: u64 = 1 << 9;
const RAW: u64 = 1 << 10;
const IDENTIFIER: u64 = 1 << 16;

/// `PERF_FORMAT_*`: values that a sample's counts have, and whether it has a group of them.
const FORMAT_TIMES: u64 = 0b00011;
const FORMAT_GROUP: u64 = 0b01000;
const FORMAT_VALUES: u64 = 0b10100;

/// One recorded event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Attr {
    kind: u32,
    sample_type: u64,
    read_format: u64,
    sample_id_all: bool,
}

/// What a sample of a tracepoint says.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Sample<'a> {
    /// In ns.
    pub time_ns: u64,
    pub cpu: u32,
    /// The tracepoint's record.
    pub raw: &'a [u8],
}

impl Attr {
    /// Reads `struct perf_event_attr`. Its first 48 bytes are the same since 2.6.32.
    pub(super) fn parse(bytes: &[u8], endian: Endian) -> Option<Attr> {
        let flags = endian.u64(bytes, 40)?;
        // Bit fields begin at the other end.
        let bit = match endian {
            Endian::Little => SAMPLE_ID_ALL,
            Endian::Big => 63 - SAMPLE_ID_ALL,
        };
        Some(Attr {
            kind: endian.u32(bytes, 0)?,
            sample_type: endian.u64(bytes, 24)?,
            read_format: endian.u64(bytes, 32)?,
            sample_id_all: flags >> bit & 1 == 1,
        })
    }

    fn has(&self, bit: u64) -> bool {
        self.sample_type & bit != 0
    }

    /// Whether its samples hold tracepoints' records.
    pub(super) fn is_tracepoint(&self) -> bool {
        self.kind == TRACEPOINT && self.has(RAW)
    }

    /// What its samples lack for a timeline.
    pub(super) fn lacks(&self) -> Option<&'static str> {
        match (self.has(TIME), self.has(CPU)) {
            (true, true) => None,
            (false, _) => Some("samples without times"),
            (_, false) => Some("samples without CPUs"),
        }
    }

    /// The number of a sample's event, from which its `Attr` follows.
    pub(super) fn id(&self, body: &[u8], endian: Endian) -> Option<u64> {
        if self.has(IDENTIFIER) {
            return endian.u64(body, 0);
        }
        let before = [IP, TID, TIME, ADDR].into_iter().filter(|&bit| self.has(bit)).count();
        endian.u64(body, 8 * before).filter(|_| self.has(ID))
    }

    /// Reads a sample; `None` if it is too short.
    pub(super) fn sample<'a>(&self, body: &'a [u8], endian: Endian) -> Option<Sample<'a>> {
        let mut at = 0;
        let mut long = |bit: u64| {
            let here = at;
            at += 8 * usize::from(self.has(bit));
            here
        };
        long(IDENTIFIER);
        long(IP);
        long(TID);
        let time = long(TIME);
        long(ADDR);
        long(ID);
        long(STREAM_ID);
        let cpu = long(CPU);
        long(PERIOD);
        if self.has(READ) {
            at = self.behind_counts(body, at, endian)?;
        }
        if self.has(CALLCHAIN) {
            let calls = usize::try_from(endian.u64(body, at)?).ok()?;
            at = at.checked_add(8)?.checked_add(calls.checked_mul(8)?)?;
        }
        let size = endian.u32(body, at)? as usize;
        let raw = body.get(at + 4..at.checked_add(4)?.checked_add(size)?)?;
        Some(Sample { time_ns: endian.u64(body, time)?, cpu: endian.u32(body, cpu)?, raw })
    }

    /// Where the counts end that begin at `at` (`struct read_format`).
    fn behind_counts(&self, body: &[u8], at: usize, endian: Endian) -> Option<usize> {
        let format = self.read_format;
        let times = (format & FORMAT_TIMES).count_ones() as usize;
        let values = 1 + (format & FORMAT_VALUES).count_ones() as usize;
        let longs = match format & FORMAT_GROUP != 0 {
            true => {
                let members = usize::try_from(endian.u64(body, at)?).ok()?;
                members.checked_mul(values)?.checked_add(1 + times)?
            }
            false => values + times,
        };
        at.checked_add(longs.checked_mul(8)?)
    }

    /// The time at the end of a record that is no sample (`struct sample_id`), or 0.
    pub(super) fn time_of_other(&self, body: &[u8], endian: Endian) -> u64 {
        let behind = [ID, STREAM_ID, CPU, IDENTIFIER].into_iter().filter(|&b| self.has(b)).count();
        let at = body.len().checked_sub(8 * (behind + 1));
        let time = at.filter(|_| self.sample_id_all && self.has(TIME));
        time.and_then(|at| endian.u64(body, at)).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attr(sample_type: u64, read_format: u64) -> Attr {
        Attr { kind: TRACEPOINT, sample_type, read_format, sample_id_all: true }
    }

    fn longs(longs: &[u64]) -> Vec<u8> {
        longs.iter().flat_map(|n| n.to_le_bytes()).collect()
    }

    #[test]
    fn samples_are_read_behind_calls_and_counts() {
        let all = IDENTIFIER
            | IP
            | TID
            | TIME
            | ADDR
            | ID
            | STREAM_ID
            | CPU
            | PERIOD
            | READ
            | CALLCHAIN
            | RAW;
        let single = [77, 1, 2, 1234, 3, 77, 4, 5, 6, 10, 11, 12, 2, 91, 92];
        let group = [77, 1, 2, 1234, 3, 77, 4, 5, 6, 2, 11, 12, 13, 14, 15, 16, 0];
        for (format, body) in [(0b00101, &single[..]), (0b01111, &group[..])] {
            let mut body = body.to_vec();
            if format == 0b00101 {
                // One value, one time, one number: three longs, of which the list has three.
                body.truncate(15);
            }
            let mut body = longs(&body);
            body.extend_from_slice(&4u32.to_le_bytes());
            body.extend_from_slice(b"abcd");
            let attr = attr(all, format);
            assert_eq!(attr.id(&body, Endian::Little), Some(77));
            let sample = attr.sample(&body, Endian::Little);
            assert_eq!(sample, Some(Sample { time_ns: 1234, cpu: 5, raw: b"abcd" }), "{format}");
            for end in 0..body.len() {
                assert_eq!(attr.sample(&body[..end], Endian::Little), None);
            }
        }
    }

    #[test]
    fn times_of_other_records_stand_before_their_end() {
        let body = longs(&[1, 2, 1234, 77, 5, 77]);
        let attr = attr(TID | TIME | ID | CPU | IDENTIFIER, 0);
        assert_eq!(attr.time_of_other(&body, Endian::Little), 1234);
        assert_eq!(attr.time_of_other(&body[..8], Endian::Little), 0);
    }
}
