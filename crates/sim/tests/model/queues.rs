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
    let socket =
        Queue { kind: QueueKind::Socket, capacity, lines: 0, ordered: false, connection: None };
    assert_eq!(written(socket, 0), 8);
    assert_eq!(written(socket, 5), 8);
    assert_eq!(written(socket, 6), 14);
}

#[test]
fn a_futex_queue_wakes_for_each_free_place() {
    let capacity = Some(Capacity { messages: 8, wake_writers_at: 1 });
    let queue =
        Queue { kind: QueueKind::Futex, capacity, lines: 0, ordered: false, connection: None };
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

/// How long a reader on CPU 0 runs that never sleeps and takes `messages` with so many lines each, written on `writer_cpu`.
fn reading_ns(machine: &Machine, messages: u32, lines: u16, writer_cpu: usize) -> f64 {
    let mut w = Workload::default();
    let queue = w.queue(Queue { lines, ..Queue::unbounded(QueueKind::Pipe) });
    let write = [Op::Send(queue), Op::Loop { to: 0, times: messages }];
    tasks(&mut w, "writer", 1, &write, Some(CpuSet::single(writer_cpu)));
    let nap = Op::Sleep { mean_ns: 5e6, spread: Spread::Fixed };
    let user = Op::Compute(Work::fixed(100.0));
    let read = [nap, user, Op::Receive(queue), Op::Loop { to: 1, times: messages }];
    tasks(&mut w, "reader", 1, &read, Some(CpuSet::single(0)));
    stop_at(&mut w, 40_000_000);
    let (_, watch) = watched(machine, w);
    let reader = watch.tasks.iter().find(|t| t.program == "reader").expect("a reader");
    assert!(reader.exited);
    reader.ran_ns as f64
}

#[test]
fn readers_fetch_messages_by_distance() {
    let machine = machines::power9();
    let constant = |name: &str| machine.constants.value(name).expect("a constant");
    let (messages, lines) = (1_000, 10);
    for (writer_cpu, per_line) in [(8, "handover_node_ns"), (1, "handover_big_core_ns")] {
        let ran = |lines| reading_ns(&machine, messages, lines, writer_cpu);
        let found = ran(lines) - ran(0);
        // Messages were counted with two lines.
        let expected = f64::from(messages) * f64::from(lines - 2) * constant(per_line);
        assert!((found / expected - 1.0).abs() < 0.03, "{found}, expected {expected}");
    }
}

/// Lines of counted work overlap as the machine says; what a longer message has more of takes its own time.
#[test]
fn counted_lines_take_their_part_of_a_hand_over() {
    let machine = machines::power9();
    let halved = Machine {
        constants: machine.constants.scaled("kernel_line_ratio", 0.5),
        ..machine.clone()
    };
    let table = machine::costs::nearest(machine.arch, (6, 12)).expect("a table");
    let again = machine::costs::Parts::of(&table).expect("parts").pipe.receive.again;
    let handover_ns = machine.constants.value("handover_node_ns").expect("a constant");
    let messages = 1_000;
    for lines in [0, 10] {
        let ran = |machine: &Machine| reading_ns(machine, messages, lines, 8);
        let found = ran(&machine) - ran(&halved);
        let expected = f64::from(messages) * 0.5 * again * handover_ns;
        assert!((found / expected - 1.0).abs() < 0.05, "{found}, expected {expected}");
    }
}
