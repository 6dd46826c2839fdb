//! Which of a task's loop counts each loop of a program uses.

use workload::Op;

/// By step: for a loop, the number of loops around it. A count is back at 0 when its loop is left, so loops that do not
/// nest share one.
pub(crate) fn slots(ops: &[Op]) -> Vec<usize> {
    let mut slots = vec![0; ops.len()];
    // First steps of the loops around a step, going backwards.
    let mut around: Vec<usize> = Vec::new();
    for (at, op) in ops.iter().enumerate().rev() {
        while around.last().is_some_and(|&first| first > at) {
            around.pop();
        }
        slots[at] = around.len();
        if let Op::Loop { to, .. } = op {
            around.push(usize::from(*to));
        }
    }
    slots
}

/// How deep the loops of a program nest.
pub(crate) fn depth(ops: &[Op]) -> usize {
    let is_loop = |op: &Op| matches!(op, Op::Loop { .. });
    let slots = slots(ops).into_iter().zip(ops);
    slots.filter(|(_, op)| is_loop(op)).map(|(slot, _)| slot + 1).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_in_a_row_share_a_count_and_nested_ones_do_not() {
        let to = |to| Op::Loop { to, times: 2 };
        let ops = [Op::Stamp, to(0), Op::Stamp, Op::Stamp, to(3), to(2), to(0), Op::Stamp];
        let slots = slots(&ops);
        let of_loops: Vec<usize> = [1, 4, 5, 6].map(|at: usize| slots[at]).to_vec();
        assert_eq!(of_loops, [1, 2, 1, 0]);
        assert_eq!(depth(&ops), 3);
        assert_eq!(depth(&[Op::Stamp]), 0);
    }
}
