//! Sets of CPU numbers, printed and parsed as the kernel does.

mod text;

pub use text::{ParseCpuListError, ParseCpuMaskError};

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::hash::{Hash, Hasher};
use std::ops::{BitAnd, BitOr, BitOrAssign, Sub};
use std::sync::Arc;

/// CPUs that a machine can have: 0 to `MAX_CPUS - 1`.
///
/// The most that Linux can be built for: `NR_CPUS` goes to 8192 on x86 (`MAXSMP`) and on powerpc, to 4096 on arm64.
/// Sets hold any number; readers refuse larger ones, because sets and tables by CPU number take the memory that the
/// largest number asks for.
pub const MAX_CPUS: usize = 8192;

/// Words that a set holds in place, without memory of its own: 256 CPUs.
const LOW_WORDS: usize = 4;

/// A set of CPU numbers.
///
/// CPUs below 256 lie in the set itself. Those above lie in words that copies of the set share until one of them
/// changes, so that a clone never allocates, and neither does anything on a machine of up to 256 CPUs.
///
/// `Display` prints the kernel's list form (`0-3,8`, as `%*pbl`); [`CpuSet::mask`] prints the hexadecimal
/// form (`%*pb`). Sets are ordered by their words, the lowest CPUs' first.
#[derive(Clone, Default)]
pub struct CpuSet {
    low: [u64; LOW_WORDS],
    /// Words from CPU 256 on, the last of them never 0; no words and `None` are the same.
    high: Option<Arc<Vec<u64>>>,
}

impl CpuSet {
    /// The empty set.
    pub const EMPTY: CpuSet = CpuSet { low: [0; LOW_WORDS], high: None };

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

    fn high(&self) -> &[u64] {
        self.high.as_ref().map_or(&[], |words| words.as_slice())
    }

    /// The set with the low and the high words; the latter may end in zeros.
    fn from_words(low: [u64; LOW_WORDS], mut high: Vec<u64>) -> CpuSet {
        trim(&mut high);
        CpuSet { low, high: (!high.is_empty()).then(|| Arc::new(high)) }
    }

    /// Word `index`, which holds the CPUs from `64 * index` on.
    fn word(&self, index: usize) -> u64 {
        match index.checked_sub(LOW_WORDS) {
            None => self.low[index],
            Some(above) => self.high().get(above).copied().unwrap_or(0),
        }
    }

    /// Words up to the last that may hold a CPU.
    fn nr_words(&self) -> usize {
        LOW_WORDS + self.high().len()
    }

    /// Adds `cpu`.
    pub fn insert(&mut self, cpu: usize) {
        match (cpu / 64).checked_sub(LOW_WORDS) {
            None => self.low[cpu / 64] |= 1 << (cpu % 64),
            Some(above) => {
                let high = Arc::make_mut(self.high.get_or_insert_default());
                high.resize(high.len().max(above + 1), 0);
                high[above] |= 1 << (cpu % 64);
            }
        }
    }

    /// Takes `cpu` out.
    pub fn remove(&mut self, cpu: usize) {
        match (cpu / 64).checked_sub(LOW_WORDS) {
            None => self.low[cpu / 64] &= !(1 << (cpu % 64)),
            Some(above) if above < self.high().len() => {
                let high = Arc::make_mut(self.high.get_or_insert_default());
                high[above] &= !(1 << (cpu % 64));
                trim(high);
            }
            Some(_) => (),
        }
    }

    /// Whether `cpu` is in the set.
    #[inline]
    pub fn contains(&self, cpu: usize) -> bool {
        self.word(cpu / 64) & (1 << (cpu % 64)) != 0
    }

    /// Number of CPUs (the kernel's `cpumask_weight`).
    pub fn len(&self) -> usize {
        self.low.iter().chain(self.high()).map(|w| w.count_ones() as usize).sum()
    }

    /// Number of CPUs that both sets hold (`cpumask_weight_and`).
    pub fn intersection_len(&self, other: &CpuSet) -> usize {
        self.shared_words(other).map(|(a, b)| (a & b).count_ones() as usize).sum()
    }

    /// Whether no CPU is in the set.
    pub fn is_empty(&self) -> bool {
        self.low == [0; LOW_WORDS] && self.high().is_empty()
    }

    /// Lowest CPU (`cpumask_first`).
    pub fn first(&self) -> Option<usize> {
        self.iter().next()
    }

    /// Highest CPU.
    pub fn last(&self) -> Option<usize> {
        let word = (0..self.nr_words()).rfind(|&at| self.word(at) != 0)?;
        Some(word * 64 + 63 - self.word(word).leading_zeros() as usize)
    }

    /// CPUs in ascending order.
    pub fn iter(&self) -> Iter<'_> {
        Iter { set: self, word: 0, bits: self.low[0] }
    }

    /// CPUs from `start` on, in ascending order.
    fn iter_from(&self, start: usize) -> Iter<'_> {
        let word = start / 64;
        Iter { set: self, word, bits: self.word(word) & (u64::MAX << (start % 64)) }
    }

    /// CPUs in ascending order from `start` on, then from the lowest (`for_each_cpu_wrap`).
    pub fn iter_wrap(&self, start: usize) -> impl Iterator<Item = usize> + use<'_> {
        self.iter_from(start).chain(self.iter().take_while(move |&c| c < start))
    }

    /// Words that both sets have.
    fn shared_words<'a>(&'a self, other: &'a CpuSet) -> impl Iterator<Item = (&'a u64, &'a u64)> {
        self.low.iter().zip(&other.low).chain(self.high().iter().zip(other.high()))
    }

    /// CPUs that both sets hold, in ascending order (`for_each_cpu_and`).
    pub fn iter_and<'a>(&'a self, other: &'a CpuSet) -> impl Iterator<Item = usize> + use<'a> {
        self.iter().filter(|&c| other.contains(c))
    }

    /// Whether every CPU of `self` is in `other`.
    pub fn is_subset(&self, other: &CpuSet) -> bool {
        // The last high word holds a CPU, so more of them hold one that `other` lacks.
        self.high().len() <= other.high().len()
            && self.shared_words(other).all(|(a, b)| a & !b == 0)
    }

    /// Whether the sets share a CPU.
    pub fn intersects(&self, other: &CpuSet) -> bool {
        self.shared_words(other).any(|(a, b)| a & b != 0)
    }
}

fn trim(words: &mut Vec<u64>) {
    while words.last() == Some(&0) {
        words.pop();
    }
}

impl PartialEq for CpuSet {
    fn eq(&self, other: &CpuSet) -> bool {
        let same_words = match (&self.high, &other.high) {
            (None, None) => true,
            (Some(a), Some(b)) => Arc::ptr_eq(a, b) || a == b,
            _ => self.high() == other.high(),
        };
        same_words && self.low == other.low
    }
}

impl Eq for CpuSet {}

impl Hash for CpuSet {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.low.hash(state);
        self.high().hash(state);
    }
}

impl Ord for CpuSet {
    fn cmp(&self, other: &CpuSet) -> Ordering {
        self.low.cmp(&other.low).then_with(|| self.high().cmp(other.high()))
    }
}

impl PartialOrd for CpuSet {
    fn partial_cmp(&self, other: &CpuSet) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[inline]
fn zip_low(a: &CpuSet, b: &CpuSet, op: impl Fn(u64, u64) -> u64) -> [u64; LOW_WORDS] {
    std::array::from_fn(|i| op(a.low[i], b.low[i]))
}

fn union(a: &CpuSet, b: &CpuSet) -> CpuSet {
    let low = zip_low(a, b, |a, b| a | b);
    let high = match (&a.high, &b.high) {
        (None, one) | (one, None) => one.clone(),
        (Some(a), Some(b)) => {
            let (longer, shorter) = if a.len() < b.len() { (b, a) } else { (a, b) };
            let mut high = longer.to_vec();
            high.iter_mut().zip(shorter.iter()).for_each(|(word, other)| *word |= other);
            Some(Arc::new(high))
        }
    };
    CpuSet { low, high }
}

fn intersection(a: &CpuSet, b: &CpuSet) -> CpuSet {
    let low = zip_low(a, b, |a, b| a & b);
    match (&a.high, &b.high) {
        (Some(a), Some(b)) => {
            CpuSet::from_words(low, a.iter().zip(b.iter()).map(|(a, b)| a & b).collect())
        }
        _ => CpuSet { low, high: None },
    }
}

fn difference(a: &CpuSet, b: &CpuSet) -> CpuSet {
    let low = zip_low(a, b, |a, b| a & !b);
    match (&a.high, &b.high) {
        (Some(a), Some(b)) => {
            let mut high = a.to_vec();
            high.iter_mut().zip(b.iter()).for_each(|(word, other)| *word &= !other);
            CpuSet::from_words(low, high)
        }
        _ => CpuSet { low, high: a.high.clone() },
    }
}

/// An operator for sets and references to sets alike.
macro_rules! operator {
    ($trait:ident, $method:ident, $function:ident) => {
        operator!($trait, $method, $function, CpuSet, CpuSet);
        operator!($trait, $method, $function, CpuSet, &CpuSet);
        operator!($trait, $method, $function, &CpuSet, CpuSet);
        operator!($trait, $method, $function, &CpuSet, &CpuSet);
    };
    ($trait:ident, $method:ident, $function:ident, $left:ty, $right:ty) => {
        impl $trait<$right> for $left {
            type Output = CpuSet;
            #[inline]
            fn $method(self, other: $right) -> CpuSet {
                let (a, b) = (Borrow::<CpuSet>::borrow(&self), Borrow::<CpuSet>::borrow(&other));
                $function(a, b)
            }
        }
    };
}

operator!(BitOr, bitor, union);
operator!(BitAnd, bitand, intersection);
operator!(Sub, sub, difference);

impl BitOrAssign<&CpuSet> for CpuSet {
    fn bitor_assign(&mut self, other: &CpuSet) {
        *self = union(self, other);
    }
}

impl BitOrAssign for CpuSet {
    fn bitor_assign(&mut self, other: CpuSet) {
        *self |= &other;
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
#[derive(Clone)]
pub struct Iter<'a> {
    set: &'a CpuSet,
    word: usize,
    /// What is left of the word.
    bits: u64,
}

impl Iterator for Iter<'_> {
    type Item = usize;
    #[inline]
    fn next(&mut self) -> Option<usize> {
        while self.bits == 0 {
            self.word += 1;
            if self.word >= self.set.nr_words() {
                return None;
            }
            self.bits = self.set.word(self.word);
        }
        let bit = self.bits.trailing_zeros() as usize;
        self.bits &= self.bits - 1;
        Some(self.word * 64 + bit)
    }
}

#[cfg(test)]
mod tests;
