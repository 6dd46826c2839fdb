//! The clock of a trace: from ticks to ns.

/// How times become ns, as `trace-cmd report` does it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Clock {
    /// Its name in `trace_clock`.
    name: String,
    /// Of the time stamp counter: ns are `ticks * multiplier >> shift`.
    ticks: Option<(u32, u32)>,
    /// Added to every time, in ns.
    shift: i64,
}

/// Clocks of the kernel that do not count ns (`trace_clocks` of `kernel/trace/trace.c`).
const NO_NS: [&str; 5] = ["counter", "uptime", "x86-tsc", "ppc-tb", "tsc2nsec"];

impl Clock {
    /// Takes the name that stands in brackets in the contents of `trace_clock`.
    pub(super) fn name(&mut self, text: &str) {
        let chosen = text.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
        self.name = chosen.map_or(text, |(name, _)| name).trim().to_string();
    }

    /// Adds a number, decimal or with 0x, to every time.
    pub(super) fn shift(&mut self, text: &str) {
        let text = text.trim();
        let (sign, digits) = match text.strip_prefix('-') {
            Some(digits) => (-1, digits),
            None => (1, text),
        };
        let number = match digits.strip_prefix("0x") {
            Some(digits) => i64::from_str_radix(digits, 16),
            None => digits.parse(),
        };
        self.shift = self.shift.wrapping_add(sign * number.unwrap_or(0));
    }

    /// Ticks become ns by these numbers.
    pub(super) fn ticks(&mut self, multiplier: u32, shift: u32) {
        self.ticks = Some((multiplier, shift));
    }

    /// The clock's name if its ticks are no ns and nothing says how to convert them.
    pub(super) fn not_ns(&self) -> Option<&str> {
        (self.ticks.is_none() && NO_NS.contains(&self.name.as_str())).then_some(&*self.name)
    }

    /// A time in ns.
    pub(super) fn ns(&self, ticks: u64) -> u64 {
        let ns = match self.ticks {
            None => ticks,
            Some((multiplier, shift)) => {
                let ns = (u128::from(ticks) * u128::from(multiplier)).checked_shr(shift);
                ns.unwrap_or(0) as u64
            }
        };
        ns.saturating_add_signed(self.shift)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_become_ns() {
        let mut clock = Clock::default();
        clock.name("local global [x86-tsc] mono");
        assert_eq!(clock.not_ns(), Some("x86-tsc"));
        clock.ticks(1 << 20, 21);
        assert_eq!((clock.not_ns(), clock.ns(2000)), (None, 1000));
        clock.shift("-0x10");
        clock.shift("6\n");
        assert_eq!(clock.ns(2000), 990);
        assert_eq!(Clock::default().ns(u64::MAX), u64::MAX);
    }
}
