//! Load tracking of tasks and queues as the class uses it.

use crate::class::Dequeue;
use crate::fair::Fair;
use crate::fair::queue::ids::QueueId;
use crate::fair::testing::{machine, running, scenario, waiting, world};
use crate::world::{TaskId, World};

/// CPU 0 with a running task and two that wait, of which the last has nice 5, after two seconds of nothing else.
fn after_two_seconds(release: &str, check: impl Fn(&World, &Fair, [TaskId; 3])) {
    let s = scenario(&machine("kunpeng920-1node", 2), release, &[]);
    let (mut w, mut fair) = world(&s);
    let runs = running(&mut w, &mut fair, 0);
    let waits = waiting(&mut w, &mut fair, 0);
    let nice = waiting(&mut w, &mut fair, 0);
    fair.reweight_task(&w, nice, 5);
    let tasks = [runs, waits, nice];
    for _ in 0..2_000 {
        w.advance(w.now_ns + 1_000_000);
        for &task in &tasks {
            fair.update_load_avg(&w, QueueId::root(0), task.into());
        }
    }
    check(&w, &fair, tasks);
}

/// Sums reach all but 1 to 2 of 1024 of their limit, as the kernel rounds.
fn near(found: u64, expected: u64) -> bool {
    found <= expected + 4 && found + 4 >= expected
}

/// `___update_load_avg` (5.7): a task that always waits has a load of its weight, no utilisation and a runnable
/// average of 1024; a queue adds weights (nice 5 is 335), and counts its tasks.
#[test]
fn load_goes_by_weight_and_runnable_time_by_tasks_from_5_7_on() {
    for release in ["5.7", "6.12"] {
        after_two_seconds(release, |_, fair, [runs, waits, nice]| {
            let of = |t: TaskId| fair.entities[t.index()].avg;
            assert!(near(of(runs).util_avg, 1024) && near(of(runs).load_avg, 1024), "{release}");
            assert!(near(of(waits).load_avg, 1024) && of(waits).util_avg == 0, "{release}");
            assert!(near(of(nice).load_avg, 335), "{release}: {}", of(nice).load_avg);
            assert!(near(of(nice).runnable_avg, 1024), "{release}");
            let queue = fair.queues[0].avg;
            assert!(near(queue.load_avg, 2 * 1024 + 335), "{release}: {queue:?}");
            assert!(near(queue.runnable_avg, 3 * 1024), "{release}: {queue:?}");
            assert!(near(queue.util_avg, 1024), "{release}: {queue:?}");
            assert_eq!(fair.cpu_load(0), queue.load_avg, "{release}");
        });
    }
}

/// `runnable_load_avg` (up to 5.6): the load of what is queued, by weight, which leaves with the task.
#[test]
fn runnable_time_is_load_up_to_5_6() {
    after_two_seconds("5.6", |_, fair, [_, _, nice]| {
        assert!(near(fair.entities[nice.index()].avg.runnable_avg, 335));
        assert!(near(fair.queues[0].avg.runnable_avg, 2 * 1024 + 335));
        assert_eq!(fair.cpu_load(0), fair.queues[0].avg.runnable_avg);
    });
    for (release, left) in [("5.6", false), ("5.7", true)] {
        let s = scenario(&machine("kunpeng920-1node", 2), release, &[]);
        let (mut w, mut fair) = world(&s);
        running(&mut w, &mut fair, 0);
        let goes = waiting(&mut w, &mut fair, 0);
        let before = fair.cpu_load(0);
        fair.dequeue_task(&mut w, goes, Dequeue::Exit);
        assert_eq!(fair.cpu_load(0) == before, left, "{release}: {}", fair.cpu_load(0));
    }
}

/// `post_init_entity_util_avg`: a new task starts with half of the utilisation that is left, on a busy queue in
/// proportion to it; from 5.7 on its runnable average is the same.
#[test]
fn a_new_task_starts_with_half_of_what_is_left() {
    for (release, runnable) in [("5.6", 1024), ("5.7", 512), ("6.12", 512)] {
        let s = scenario(&machine("kunpeng920-1node", 2), release, &[]);
        let (mut w, mut fair) = world(&s);
        let parent = running(&mut w, &mut fair, 0);
        let online = s.setup.topo.online_set.clone();
        w.tasks.push(crate::world::Task::new(workload::ProgramId(0), 1, online));
        let child = TaskId(1);
        fair.task_fork(&mut w, child, Some(parent));
        w.tasks[child.index()].cpu = 1;
        fair.post_init_entity_util_avg(&w, child);
        let avg = fair.entities[child.index()].avg;
        assert_eq!((avg.util_avg, avg.load_avg), (512, 1024), "{release}");
        assert_eq!(avg.runnable_avg, runnable, "{release}");
    }
}
