//! The seed decides everything, and matters.

use crate::machines;
use crate::workloads::{ebizzy, pipe, scenario, with_background};

#[test]
fn a_seed_gives_one_result_and_another_seed_another() {
    let machine = machines::power9();
    for workload in [ebizzy(&machine, 12, 0.2, None), pipe(&machine, 2_000, None)] {
        let scenario = scenario(&machine, with_background(&machine, workload));
        let run = |seed| scenario.run(seed).expect("a run");
        assert_eq!(run(5), run(5));
        assert_ne!(run(5), run(6));
    }
}
