//! Compression in trace.dat, version 7: every block is a stream of its own.

use crate::TraceError;
use crate::reader::bytes::{Head, wrong};
use std::io::Read;

/// Most bytes of a section, decompressed.
const LARGEST: u64 = 64 << 20;

/// The algorithm that a file names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Codec {
    Zlib,
    Zstd,
}

impl Codec {
    /// By its name in the file; `None` for no compression.
    pub(super) fn named(name: &str) -> Result<Option<Codec>, TraceError> {
        match name {
            "none" | "" => Ok(None),
            "zlib" => Ok(Some(Codec::Zlib)),
            "zstd" => Ok(Some(Codec::Zstd)),
            other => Err(wrong("compression", other, "none, zlib or zstd")),
        }
    }

    /// A block of `size` bytes; `None` if it is none, or has more than `most`.
    pub(super) fn unpack(self, packed: &[u8], size: u32, most: u64) -> Option<Vec<u8>> {
        let size = u64::from(size);
        if size > most {
            return None;
        }
        let mut plain = Vec::new();
        let all = match self {
            Codec::Zlib => {
                flate2::read::ZlibDecoder::new(packed).take(size).read_to_end(&mut plain)
            }
            Codec::Zstd => (zstd::stream::read::Decoder::with_buffer(packed).ok()?.take(size))
                .read_to_end(&mut plain),
        };
        (all.ok()? as u64 == size).then_some(plain)
    }

    /// A section: its sizes compressed and not, and its bytes.
    pub(super) fn section<R: Read>(self, head: &mut Head<R>) -> Result<Vec<u8>, TraceError> {
        let (packed, plain) = (head.u32("section")?, head.u32("section")?);
        let bytes = head.bytes(packed.into(), "section")?;
        let expected = "a compressed section of at most 64 MiB";
        self.unpack(&bytes, plain, LARGEST)
            .ok_or_else(|| wrong("section", format!("{packed} bytes"), expected))
    }
}
