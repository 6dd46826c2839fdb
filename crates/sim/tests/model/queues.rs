//! Queues: order, capacity, who is woken, and what a message costs its reader.

use crate::machines;
use crate::watch::Watch;
use crate::workloads::{scenario, stop_at, tasks};
use machine::{CpuSet, Machine};
use sim::RunResult;
use workload::{Capacity, Op, Queue, QueueKind, Spread, Work, Workload};

fn watched(machine: &Machine, w: Workload) -> (RunResult, Watch) {
    let mut watch = Watch::new(machine.cpus.len());
    let result = scenario(machine, w).run_traced(3, &mut watch).expect("a run that ends");
    watch.finish(result.end_ns);
    assert!(watch.wrong.is_empty(), "{:?}", &watch.wrong[..watch.wrong.len().min(5)]);
    (result, watch)
}

/// Messages written by an endless writer while a reader, who comes when all is full, reads `reads`.
fn written(queue: Queue, reads: u32) -> u64 {
    let machine = machines::smt(2, 1);
    let mut w = Workload::default();
    let queue = w.queue(queue);
    tasks(&mut w, "writer", 1, &[Op::Send(queue), Op::Loop { to: 0, times: 0 }], None);
    if reads > 0 {
        let late = Op::Sleep { mean_ns: 20e6, spread: Spread::Fixed };
        let ops = [late, Op::Receive(queue), Op::Loop { to: 1, times: reads }];
        tasks(&mut w, "reader", 1, &ops, None);
    }
    stop_at(&mut w, 40_000_000);
    watched(&machine, w).1.sent
}

#[test]
fn a_pipe_gives_room_page_by_page() {
    // 16 pages of 40 messages of 100 bytes.
    let pipe = Queue::pipe(100, 0);
    assert_eq!(pipe.capacity, Some(Capacity { messages: 640, wake_writers_at: 40 }));
    assert_eq!(written(pipe, 0), 640);
    assert_eq!(written(pipe, 39), 640);
    assert_eq!(written(pipe, 40), 680);
}

#[test]
fn a_socket_wakes_writers_when_a_quarter_is_left() {
    let capacity = Some(Capacity { messages: 8, wake_writers_at: 6 });
    let socket = Queue { kind: QueueKind::Socket, capacity, lines: 0, ordered: false };
    assert_eq!(written(socket, 0), 8);
    assert_eq!(written(socket, 5), 8);
    assert_eq!(written(socket, 6), 14);
}

#[test]
fn a_futex_queue_wakes_for_each_free_place() {
    let capacity = Some(Capacity { messages: 8, wake_writers_at: 1 });
    let queue = Queue { kind: QueueKind::Futex, capacity, lines: 0, ordered: false };
    assert_eq!(written(queue, 1), 9);
    assert_eq!(written(queue, 5), 13);
}

#[test]
fn a_message_wakes_one_reader_and_only_one_that_sleeps() {
    let machine = machines::smt(2, 2);
    for kind in [QueueKind::Pipe, QueueKind::Socket, QueueKind::Futex] {
        let mut w = Workload::default();
        let queue = w.queue(Queue::unbounded(kind));
        tasks(&mut w, "reader", 3, &[Op::Receive(queue)], None);
        let late = Op::Sleep { mean_ns: 5e6, spread: Spread::Fixed };
        tasks(&mut w, "writer", 1, &[late, Op::Send(queue), Op::Send(queue)], None);
        stop_at(&mut w, 20_000_000);
        let (result, watch) = watched(&machine, w);
        assert_eq!(watch.received, 2, "{kind:?}");
        // Three readers and the writer by their first timers, the writer once more, two readers, the stop.
        assert_eq!(result.counters.wakeups, 3 + 1 + 1 + 2 + 1, "{kind:?}");
    }
}

/// A reader that never sleeps still fetches every message from where it was written.
#[test]
fn readers_fetch_messages_by_distance() {
    let machine = machines::power9();
    let constant = |name: &str| machine.constants.value(name).expect("a constant");
    let (messages, lines) = (1_000u32, 10u16);
    let ran = |lines: u16, writer_cpu: usize| {
        let mut w = Workload::default();
        let queue = w.queue(Queue { lines, ..Queue::unbounded(QueueKind::Pipe) });
        let write = [Op::Send(queue), Op::Loop { to: 0, times: messages }];
        tasks(&mut w, "writer", 1, &write, Some(CpuSet::single(writer_cpu)));
        let nap = Op::Sleep { mean_ns: 5e6, spread: Spread::Fixed };
        let user = Op::Compute(Work::fixed(100.0));
        let read = [nap, user, Op::Receive(queue), Op::Loop { to: 1, times: messages }];
        tasks(&mut w, "reader", 1, &read, Some(CpuSet::single(0)));
        stop_at(&mut w, 40_000_000);
        let (_, watch) = watched(&machine, w);
        let reader = watch.tasks.iter().find(|t| t.program == "reader").expect("a reader");
        assert!(reader.exited);
        reader.ran_ns as f64
    };
    for (writer_cpu, per_line) in [(8, "handover_node_ns"), (1, "handover_big_core_ns")] {
        let found = ran(lines, writer_cpu) - ran(0, writer_cpu);
        // Messages were counted with two lines.
        let expected = f64::from(messages) * f64::from(lines - 2) * constant(per_line);
        assert!((found / expected - 1.0).abs() < 0.03, "{found}, expected {expected}");
    }
}
