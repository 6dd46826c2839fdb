//! Sets of CPU numbers, printed and parsed as the kernel does.

use std::fmt;
use std::ops::{BitAnd, BitOr, BitOrAssign, Sub};
use std::str::FromStr;

/// CPUs that a set can hold: 0 to `MAX_CPUS - 1`.
pub const MAX_CPUS: usize = 1024;
const WORDS: usize = MAX_CPUS / 64;

/// A fixed-size set of CPU numbers below [`MAX_CPUS`].
///
/// `Display` prints the kernel's list form (`0-3,8`, as `%*pbl`); [`CpuSet::mask`] prints the hexadecimal
/// form (`%*pb`). Inserting a CPU at or above `MAX_CPUS` panics; the readers check numbers first.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct CpuSet {
    words: [u64; WORDS],
}

impl CpuSet {
    /// The empty set.
    pub const EMPTY: CpuSet = CpuSet { words: [0; WORDS] };

    /// The set that holds only `cpu`.
    pub fn single(cpu: usize) -> CpuSet {
        let mut set = CpuSet::EMPTY;
        set.insert(cpu);
        set
    }

    /// CPUs `0..count`.
    pub fn first_n(count: usize) -> CpuSet {
        (0..count).collect()
    }

    /// Adds `cpu`.
    pub fn insert(&mut self, cpu: usize) {
        self.words[cpu / 64] |= 1 << (cpu % 64);
    }

    /// Takes `cpu` out.
    pub fn remove(&mut self, cpu: usize) {
        self.words[cpu / 64] &= !(1 << (cpu % 64));
    }

    /// Whether `cpu` is in the set; false for any number at or above [`MAX_CPUS`].
    pub fn contains(&self, cpu: usize) -> bool {
        cpu < MAX_CPUS && self.words[cpu / 64] & (1 << (cpu % 64)) != 0
    }

    /// Number of CPUs (the kernel's `cpumask_weight`).
    pub fn len(&self) -> usize {
        self.words.iter().map(|w| w.count_ones() as usize).sum()
    }

    /// Whether no CPU is in the set.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|&w| w == 0)
    }

    /// Lowest CPU (`cpumask_first`).
    pub fn first(&self) -> Option<usize> {
        let word = self.words.iter().position(|&w| w != 0)?;
        Some(word * 64 + self.words[word].trailing_zeros() as usize)
    }

    /// Highest CPU.
    pub fn last(&self) -> Option<usize> {
        let word = self.words.iter().rposition(|&w| w != 0)?;
        Some(word * 64 + 63 - self.words[word].leading_zeros() as usize)
    }

    /// CPUs in ascending order.
    pub fn iter(&self) -> Iter {
        Iter { words: self.words, word: 0 }
    }

    /// CPUs in ascending order from `start` on, then from the lowest (`for_each_cpu_wrap`).
    pub fn iter_wrap(&self, start: usize) -> impl Iterator<Item = usize> + use<> {
        let set = *self;
        let from = set.iter().filter(move |&c| c >= start);
        let rest = set.iter().filter(move |&c| c < start);
        from.chain(rest)
    }

    /// Whether every CPU of `self` is in `other`.
    pub fn is_subset(&self, other: &CpuSet) -> bool {
        self.words.iter().zip(&other.words).all(|(a, b)| a & !b == 0)
    }

    /// Whether the sets share a CPU.
    pub fn intersects(&self, other: &CpuSet) -> bool {
        self.words.iter().zip(&other.words).any(|(a, b)| a & b != 0)
    }

    /// Reads the kernel's hexadecimal form (`%*pb`: 32-bit chunks joined by commas, the highest first). Chunks above
    /// [`MAX_CPUS`] must be 0. Empty text is the empty set.
    ///
    /// # Errors
    /// Anything else.
    pub fn from_mask(text: &str) -> Result<CpuSet, ParseCpuMaskError> {
        let text = text.trim();
        let error = || ParseCpuMaskError { found: text.to_string() };
        let mut set = CpuSet::EMPTY;
        if text.is_empty() {
            return Ok(set);
        }
        for (i, chunk) in text.rsplit(',').enumerate() {
            let digits = (1..=8).contains(&chunk.len()) && !chunk.starts_with('+');
            let bits = u32::from_str_radix(chunk, 16).ok().filter(|_| digits).ok_or_else(error)?;
            match set.words.get_mut(i / 2) {
                Some(word) => *word |= u64::from(bits) << (32 * (i % 2)),
                None if bits == 0 => (),
                None => return Err(error()),
            }
        }
        Ok(set)
    }

    /// The kernel's hexadecimal form for a machine of `nr_cpus` possible CPUs: 32-bit chunks joined by
    /// commas, the highest first and only as wide as `nr_cpus` needs (`ff`, `3,ffffffff`).
    pub fn mask(&self, nr_cpus: usize) -> String {
        let chunks = nr_cpus.clamp(1, MAX_CPUS).div_ceil(32);
        let top_digits = match nr_cpus % 32 {
            0 => 8,
            bits => bits.div_ceil(4),
        };
        let chunk = |i: usize| (self.words[i / 2] >> (32 * (i % 2))) as u32;
        let mut out = format!("{:0width$x}", chunk(chunks - 1), width = top_digits);
        for i in (0..chunks - 1).rev() {
            out.push_str(&format!(",{:08x}", chunk(i)));
        }
        out
    }
}

fn zip_words(a: CpuSet, b: CpuSet, op: impl Fn(u64, u64) -> u64) -> CpuSet {
    let mut words = [0; WORDS];
    for (i, word) in words.iter_mut().enumerate() {
        *word = op(a.words[i], b.words[i]);
    }
    CpuSet { words }
}

impl BitOr for CpuSet {
    type Output = CpuSet;
    fn bitor(self, other: CpuSet) -> CpuSet {
        zip_words(self, other, |a, b| a | b)
    }
}

impl BitOrAssign for CpuSet {
    fn bitor_assign(&mut self, other: CpuSet) {
        *self = *self | other;
    }
}

impl BitAnd for CpuSet {
    type Output = CpuSet;
    fn bitand(self, other: CpuSet) -> CpuSet {
        zip_words(self, other, |a, b| a & b)
    }
}

impl Sub for CpuSet {
    type Output = CpuSet;
    fn sub(self, other: CpuSet) -> CpuSet {
        zip_words(self, other, |a, b| a & !b)
    }
}

impl FromIterator<usize> for CpuSet {
    fn from_iter<T: IntoIterator<Item = usize>>(cpus: T) -> CpuSet {
        let mut set = CpuSet::EMPTY;
        cpus.into_iter().for_each(|c| set.insert(c));
        set
    }
}

/// Iterator over a [`CpuSet`], ascending.
pub struct Iter {
    words: [u64; WORDS],
    word: usize,
}

impl Iterator for Iter {
    type Item = usize;
    fn next(&mut self) -> Option<usize> {
        while self.word < WORDS {
            let bits = self.words[self.word];
            if bits != 0 {
                self.words[self.word] &= bits - 1;
                return Some(self.word * 64 + bits.trailing_zeros() as usize);
            }
            self.word += 1;
        }
        None
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn prints_as_the_kernel_does() {
        let set: CpuSet = [0, 1, 2, 3, 8].into_iter().collect();
        assert_eq!(set.to_string(), "0-3,8");
        assert_eq!(set.mask(16), "010f");
        assert_eq!(CpuSet::first_n(34).mask(34), "3,ffffffff");
        assert_eq!(CpuSet::EMPTY.to_string(), "");
        assert_eq!(CpuSet::EMPTY.mask(8), "00");
    }

    #[test]
    fn wraps_from_the_start_cpu() {
        let set: CpuSet = "0-3,70".parse().unwrap();
        assert_eq!(set.iter_wrap(2).collect::<Vec<_>>(), [2, 3, 70, 0, 1]);
        assert_eq!(set.iter_wrap(71).collect::<Vec<_>>(), [0, 1, 2, 3, 70]);
    }

    #[test]
    fn reads_strides_and_refuses_nonsense() {
        assert_eq!("0-7:2/4".parse::<CpuSet>().unwrap().to_string(), "0-1,4-5");
        for bad in ["3-1", "1024", "a", "1,,2", "-1", "0-7:0/4", "0-7:5/4", "+1"] {
            assert!(bad.parse::<CpuSet>().is_err(), "{bad}");
        }
        assert_eq!(CpuSet::from_mask("1,000000f0").unwrap().to_string(), "4-7,32");
        for bad in ["x", "1,", "123456789", "+1", "-1"] {
            assert!(CpuSet::from_mask(bad).is_err(), "{bad}");
        }
        assert!(CpuSet::from_mask(&format!("1{}", ",00000000".repeat(MAX_CPUS / 32))).is_err());
    }

    proptest! {
        #[test]
        fn list_form_round_trips(cpus in prop::collection::vec(0usize..MAX_CPUS, 0..64)) {
            let set: CpuSet = cpus.iter().copied().collect();
            prop_assert_eq!(set.to_string().parse::<CpuSet>().unwrap(), set);
            prop_assert_eq!(set.iter().count(), set.len());
            prop_assert_eq!(set.first(), cpus.iter().copied().min());
            prop_assert_eq!(set.last(), cpus.iter().copied().max());
        }

        #[test]
        fn mask_form_round_trips(
            cpus in prop::collection::vec(0usize..MAX_CPUS, 0..64),
            width in 1usize..=MAX_CPUS,
        ) {
            let set: CpuSet = cpus.iter().copied().filter(|&c| c < width).collect();
            prop_assert_eq!(CpuSet::from_mask(&set.mask(width)).unwrap(), set);
            prop_assert_eq!(CpuSet::from_mask(&format!("00000000,{}", set.mask(MAX_CPUS))).unwrap(), set);
        }

        #[test]
        fn parser_never_panics(text in ".{0,40}") {
            let _ = text.parse::<CpuSet>();
            let _ = CpuSet::from_mask(&text);
        }
    }
}
