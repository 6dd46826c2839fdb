//! Queues of messages: pipes, sockets, and queues in shared memory.
//!
//! A write to a full queue and a read of an empty one sleep, and are tried again when woken. When writers are woken is
//! each kind's own: a pipe's when a page is free, one after the other; a socket's when a part is, all at once.

use super::Sim;
use super::core::Core;
use super::cpu::Step;
use super::wait::WaitList;
use crate::routes;
use crate::spin_lock::SpinLock;
use crate::topology::Cpu;
use crate::trace::Trace;
use crate::world::{Doing, Origin, State, Task, TaskId};
use machine::costs::Work;
use std::collections::VecDeque;
use workload::{Queue, QueueId, QueueKind};

/// Room for messages that a queue without limit starts with.
const FIRST_ROOM: usize = 16;

/// Lines of a message as it was counted (100 bytes); longer ones take more.
const COUNTED_LINES: u16 = 2;

/// A message on its way.
#[derive(Debug, Clone, Copy)]
pub(super) struct Message {
    written_ns: u64,
    writer: Cpu,
    client: Option<u32>,
    origin: Origin,
    /// Where the answer goes.
    answers: Option<QueueId>,
}

/// One queue.
#[derive(Debug)]
pub(super) struct QueueState {
    messages: VecDeque<Message>,
    readers: WaitList,
    writers: WaitList,
    /// A pipe was full and has not given back a page since.
    full: bool,
    /// In a queue in the order of requests: the number of the one that is read next.
    next: u32,
    /// CPU that used it last.
    last: Option<Cpu>,
    /// CPUs of the last reader and of the last writer.
    ends: [Option<Cpu>; 2],
    /// The pipe's or socket's own locks, and that of its wait queue, or the bucket of a futex.
    lock: SpinLock,
}

impl QueueState {
    pub(super) fn new(queue: &Queue) -> QueueState {
        let room = queue.capacity.map_or(FIRST_ROOM, |c| c.messages as usize);
        QueueState {
            messages: VecDeque::with_capacity(room),
            readers: WaitList::default(),
            writers: WaitList::default(),
            full: false,
            next: 1,
            last: None,
            ends: [None; 2],
            lock: SpinLock::default(),
        }
    }

    fn is_full(&self, queue: &Queue) -> bool {
        self.full || queue.capacity.is_some_and(|c| self.messages.len() >= c.messages as usize)
    }

    /// Whether a writer of the request `number` finds no room.
    fn is_full_for(&self, queue: &Queue, number: u32) -> bool {
        self.is_full(queue) && !(queue.ordered && number == self.next)
    }

    /// Whether there is something to read.
    fn is_ready(&self, queue: &Queue) -> bool {
        let first = self.messages.front();
        first.is_some_and(|m| !queue.ordered || m.origin.number == self.next)
    }

    fn put(&mut self, queue: &Queue, message: Message) {
        match queue.ordered {
            true => {
                let number = message.origin.number;
                let at = self.messages.partition_point(|m| m.origin.number < number);
                self.messages.insert(at, message);
            }
            false => self.messages.push_back(message),
        }
        self.full = queue.kind == QueueKind::Pipe && self.is_full(queue);
    }

    /// Takes the first message; with it, whether blocked writers are to be woken.
    fn take(&mut self, queue: &Queue) -> Option<(Message, bool)> {
        if !self.is_ready(queue) {
            return None;
        }
        let message = self.messages.pop_front()?;
        self.next += 1;
        let Some(capacity) = queue.capacity else { return Some((message, false)) };
        let free = capacity.messages - (self.messages.len() as u32).min(capacity.messages);
        // In order, it may be a blocked writer's turn although there is no room.
        let room = queue.ordered || free >= capacity.wake_writers_at;
        self.full &= !room;
        Some((message, room && !self.writers.is_empty()))
    }
}

impl<K: Core, T: Trace> Sim<'_, K, T> {
    pub(super) fn queue(&self, id: QueueId) -> Queue {
        self.setup.workload.queues[id.index()]
    }

    /// The effect of a write by the running `task`, which is to be answered into `answers`.
    pub(super) fn send(
        &mut self,
        cpu: Cpu,
        task: TaskId,
        id: QueueId,
        answers: Option<QueueId>,
    ) -> Step {
        let queue = self.queue(id);
        let Task { client, origin, .. } = self.w.tasks[task.index()];
        if self.shared.queues[id.index()].is_full_for(&queue, origin.number) {
            if queue.kind == QueueKind::Futex && self.enter_kernel(task) {
                return Step::Again;
            }
            self.shared.queues[id.index()].writers.push(&mut self.w.tasks, task);
            return self.wait_in(cpu, task, id, State::Writing(id));
        }
        let message = Message { written_ns: self.w.now_ns, writer: cpu, client, origin, answers };
        self.deliver(cpu, Some(task), id, message);
        // A woken writer of a pipe wakes the next while there is room (wake_next_writer).
        let state = &mut self.shared.queues[id.index()];
        if queue.kind != QueueKind::Socket && !state.is_full(&queue) {
            self.wake_writer(cpu, task, id);
        }
        self.next_op(task)
    }

    /// Puts a message into a queue on `cpu`, from a task or from the network, and wakes a reader that sleeps.
    pub(super) fn deliver(
        &mut self,
        cpu: Cpu,
        task: Option<TaskId>,
        id: QueueId,
        message: Message,
    ) {
        let queue = self.queue(id);
        if task.is_some() {
            self.fetch(cpu, id, true);
        }
        let state = &mut self.shared.queues[id.index()];
        state.put(&queue, message);
        self.trace.sent(self.w.now_ns, task, id, state.messages.len());
        self.wake_reader(cpu, task, id, &queue);
    }

    /// Wakes a reader that sleeps, where there is something to read.
    fn wake_reader(&mut self, cpu: Cpu, task: Option<TaskId>, id: QueueId, queue: &Queue) {
        let state = &mut self.shared.queues[id.index()];
        if !state.is_ready(queue) {
            return;
        }
        if let Some(reader) = state.readers.pop(&mut self.w.tasks) {
            self.wake_peer(cpu, task, reader, id);
        }
    }

    /// A message from outside of all tasks comes to `cpu`: the `number`th request of a user on another machine, or word from a partition.
    pub(super) fn arrive(&mut self, cpu: Cpu, id: QueueId, client: Option<u32>, number: u32) {
        let origin = Origin { began_ns: self.w.now_ns, number };
        let message =
            Message { written_ns: self.w.now_ns, writer: cpu, client, origin, answers: None };
        self.deliver(cpu, None, id, message);
    }

    /// Sends the answer to the question that the running `task` read last.
    pub(super) fn answer(&mut self, cpu: Cpu, task: TaskId) -> Step {
        let Some(id) = self.w.tasks[task.index()].answers else { return self.unasked(task) };
        let step = self.send(cpu, task, id, None);
        if self.w.tasks[task.index()].doing == Doing::Nothing {
            self.w.tasks[task.index()].answers = None;
        }
        step
    }

    /// Ends the run: there is nothing to answer.
    pub(super) fn unasked(&mut self, task: TaskId) -> Step {
        self.misuse(task, "found an answer without a question, expected one for each")
    }

    /// A read by the running `task`: it takes a message and works on that, or sleeps.
    pub(super) fn receive(&mut self, cpu: Cpu, task: TaskId, id: QueueId) -> Step {
        let queue = self.queue(id);
        let Some((message, room)) = self.shared.queues[id.index()].take(&queue) else {
            if queue.kind == QueueKind::Futex && self.enter_kernel(task) {
                return Step::Again;
            }
            self.shared.queues[id.index()].readers.push(&mut self.w.tasks, task);
            return self.wait_in(cpu, task, id, State::Reading(id));
        };
        self.fetch(cpu, id, false);
        let effort = self.w.hw.receive(queue.kind);
        let cycles = self.w.effort_cycles(effort);
        self.w.charge(cpu, cycles);
        let t = &mut self.w.tasks[task.index()];
        t.message_ns = message.written_ns;
        t.client = message.client.or(t.client);
        t.answers = message.answers.or(t.answers);
        if message.origin.number > 0 {
            t.origin = message.origin;
        }
        self.trace.received(self.w.now_ns, task, id, message.written_ns);
        if queue.lines > COUNTED_LINES {
            let more = f64::from(queue.lines - COUNTED_LINES);
            self.w.charge_fetch(cpu, message.writer, more, more);
        }
        if room {
            self.wake_writer(cpu, task, id);
            // Writers wait for a socket's memory all at once (sock_wait_for_wmem).
            while (queue.ordered || matches!(queue.kind, QueueKind::Socket | QueueKind::Loopback))
                && self.wake_writer(cpu, task, id)
            {}
        }
        // What one wake-up announced may be several messages.
        if queue.ordered {
            self.wake_reader(cpu, Some(task), id, &queue);
        }
        self.next_op(task)
    }

    /// The running task of `cpu` uses one end of a queue: it has to have the queue's lines if another CPU had them last, and else only
    /// those of a message from its other end.
    fn fetch(&mut self, cpu: Cpu, id: QueueId, sends: bool) {
        let channel = self.w.hw.channel(self.queue(id).kind);
        let end = if sends { channel.send } else { channel.receive };
        let state = &mut self.shared.queues[id.index()];
        let other = state.ends[usize::from(!sends)];
        state.ends[usize::from(sends)] = Some(cpu);
        let (from, lines) = match state.last.replace(cpu) {
            Some(last) if last != cpu => (last, end.first),
            _ => (other.unwrap_or(cpu), end.again),
        };
        self.w.charge_lines(cpu, from, lines);
        self.hold(cpu, from, id, end.held);
        self.use_route(cpu, id, sends);
    }

    /// A packet of the queue's connection takes its reference of the route, or gives it back.
    fn use_route(&mut self, cpu: Cpu, id: QueueId, sends: bool) {
        let Some(connection) = self.queue(id).connection else { return };
        let peer = self.shared.queues[id.index()].ends[usize::from(!sends)];
        let user = routes::User { cpu, peer, now_ns: self.w.now_ns };
        let with_reads = self.setup.rules.reads_counted_line;
        let line_ns = |to, from| self.w.line_ns(to, from) as u64;
        let stall_ns = match sends {
            true => self.shared.routes.take(connection, user, with_reads, line_ns),
            false => self.shared.routes.give_back(connection, user, line_ns),
        };
        self.w.spin(cpu, stall_ns);
    }

    /// The running task of `cpu` holds the locks of a queue for `held`, whose lines come from `from`.
    fn hold(&mut self, cpu: Cpu, from: Cpu, id: QueueId, held: Work) {
        if held == Work::default() {
            return;
        }
        let claim = self.w.claim(cpu, from, held);
        let wait_ns = self.w.take_lock(&mut self.shared.queues[id.index()].lock, claim);
        self.w.spin(cpu, wait_ns);
    }

    /// Puts the running `task` of `cpu` to sleep that found a queue empty, or full.
    fn wait_in(&mut self, cpu: Cpu, task: TaskId, id: QueueId, state: State) -> Step {
        let kind = self.queue(id).kind;
        // A futex's part was charged before it looked again.
        if kind != QueueKind::Futex {
            self.w.charge_kernel(cpu, self.w.hw.channel(kind).sleep);
        }
        self.block(task, state)
    }

    /// Wakes the first writer that sleeps; whether there was one.
    fn wake_writer(&mut self, cpu: Cpu, task: TaskId, id: QueueId) -> bool {
        let Some(writer) = self.shared.queues[id.index()].writers.pop(&mut self.w.tasks) else {
            return false;
        };
        self.wake_peer(cpu, Some(task), writer, id);
        true
    }

    /// Wakes a task that sleeps in a queue, whose wait queue is locked meanwhile.
    fn wake_peer(&mut self, cpu: Cpu, task: Option<TaskId>, peer: TaskId, id: QueueId) {
        let kind = self.queue(id).kind;
        let futex = kind == QueueKind::Futex;
        if futex {
            self.w.charge_kernel(cpu, self.w.hw.kernel.syscall);
        }
        if task.is_some() {
            let from = self.w.tasks[peer.index()].cpu;
            self.hold(cpu, from, id, self.w.hw.channel(kind).waking);
        }
        self.wake(peer, cpu, task, !futex);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(number: u32) -> Message {
        let origin = Origin { began_ns: 0, number };
        Message { written_ns: 0, writer: 0, client: None, origin, answers: None }
    }

    /// Of a queue of two in order: the next one finds room behind two others, and all come out by their numbers.
    #[test]
    fn messages_in_order_wait_for_those_before() {
        let queue = Queue::bounded(2, true);
        let mut state = QueueState::new(&queue);
        let mut read = Vec::new();
        let mut take = |state: &mut QueueState| {
            let taken = state.take(&queue).map(|(message, _)| message.origin.number);
            read.extend(taken);
            taken.is_some()
        };
        for number in [3, 2] {
            assert!(!state.is_full_for(&queue, number));
            state.put(&queue, message(number));
            assert!(!take(&mut state), "1 is not there");
        }
        assert!(state.is_full_for(&queue, 4) && !state.is_full_for(&queue, 1));
        state.put(&queue, message(1));
        while take(&mut state) {}
        assert!(!state.is_full_for(&queue, 5));
        state.put(&queue, message(4));
        assert!(take(&mut state));
        assert_eq!(read, [1, 2, 3, 4]);
    }
}
