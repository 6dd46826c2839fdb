//! `prev_state` of `sched_switch`, whose bits differ between kernels.

use crate::TaskState;

/// Turns a kernel's bits into those from 4.14 on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct States {
    /// A kernel's bits and ours; empty if they are the same.
    pairs: Vec<(u64, u16)>,
}

/// The bit that says "preempted" before 4.14, if the format does not name it (`TASK_STATE_MAX` of 4.8).
const OLD_PREEMPTED: u64 = 0x800;

impl States {
    /// Reads the letters of the bits in the event's `print fmt`: `{ 1, "S"} , { 2, "D" }`. Kernels without `P` for parked tasks at
    /// 0x40 (`TASK_REPORT`) are those before 4.14.
    pub(super) fn of(print: &str) -> States {
        let named: Vec<(u64, &str)> = print.split('{').skip(1).filter_map(pair).collect();
        if named.is_empty() || named.contains(&(0x40, "P")) {
            return States { pairs: Vec::new() };
        }
        let mut pairs: Vec<(u64, u16)> = Vec::new();
        for (bits, letter) in named {
            let ours = match letter {
                // Killable and new tasks, as later kernels report them.
                "K" => Some(TaskState::UNINTERRUPTIBLE.0),
                "x" => Some(TaskState::DEAD.0),
                letter => (TaskState::LETTERS.iter())
                    .find(|(_, l)| letter.as_bytes() == [*l])
                    .map(|(bit, _)| *bit),
            };
            pairs.extend(ours.map(|ours| (bits, ours)));
        }
        pairs.push((preempted(print).unwrap_or(OLD_PREEMPTED), TaskState::PREEMPTED));
        States { pairs }
    }

    /// The state of a record.
    pub(super) fn state(&self, bits: i64) -> TaskState {
        if self.pairs.is_empty() {
            return TaskState(bits as u16);
        }
        let ours = self.pairs.iter().filter(|(theirs, _)| bits as u64 & theirs != 0);
        TaskState(ours.fold(0, |all, (_, ours)| all | ours))
    }
}

/// `BITS, "LETTER"`.
fn pair(text: &str) -> Option<(u64, &str)> {
    let (bits, letter) = text.split_once('}')?.0.split_once(',')?;
    Some((number(bits)?, letter.trim().strip_prefix('"')?.strip_suffix('"')?))
}

/// `prev_state & BIT ? "+"`.
fn preempted(print: &str) -> Option<u64> {
    let before = print.split("? \"+\"").next().filter(|before| before.len() < print.len())?;
    number(before.rsplit('&').next()?).filter(|bit| bit.is_power_of_two())
}

fn number(text: &str) -> Option<u64> {
    let text = text.trim();
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `print fmt` of 3.10 (`TRACE_EVENT(sched_switch)` of that release).
    const OLD: &str = r#""prev_state=%s%s", REC->prev_state & (1024-1) ? __print_flags(REC->prev_state & (1024-1), "|", { 1, "S"} , { 2, "D" }, { 4, "T" }, { 8, "t" }, { 16, "Z" }, { 32, "X" }, { 64, "x" }, { 128, "K"}, { 256, "W" }, { 512, "P" }) : "R", REC->prev_state & 1024 ? "+" : "", REC->next_comm"#;

    #[test]
    fn bits_of_old_kernels_become_those_of_new_ones() {
        let old = States::of(OLD);
        for (theirs, ours) in
            [(0, 0), (1, 1), (16, 0x20), (32, 0x10), (64, 0x10), (130, 2), (1024, 0x100)]
        {
            assert_eq!(old.state(theirs).0, ours, "{theirs}");
        }
        let new = States::of(r#"{ 0x00000001, "S" }, { 0x00000040, "P" }, { 0x00000080, "I" }"#);
        assert_eq!(new.state(0x181).0, 0x181);
        assert_eq!(States::of("").state(0x80).0, 0x80);
    }
}
