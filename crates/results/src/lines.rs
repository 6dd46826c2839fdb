//! Cache lines and instructions of a workload as guests count them, beside those that the simulator charges.

use machine::distance::Distance;
use serde::Serialize;

/// Share of all lines that a distance needs to be held against the limit: below, ticks and daemons are most of it.
const LEAST_SHARE: f64 = 0.05;

/// What one side counted, for each unit of a workload's work.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Figures {
    /// Units.
    pub units: f64,
    /// Time from start to end, in us.
    pub elapsed_us: f64,
    /// Instructions of the kernel.
    pub kernel_instructions: f64,
    /// Lines that CPUs waited for, by distance.
    pub lines: [f64; Distance::COUNT],
    /// Wake-ups.
    pub wakeups: f64,
    /// Switches between tasks, to and from idle included.
    pub switches: f64,
}

impl Figures {
    /// For each unit, out of those of a longer and of a shorter run: what both do once is not in it.
    pub fn of(long: &Figures, short: &Figures) -> Figures {
        let units = long.units - short.units;
        let each = |long: f64, short: f64| (long - short) / units;
        Figures {
            units,
            elapsed_us: each(long.elapsed_us, short.elapsed_us),
            kernel_instructions: each(long.kernel_instructions, short.kernel_instructions),
            lines: std::array::from_fn(|at| each(long.lines[at], short.lines[at])),
            wakeups: each(long.wakeups, short.wakeups),
            switches: each(long.switches, short.switches),
        }
    }

    /// The sum of two runs.
    pub fn plus(&self, other: &Figures) -> Figures {
        Figures {
            units: self.units + other.units,
            elapsed_us: self.elapsed_us + other.elapsed_us,
            kernel_instructions: self.kernel_instructions + other.kernel_instructions,
            lines: std::array::from_fn(|at| self.lines[at] + other.lines[at]),
            wakeups: self.wakeups + other.wakeups,
            switches: self.switches + other.switches,
        }
    }
}

/// A count on both sides, for each unit of work.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// What is counted, as `kernel_instructions`, `lines` or `lines_cluster`.
    pub what: String,
    /// In the guest.
    pub guest: f64,
    /// In the simulator.
    pub simulated: f64,
    /// The simulator's as a multiple of the guest's; none where that counted nothing.
    pub ratio: Option<f64>,
    /// Whether it is held against the limit.
    pub judged: bool,
}

impl Row {
    fn new(what: &str, guest: f64, simulated: f64, judged: bool) -> Row {
        let ratio = (guest > 0.0).then(|| simulated / guest);
        Row { what: what.to_string(), guest, simulated, ratio, judged }
    }

    /// Whether it is judged and the ratio differs from 1 by more than `limit`.
    pub fn is_beyond(&self, limit: f64) -> bool {
        self.judged && self.ratio.is_none_or(|ratio| (ratio - 1.0).abs() > limit)
    }
}

/// What only the guest tells, for each unit of work.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Guest {
    /// Instructions of programs.
    pub user_instructions: f64,
    /// Reads of lines that another CPU wrote.
    pub reads: f64,
    /// Atomic operations on lines that others have.
    pub atomics: f64,
    /// Barriers that wait for plain writes.
    pub store_waits: f64,
    /// Plain writes of lines that others have.
    pub writes: f64,
}

/// A workload under a variant on both sides.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Compared {
    /// The machine's name.
    pub machine: String,
    /// The workload's.
    pub workload: String,
    /// The variant's.
    pub variant: String,
    /// What the figures are for each of.
    pub unit: &'static str,
    /// Units in the guest and in the simulator.
    pub units: [f64; 2],
    /// Counts of both.
    pub rows: Vec<Row>,
    /// Counts of the guest alone.
    pub guest: Guest,
}

impl Compared {
    /// Both sides of `workload` under `variant` on `machine`; its work is counted in `unit`s.
    pub fn new(
        [machine, workload, variant]: [&str; 3],
        unit: &'static str,
        (guest, simulated): (&Figures, &Figures),
        alone: Guest,
    ) -> Compared {
        let (all, all_simulated) = (guest.lines.iter().sum(), simulated.lines.iter().sum());
        let mut rows = vec![
            Row::new(
                "kernel_instructions",
                guest.kernel_instructions,
                simulated.kernel_instructions,
                true,
            ),
            Row::new("lines", all, all_simulated, true),
        ];
        for (distance, (&lines, &modelled)) in
            Distance::ALL.iter().zip(guest.lines.iter().zip(&simulated.lines))
        {
            if lines > 0.0 || modelled > 0.0 {
                let judged = lines >= LEAST_SHARE * all || modelled >= LEAST_SHARE * all_simulated;
                let name = format!("lines_{}", distance.name());
                rows.push(Row::new(&name, lines, modelled, judged));
            }
        }
        rows.push(Row::new("wakeups", guest.wakeups, simulated.wakeups, false));
        rows.push(Row::new("context_switches", guest.switches, simulated.switches, false));
        rows.push(Row::new("elapsed_us", guest.elapsed_us, simulated.elapsed_us, false));
        Compared {
            machine: machine.to_string(),
            workload: workload.to_string(),
            variant: variant.to_string(),
            unit,
            units: [guest.units, simulated.units],
            rows,
            guest: alone,
        }
    }

    /// Whether any count differs by more than `limit`.
    pub fn is_beyond(&self, limit: f64) -> bool {
        self.rows.iter().any(|row| row.is_beyond(limit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(units: f64, instructions: f64, near: f64, far: f64) -> Figures {
        let mut lines = [0.0; Distance::COUNT];
        lines[Distance::Cluster as usize] = near;
        lines[Distance::Package as usize] = far;
        Figures { units, kernel_instructions: instructions, lines, ..Figures::default() }
    }

    #[test]
    fn what_runs_do_once_is_in_no_figure() {
        let each = Figures::of(&figures(20.0, 1300.0, 60.0, 0.0), &figures(10.0, 800.0, 40.0, 0.0));
        assert_eq!((each.units, each.kernel_instructions), (10.0, 50.0));
        assert_eq!(each.lines[Distance::Cluster as usize], 2.0);
    }

    #[test]
    fn distances_with_few_lines_are_shown_and_not_judged() {
        let guest = figures(1.0, 1000.0, 50.0, 1.0);
        let compared = |simulated: Figures| {
            Compared::new(["m", "w", "v"], "message", (&guest, &simulated), Guest::default())
        };
        let close = compared(figures(1.0, 1100.0, 45.0, 0.1));
        assert!(!close.is_beyond(0.2), "{close:?}");
        assert!(close.is_beyond(0.05));
        assert!(compared(figures(1.0, 1000.0, 50.0, 9.0)).is_beyond(0.2));
        assert!(compared(figures(1.0, 1300.0, 50.0, 1.0)).is_beyond(0.2));
    }
}
