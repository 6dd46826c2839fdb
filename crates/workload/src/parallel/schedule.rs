//! How a loop's iterations are divided, in the words of `OMP_SCHEDULE`.

use crate::program::Chunks;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::Range;
use std::str::FromStr;

/// A schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Schedule {
    /// Each thread has its part from the start.
    Static {
        /// Chunks of this size in turn; one part for each thread where absent.
        chunk: Option<u32>,
    },
    /// Threads take chunks of this size.
    Dynamic {
        /// At least 1.
        chunk: u32,
    },
    /// Threads take the part of what is left that would be theirs.
    Guided {
        /// At least so many.
        chunk: u32,
    },
}

impl Schedule {
    /// The iterations of thread `nth` of `threads`, where they are known beforehand (`gomp_iter_static_next`).
    pub(super) fn parts(
        self,
        iterations: u32,
        threads: u16,
        nth: u16,
    ) -> Option<impl Iterator<Item = Range<u32>>> {
        let (threads, nth) = (u32::from(threads), u32::from(nth));
        let (first, size, step) = match self {
            Schedule::Static { chunk: None } => {
                // The first threads get one more.
                let (each, more) = (iterations / threads, iterations % threads);
                (nth * each + nth.min(more), each + u32::from(nth < more), iterations)
            }
            Schedule::Static { chunk: Some(chunk) } => {
                (nth.saturating_mul(chunk), chunk, threads.saturating_mul(chunk))
            }
            Schedule::Dynamic { .. } | Schedule::Guided { .. } => return None,
        };
        let begins = std::iter::successors(Some(first), move |at| at.checked_add(step));
        let begins = begins.take_while(move |&at| at < iterations);
        Some(begins.map(move |at| at..at.saturating_add(size).min(iterations)))
    }

    /// How `threads` take chunks; what no thread takes under a static schedule.
    pub(super) fn chunks(self, threads: u16) -> Chunks {
        match self {
            Schedule::Static { .. } => Chunks::Dynamic(1),
            Schedule::Dynamic { chunk } => Chunks::Dynamic(chunk),
            Schedule::Guided { chunk: least } => {
                Chunks::Guided { least, parties: u32::from(threads) }
            }
        }
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Schedule::Static { chunk: None } => f.write_str("static"),
            Schedule::Static { chunk: Some(chunk) } => write!(f, "static,{chunk}"),
            Schedule::Dynamic { chunk } => write!(f, "dynamic,{chunk}"),
            Schedule::Guided { chunk } => write!(f, "guided,{chunk}"),
        }
    }
}

impl FromStr for Schedule {
    type Err = String;

    fn from_str(text: &str) -> Result<Schedule, String> {
        let wrong = || {
            format!(
                "found `{text}`, expected `static`, `dynamic` or `guided`, and after a comma a chunk of at least 1"
            )
        };
        let (kind, chunk) = match text.split_once(',') {
            Some((kind, chunk)) => {
                let chunk: u32 = chunk.parse().map_err(|_| wrong())?;
                (kind, Some(chunk).filter(|&chunk| chunk > 0).ok_or_else(wrong)?.into())
            }
            None => (text, None),
        };
        match kind {
            "static" => Ok(Schedule::Static { chunk }),
            // 1 is what OpenMP takes where none is given.
            "dynamic" => Ok(Schedule::Dynamic { chunk: chunk.unwrap_or(1) }),
            "guided" => Ok(Schedule::Guided { chunk: chunk.unwrap_or(1) }),
            _ => Err(wrong()),
        }
    }
}

impl TryFrom<String> for Schedule {
    type Error = String;

    fn try_from(text: String) -> Result<Schedule, String> {
        text.parse()
    }
}

impl From<Schedule> for String {
    fn from(schedule: Schedule) -> String {
        schedule.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Begins and ends, by thread.
    fn parts(schedule: &str, iterations: u32, threads: u16) -> Vec<Vec<(u32, u32)>> {
        let schedule: Schedule = schedule.parse().unwrap();
        let ends = |part: Range<u32>| (part.start, part.end);
        let of = |nth| schedule.parts(iterations, threads, nth).unwrap().map(ends).collect();
        (0..threads).map(of).collect()
    }

    #[test]
    fn static_parts_are_openmps() {
        assert_eq!(
            parts("static", 10, 4),
            [vec![(0, 3)], vec![(3, 6)], vec![(6, 8)], vec![(8, 10)]]
        );
        assert_eq!(parts("static", 2, 3), [vec![(0, 1)], vec![(1, 2)], vec![]]);
        assert_eq!(parts("static,3", 10, 2), [vec![(0, 3), (6, 9)], vec![(3, 6), (9, 10)]]);
    }

    #[test]
    fn words_are_openmps() {
        for text in ["static", "static,4", "dynamic,1", "guided,16"] {
            assert_eq!(text.parse::<Schedule>().unwrap().to_string(), text);
        }
        assert_eq!("guided".parse(), Ok(Schedule::Guided { chunk: 1 }));
        for text in ["", "auto", "static,0", "static,", "dynamic,-1", "guided,1,2"] {
            assert!(text.parse::<Schedule>().unwrap_err().starts_with(&format!("found `{text}`")));
        }
    }
}
