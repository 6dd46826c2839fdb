//! Lines and instructions of guests beside those of the simulator, as tables for people.

use crate::table::table;
use results::lines::{Compared, Row};

const COLUMNS: [&str; 3] = ["guest", "simulated", "ratio"];

/// A table for each workload under each variant; `limit` is the part by which a count may differ.
pub fn lines(all: &[Compared], limit: f64) -> String {
    all.iter().map(|compared| part(compared, limit)).collect::<Vec<_>>().join("\n")
}

fn part(compared: &Compared, limit: f64) -> String {
    let Compared { machine, workload, variant, unit, units, guest, .. } = compared;
    let rows: Vec<Vec<String>> = compared.rows.iter().map(|row| cells(row, limit)).collect();
    let columns = [unit, COLUMNS[0], COLUMNS[1], COLUMNS[2]];
    format!(
        "{workload}, {variant}, {machine}: {:.0} {unit}s in the guest, {:.0} simulated\n{}\
         the guest's lines: {:.2} reads, {:.2} atomic operations, {:.2} waits for {:.2} writes; \
         {:.0} instructions of programs\n",
        units[0],
        units[1],
        table(&columns, &rows),
        guest.reads,
        guest.atomics,
        guest.store_waits,
        guest.writes,
        guest.user_instructions
    )
}

fn cells(row: &Row, limit: f64) -> Vec<String> {
    let mark = if row.is_beyond(limit) { " beyond" } else { "" };
    let ratio = row.ratio.map_or("-".to_string(), |ratio| format!("{ratio:.2}"));
    let number = |n: f64| if n.abs() >= 100.0 { format!("{n:.0}") } else { format!("{n:.2}") };
    vec![row.what.clone(), number(row.guest), number(row.simulated), format!("{ratio}{mark}")]
}

#[cfg(test)]
mod tests {
    use super::*;
    use machine::distance::Distance;
    use results::lines::{Figures, Guest};

    #[test]
    fn what_is_beyond_the_limit_is_marked() {
        let figures = |instructions: f64, lines: f64| {
            let mut all = [0.0; Distance::COUNT];
            all[Distance::Cluster as usize] = lines;
            Figures {
                units: 10.0,
                kernel_instructions: instructions,
                lines: all,
                ..Figures::default()
            }
        };
        let sides = (&figures(4000.0, 20.0), &figures(4400.0, 30.0));
        let text =
            lines(&[Compared::new(["m", "pipe", "6.12"], "message", sides, Guest::default())], 0.2);
        let row = |what: &str| {
            let line = text.lines().find(|line| line.trim_start().starts_with(what)).unwrap();
            line.split_whitespace().map(str::to_string).collect::<Vec<_>>()
        };
        assert_eq!(row("kernel_instructions"), ["kernel_instructions", "4000", "4400", "1.10"]);
        assert_eq!(row("lines_cluster"), ["lines_cluster", "20.00", "30.00", "1.50", "beyond"]);
        assert!(
            text.starts_with("pipe, 6.12, m: 10 messages in the guest, 10 simulated\n"),
            "{text}"
        );
    }
}
