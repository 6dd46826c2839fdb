//! Loads as the kernel's arithmetic has them.

use crate::fair::queue::ids::QueueId;
use crate::fair::testing::{averages, machine, running, scenario, world};

/// `task_h_load`: a queue's load is looked up once in a tick. A task of a queue that has grown since counts for less.
#[test]
fn a_task_of_a_queue_that_grew_in_this_tick_counts_for_little() {
    let s = scenario(&machine("kunpeng920-1node", 2), "6.12", &[]);
    let (mut w, mut fair) = world(&s);
    let task = running(&mut w, &mut fair, 0);
    averages(&mut fair, 0, 1024, 0, 0);
    fair.update_h_load(&w, QueueId::root(0));
    averages(&mut fair, 0, 8 * 1024, 0, 0);
    assert_eq!(fair.task_h_load(&w, task), 1024 * 1024 / (8 * 1024 + 1));
    w.jiffies += 1;
    fair.update_h_load(&w, QueueId::root(0));
    assert_eq!(fair.task_h_load(&w, task), 1023);
}

/// `dequeue_load_avg`, `update_cfs_rq_load_avg`: `max_t(u32, ...)` from 5.17 on, gone in 7.2.
#[test]
fn the_sum_of_a_long_queue_loses_what_32_bits_do_not_hold() {
    let after = |release: &str, load: u64| {
        let s = scenario(&machine("kunpeng920-1node", 2), release, &[]);
        let (_, mut fair) = world(&s);
        averages(&mut fair, 0, load, 0, 0);
        let mut avg = fair.queues[0].avg;
        let before = avg.load_sum;
        fair.rules.bound_load_sum(&mut avg);
        (before, avg.load_sum)
    };
    for release in ["5.16", "6.12", "7.2"] {
        let (before, now) = after(release, 80 * 1024);
        assert_eq!(before, now, "{release}");
    }
    for (release, cut) in [("5.16", false), ("5.17", true), ("6.12", true), ("7.2", false)] {
        let (before, now) = after(release, 100 * 1024);
        assert_eq!(now < before, cut, "{release}");
    }
}
