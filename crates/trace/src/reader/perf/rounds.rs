//! Order of perf's records. perf reads one CPU's buffer after the other, round by round: what is in a round's buffers is later
//! than all that the round before the previous one found (`tools/perf/util/ordered-events.c`).

/// Records that wait for their turn. A file without rounds makes no more of them wait.
const MOST: usize = 1 << 20;

/// Sorts what comes in rounds.
#[derive(Debug)]
pub(super) struct Rounds<T> {
    waiting: Vec<(u64, T)>,
    /// Latest time of the previous round, and of all.
    previous: u64,
    latest: u64,
    most: usize,
}

impl<T> Default for Rounds<T> {
    fn default() -> Rounds<T> {
        Rounds { waiting: Vec::new(), previous: 0, latest: 0, most: MOST }
    }
}

impl<T> Rounds<T> {
    /// Takes a record.
    pub(super) fn push(&mut self, time: u64, record: T) {
        self.latest = self.latest.max(time);
        self.waiting.push((time, record));
    }

    /// Whether so many wait that the earlier half has to go.
    pub(super) fn is_full(&self) -> bool {
        self.waiting.len() >= self.most
    }

    /// The round ends; gives the records that nothing can precede.
    pub(super) fn round(&mut self) -> std::vec::Drain<'_, (u64, T)> {
        let until = std::mem::replace(&mut self.previous, self.latest);
        self.sort();
        let n = self.waiting.partition_point(|(time, _)| *time <= until);
        self.waiting.drain(..n)
    }

    /// Gives the earlier half.
    pub(super) fn half(&mut self) -> std::vec::Drain<'_, (u64, T)> {
        self.sort();
        self.waiting.drain(..self.waiting.len() / 2)
    }

    /// Gives all.
    pub(super) fn rest(&mut self) -> std::vec::Drain<'_, (u64, T)> {
        self.sort();
        self.waiting.drain(..)
    }

    fn sort(&mut self) {
        // Stable: records of one time stay in the order of the file.
        self.waiting.sort_by_key(|(time, _)| *time);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_wait_for_the_round_after_the_next() {
        let mut rounds = Rounds::default();
        let mut out = Vec::new();
        for (round, times) in
            [vec![1, 2, 4, 2, 3], vec![5, 6, 7, 3, 4, 5], vec![8, 9, 6, 10]].iter().enumerate()
        {
            times.iter().for_each(|&time| rounds.push(time, time));
            out.push(rounds.round().map(|r| r.1).collect::<Vec<u64>>());
            assert_eq!(out.len(), round + 1);
        }
        assert_eq!(out, [vec![], vec![1, 2, 2, 3, 3, 4, 4], vec![5, 5, 6, 6, 7]]);
        assert_eq!(rounds.rest().map(|r| r.1).collect::<Vec<u64>>(), [8, 9, 10]);
    }
}
