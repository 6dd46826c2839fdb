//! How the prefetch engine of a POWER8 core is used.

use crate::SettingError;

/// How the prefetch engine is used where the kernel uses it (mechanisms `l2-prefetch-engine` and `l3-prefetch-engine`).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prefetch {
    /// The rate of restores.
    pub rate: Rate,
    /// Cycles of the log from a place of the directory to the next, if not the machine's `prefetch_log_cycles`.
    pub log_cycles: Option<f64>,
}

impl Default for Prefetch {
    /// As the kernel has it: as fast as possible.
    fn default() -> Prefetch {
        Prefetch { rate: Rate::Fastest, log_cycles: None }
    }
}

/// How often a line is prefetched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rate {
    /// As fast as possible.
    Fastest,
    /// About every 8 cycles.
    Every8,
    /// About every 16 cycles.
    Every16,
    /// About every 24 cycles.
    Every24,
    /// About every 32 cycles.
    Every32,
}

impl Rate {
    /// Number of rates.
    pub const COUNT: usize = 5;
    /// All rates, the fastest first.
    pub const ALL: [Rate; Rate::COUNT] =
        [Rate::Fastest, Rate::Every8, Rate::Every16, Rate::Every24, Rate::Every32];

    /// Cycles between lines as the rate names them; `None` for the fastest.
    pub fn cycles(self) -> Option<u32> {
        match self {
            Rate::Fastest => None,
            Rate::Every8 => Some(8),
            Rate::Every16 => Some(16),
            Rate::Every24 => Some(24),
            Rate::Every32 => Some(32),
        }
    }

    /// The rate of so many cycles between lines.
    ///
    /// # Errors
    /// [`SettingError::RateCycles`].
    pub fn of_cycles(cycles: u32) -> Result<Rate, SettingError> {
        Rate::ALL.into_iter().find(|r| r.cycles() == Some(cycles)).ok_or_else(|| {
            SettingError::RateCycles { found: cycles, expected: "8, 16, 24 or 32".to_string() }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_named_by_their_cycles() {
        for rate in Rate::ALL {
            if let Some(cycles) = rate.cycles() {
                assert_eq!(Rate::of_cycles(cycles), Ok(rate));
            }
        }
        let error = Rate::of_cycles(12).unwrap_err().to_string();
        assert_eq!(error, "rate_cycles: found 12, expected 8, 16, 24 or 32");
    }
}
