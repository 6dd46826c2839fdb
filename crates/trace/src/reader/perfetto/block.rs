//! Compressed packets: a packet of the file that holds others.

use super::index::Block;
use super::window::{Input, Window};
use crate::TraceError;
use prost::bytes::Bytes;
use std::collections::VecDeque;
use std::io::{Read, Seek};

/// Most bytes of a block, compressed and not. Perfetto's service makes it of packets of less than 512 KiB, compressed.
const LARGEST: u64 = 32 << 20;
/// Blocks that are kept decompressed. Bundles of neighbouring blocks overlap.
const KEPT: usize = 3;

/// How a block is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Codec {
    Zlib,
    Zstd,
}

/// Decompresses a block; `None` if it is none.
pub(super) fn unpack<R: Read + Seek>(
    block: &Block,
    input: &mut Input<R>,
) -> Result<Option<Bytes>, TraceError> {
    let packed = Window::of_file(block.at, block.size).whole(LARGEST, input)?;
    let Some(packed) = packed else { return Ok(None) };
    let mut plain = Vec::new();
    let all = match block.codec {
        Codec::Zlib => {
            flate2::read::ZlibDecoder::new(&packed[..]).take(LARGEST + 1).read_to_end(&mut plain)
        }
        Codec::Zstd => match zstd::stream::read::Decoder::with_buffer(&packed[..]) {
            Ok(decoder) => decoder.take(LARGEST + 1).read_to_end(&mut plain),
            Err(_) => return Ok(None),
        },
    };
    Ok(all.is_ok_and(|n| n as u64 <= LARGEST).then(|| plain.into()))
}

/// The blocks that were needed last.
#[derive(Debug, Default)]
pub(super) struct Kept(VecDeque<(u64, Bytes)>);

impl Kept {
    /// A block's packets; `None` if it is no block.
    pub(super) fn get<R: Read + Seek>(
        &mut self,
        block: &Block,
        input: &mut Input<R>,
    ) -> Result<Option<&Bytes>, TraceError> {
        if let Some(found) = self.0.iter().position(|(at, _)| *at == block.at) {
            let found = self.0.remove(found);
            self.0.extend(found);
        } else {
            let Some(plain) = unpack(block, input)? else { return Ok(None) };
            if self.0.len() == KEPT {
                self.0.pop_front();
            }
            self.0.push_back((block.at, plain));
        }
        Ok(self.0.back().map(|(_, plain)| plain))
    }
}
