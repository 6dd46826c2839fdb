//! The kernel's two forms of a CPU set: lists (`0-3,8`) and hexadecimal masks (`ff,ffffffff`).

use super::{CpuSet, LOW_WORDS, MAX_CPUS};
use std::fmt;
use std::str::FromStr;

impl CpuSet {
    /// Reads the kernel's hexadecimal form (`%*pb`: 32-bit chunks joined by commas, the highest first). Chunks above
    /// [`MAX_CPUS`] must be 0. Empty text is the empty set.
    ///
    /// # Errors
    /// Anything else.
    pub fn from_mask(text: &str) -> Result<CpuSet, ParseCpuMaskError> {
        let text = text.trim();
        let error = || ParseCpuMaskError { found: text.to_string() };
        if text.is_empty() {
            return Ok(CpuSet::EMPTY);
        }
        let mut words: Vec<u64> = Vec::new();
        for (i, chunk) in text.rsplit(',').enumerate() {
            let digits = (1..=8).contains(&chunk.len()) && !chunk.starts_with('+');
            let bits = u32::from_str_radix(chunk, 16).ok().filter(|_| digits).ok_or_else(error)?;
            if bits != 0 && i >= MAX_CPUS / 32 {
                return Err(error());
            }
            if bits != 0 {
                words.resize(words.len().max(i / 2 + 1), 0);
                words[i / 2] |= u64::from(bits) << (32 * (i % 2));
            }
        }
        words.resize(words.len().max(LOW_WORDS), 0);
        let high = words.split_off(LOW_WORDS);
        Ok(CpuSet::from_words(std::array::from_fn(|i| words[i]), high))
    }

    /// The kernel's hexadecimal form for a machine of `nr_cpus` possible CPUs: 32-bit chunks joined by
    /// commas, the highest first and only as wide as `nr_cpus` needs (`ff`, `3,ffffffff`).
    pub fn mask(&self, nr_cpus: usize) -> String {
        let chunks = nr_cpus.clamp(1, MAX_CPUS).div_ceil(32);
        let top_digits = match nr_cpus % 32 {
            0 => 8,
            bits => bits.div_ceil(4),
        };
        let chunk = |i: usize| (self.word(i / 2) >> (32 * (i % 2))) as u32;
        let mut out = format!("{:0width$x}", chunk(chunks - 1), width = top_digits);
        for i in (0..chunks - 1).rev() {
            out.push_str(&format!(",{:08x}", chunk(i)));
        }
        out
    }
}

impl fmt::Display for CpuSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        let mut cpus = self.iter().peekable();
        while let Some(start) = cpus.next() {
            let mut end = start;
            while cpus.peek() == Some(&(end + 1)) {
                end += 1;
                cpus.next();
            }
            if !text.is_empty() {
                text.push(',');
            }
            text.push_str(&start.to_string());
            if end > start {
                text.push_str(&format!("-{end}"));
            }
        }
        f.pad(&text)
    }
}

impl fmt::Debug for CpuSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{{{self}}}")
    }
}

/// Why a CPU list was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("found `{found}`, expected a CPU list such as 0-3,8 with CPUs below {MAX_CPUS}")]
pub struct ParseCpuListError {
    found: String,
}

/// Why a CPU mask was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("found `{found}`, expected a CPU mask such as ff,ffffffff with CPUs below {MAX_CPUS}")]
pub struct ParseCpuMaskError {
    found: String,
}

impl FromStr for CpuSet {
    type Err = ParseCpuListError;

    /// Reads the kernel's list form (`0-3,8`, also with strides as `0-30:2/4`). Empty text is the empty set.
    fn from_str(text: &str) -> Result<CpuSet, ParseCpuListError> {
        let mut set = CpuSet::EMPTY;
        let text = text.trim();
        if text.is_empty() {
            return Ok(set);
        }
        for part in text.split(',') {
            parse_range(part.trim(), &mut set)
                .ok_or_else(|| ParseCpuListError { found: text.to_string() })?;
        }
        Ok(set)
    }
}

/// Adds `a`, `a-b` or `a-b:used/group` (the kernel's `bitmap_parselist` form) to `set`.
fn parse_range(part: &str, set: &mut CpuSet) -> Option<()> {
    let number = |s: &str| {
        let digits = !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
        digits.then(|| s.parse::<usize>().ok()).flatten()
    };
    let (range, stride) = match part.split_once(':') {
        Some((range, stride)) => (range, Some(stride)),
        None => (part, None),
    };
    let (start, end) = match range.split_once('-') {
        Some((a, b)) => (number(a)?, number(b)?),
        None => (number(range)?, number(range)?),
    };
    let (used, group) = match stride {
        Some(s) => {
            let (used, group) = s.split_once('/')?;
            (number(used)?, number(group)?)
        }
        None => (1, 1),
    };
    if start > end || end >= MAX_CPUS || used == 0 || used > group {
        return None;
    }
    (start..=end).filter(|c| (c - start) % group < used).for_each(|c| set.insert(c));
    Some(())
}

impl serde::Serialize for CpuSet {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for CpuSet {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<CpuSet, D::Error> {
        let text = String::deserialize(d)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}
