//! The same programs with other numbers, so that several workloads fit into one.

use super::{
    BarrierId, Clients, CondId, ConnectionId, CounterId, DeviceId, FlagId, Histogram, HistogramId,
    LineId, LockId, MarkId, Metric, Op, PoolId, ProgramId, Queue, QueueId, Reading, Spawn, TimerId,
    Workload,
};

/// How many of each kind come before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Offsets {
    program: u16,
    queue: u16,
    lock: u16,
    cond: u16,
    barrier: u16,
    pool: u16,
    timer: u16,
    flag: u16,
    counter: u16,
    histogram: u16,
    line: u16,
    mark: u16,
    device: u16,
    connection: u16,
}

impl Offsets {
    /// All that `w` has, at most 65,535 of each kind.
    pub(crate) fn after(w: &Workload) -> Offsets {
        Offsets {
            program: w.programs.len() as u16,
            queue: w.queues.len() as u16,
            lock: w.locks,
            cond: w.conds,
            barrier: w.barriers.len() as u16,
            pool: w.pools.len() as u16,
            timer: w.timers,
            flag: w.flags,
            counter: w.counters,
            histogram: w.histograms.len() as u16,
            line: w.lines,
            mark: w.marks,
            device: w.devices.len() as u16,
            connection: w.connections,
        }
    }

    /// The number of the program that was `id`.
    pub(crate) fn program(&self, id: ProgramId) -> ProgramId {
        ProgramId(self.program + id.0)
    }

    /// The number of the queue that was `id`.
    pub(crate) fn queue(&self, id: QueueId) -> QueueId {
        QueueId(self.queue + id.0)
    }

    fn lock(&self, id: LockId) -> LockId {
        LockId(self.lock + id.0)
    }

    fn cond(&self, id: CondId) -> CondId {
        CondId(self.cond + id.0)
    }

    fn pool(&self, id: PoolId) -> PoolId {
        PoolId(self.pool + id.0)
    }

    fn flag(&self, id: FlagId) -> FlagId {
        FlagId(self.flag + id.0)
    }

    fn counter(&self, id: CounterId) -> CounterId {
        CounterId(self.counter + id.0)
    }

    fn histogram_id(&self, id: HistogramId) -> HistogramId {
        HistogramId(self.histogram + id.0)
    }

    fn connection(&self, id: ConnectionId) -> ConnectionId {
        ConnectionId(self.connection + id.0)
    }

    fn mark(&self, id: MarkId) -> MarkId {
        MarkId(self.mark + id.0)
    }

    /// The step with the new numbers. A new kind of step says here which numbers it has.
    pub(crate) fn op(&self, op: &Op) -> Op {
        match *op {
            Op::Send(queue) => Op::Send(self.queue(queue)),
            Op::Ask { queue, answers } => {
                Op::Ask { queue: self.queue(queue), answers: self.queue(answers) }
            }
            Op::Receive(queue) => Op::Receive(self.queue(queue)),
            Op::Lock(lock) => Op::Lock(self.lock(lock)),
            Op::Unlock(lock) => Op::Unlock(self.lock(lock)),
            Op::Wait { cond, lock } => Op::Wait { cond: self.cond(cond), lock: self.lock(lock) },
            Op::Signal(cond) => Op::Signal(self.cond(cond)),
            Op::Broadcast(cond) => Op::Broadcast(self.cond(cond)),
            Op::Barrier(BarrierId(at)) => Op::Barrier(BarrierId(self.barrier + at)),
            Op::SpinBarrier { barrier: BarrierId(at), spin_cycles } => {
                Op::SpinBarrier { barrier: BarrierId(self.barrier + at), spin_cycles }
            }
            Op::Connect(connection) => Op::Connect(self.connection(connection)),
            Op::Take { pool, steps } => Op::Take { pool: self.pool(pool), steps },
            Op::Refill(pool) => Op::Refill(self.pool(pool)),
            Op::Fork(program) => Op::Fork(self.program(program)),
            Op::Clone(program) => Op::Clone(self.program(program)),
            Op::SetFlag(flag, value) => Op::SetFlag(self.flag(flag), value),
            Op::SpinUntilSet(flag) => Op::SpinUntilSet(self.flag(flag)),
            Op::WorkWhileSet { flag, unit_cycles, counter } => {
                let (flag, counter) = (self.flag(flag), self.counter(counter));
                Op::WorkWhileSet { flag, unit_cycles, counter }
            }
            Op::Io { device: DeviceId(at), service_ns, spread, iowait } => {
                Op::Io { device: DeviceId(self.device + at), service_ns, spread, iowait }
            }
            Op::TimerWait { timer: TimerId(at), period_ns, spread, missed } => {
                Op::TimerWait { timer: TimerId(self.timer + at), period_ns, spread, missed }
            }
            Op::LoopWhileSet { to, flag } => Op::LoopWhileSet { to, flag: self.flag(flag) },
            Op::Contend { line: LineId(at), rounds, cycles, write } => {
                Op::Contend { line: LineId(self.line + at), rounds, cycles, write }
            }
            Op::Record { histogram, since } => {
                Op::Record { histogram: self.histogram_id(histogram), since }
            }
            Op::Mark(mark) => Op::Mark(self.mark(mark)),
            Op::Compute(_)
            | Op::Draw(_)
            | Op::Portion(_)
            | Op::Begin(_)
            | Op::Answer
            | Op::Exec
            | Op::SetAffinity(_)
            | Op::SetNice(_)
            | Op::SetSlice(_)
            | Op::SetPolicy(_)
            | Op::SetUtilClamp { .. }
            | Op::Yield
            | Op::RunFor(_)
            | Op::Sleep { .. }
            | Op::WaitChildren
            | Op::WaitExec
            | Op::Loop { .. }
            | Op::SkipIf { .. }
            | Op::Memory(_)
            | Op::Reply
            | Op::Stamp
            | Op::Stop => op.clone(),
        }
    }

    pub(crate) fn of_queue(&self, queue: &Queue) -> Queue {
        Queue { connection: queue.connection.map(|id| self.connection(id)), ..*queue }
    }

    pub(crate) fn histogram(&self, histogram: &Histogram) -> Histogram {
        Histogram { while_set: histogram.while_set.map(|flag| self.flag(flag)) }
    }

    pub(crate) fn spawn(&self, spawn: &Spawn) -> Spawn {
        Spawn { program: self.program(spawn.program), ..spawn.clone() }
    }

    pub(crate) fn clients(&self, clients: &Clients) -> Clients {
        let requests = self.queue(clients.requests);
        Clients { requests, responses: self.histogram_id(clients.responses), ..clients.clone() }
    }

    pub(crate) fn metric(&self, metric: &Metric) -> Metric {
        let reading = match metric.reading {
            Reading::Seconds { from, to, scale } => {
                Reading::Seconds { from: self.mark(from), to: self.mark(to), scale }
            }
            Reading::UnitsPerSecond { counter, from, to } => Reading::UnitsPerSecond {
                counter: self.counter(counter),
                from: self.mark(from),
                to: self.mark(to),
            },
            Reading::RecordsPerSecond { histogram, units, from, to } => Reading::RecordsPerSecond {
                histogram: self.histogram_id(histogram),
                units,
                from: self.mark(from),
                to: self.mark(to),
            },
            Reading::WithinPerSecond { histogram, within_ns, from, to } => {
                Reading::WithinPerSecond {
                    histogram: self.histogram_id(histogram),
                    within_ns,
                    from: self.mark(from),
                    to: self.mark(to),
                }
            }
            Reading::SumOfRates { histogram, units } => {
                Reading::SumOfRates { histogram: self.histogram_id(histogram), units }
            }
            Reading::PercentOfTime { histogram, parties, from, to } => Reading::PercentOfTime {
                histogram: self.histogram_id(histogram),
                parties,
                from: self.mark(from),
                to: self.mark(to),
            },
            Reading::BestPerSecond { histogram, units } => {
                Reading::BestPerSecond { histogram: self.histogram_id(histogram), units }
            }
            Reading::MeanUs(histogram) => Reading::MeanUs(self.histogram_id(histogram)),
            Reading::TimesMs { histogram, scale } => {
                Reading::TimesMs { histogram: self.histogram_id(histogram), scale }
            }
            Reading::PercentileUs { histogram, percent } => {
                Reading::PercentileUs { histogram: self.histogram_id(histogram), percent }
            }
            Reading::Partitions(reading) => Reading::Partitions(reading),
        };
        Metric { reading, ..metric.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::{Chunks, Missed, Pool, QueueKind, Since, Spread};
    use stats::Better;

    /// A workload with `n` of each kind.
    fn of_each(n: u16) -> Workload {
        let mut w = Workload {
            locks: n,
            conds: n,
            timers: n,
            flags: n,
            counters: n,
            lines: n,
            marks: n,
            connections: n,
            ..Workload::default()
        };
        for _ in 0..n {
            w.program("p", vec![]);
            w.queue(Queue::unbounded(QueueKind::Pipe));
            w.barrier(1);
            let chunks = Chunks::Dynamic(1);
            w.pool(Pool { iterations: 1, first_cycles: 1.0, last_cycles: 1.0, chunks });
            w.histogram(None);
            w.device(crate::Device { slots: 1, together: 1 });
        }
        w
    }

    /// Every step with a number, each of the number `n`.
    fn numbered(n: u16) -> Vec<Op> {
        let (flag, queue, lock, cond) = (FlagId(n), QueueId(n), LockId(n), CondId(n));
        vec![
            Op::Send(queue),
            Op::Receive(queue),
            Op::Lock(lock),
            Op::Unlock(lock),
            Op::Wait { cond, lock },
            Op::Signal(cond),
            Op::Broadcast(cond),
            Op::Barrier(BarrierId(n)),
            Op::Fork(ProgramId(n)),
            Op::Clone(ProgramId(n)),
            Op::SetFlag(flag, true),
            Op::SpinUntilSet(flag),
            Op::WorkWhileSet { flag, unit_cycles: 1.0, counter: CounterId(n) },
            Op::Io { device: DeviceId(n), service_ns: 1.0, spread: Spread::Fixed, iowait: true },
            Op::TimerWait {
                timer: TimerId(n),
                period_ns: 1,
                spread: Spread::Fixed,
                missed: Missed::Restart,
            },
            Op::Ask { queue, answers: queue },
            Op::SpinBarrier { barrier: BarrierId(n), spin_cycles: 1.0 },
            Op::Take { pool: PoolId(n), steps: 1 },
            Op::Refill(PoolId(n)),
            Op::Connect(ConnectionId(n)),
            Op::LoopWhileSet { to: 0, flag },
            Op::Contend { line: LineId(n), rounds: 1.0, cycles: 1.0, write: true },
            Op::Record { histogram: HistogramId(n), since: Since::Stamp },
            Op::Mark(MarkId(n)),
        ]
    }

    fn readings(n: u16) -> Vec<Reading> {
        let (histogram, from, to) = (HistogramId(n), MarkId(n), MarkId(n));
        vec![
            Reading::Seconds { from, to, scale: 2.0 },
            Reading::UnitsPerSecond { counter: CounterId(n), from, to },
            Reading::RecordsPerSecond { histogram, units: 2.0, from, to },
            Reading::WithinPerSecond { histogram, within_ns: 2, from, to },
            Reading::SumOfRates { histogram, units: 2.0 },
            Reading::PercentOfTime { histogram, parties: 2.0, from, to },
            Reading::BestPerSecond { histogram, units: 2.0 },
            Reading::MeanUs(histogram),
            Reading::TimesMs { histogram, scale: 2.0 },
            Reading::PercentileUs { histogram, percent: 50.0 },
        ]
    }

    #[test]
    fn every_number_moves_by_what_comes_before() {
        let by = Offsets::after(&of_each(3));
        let found: Vec<Op> = numbered(1).iter().map(|op| by.op(op)).collect();
        assert_eq!(found, numbered(4));
        let metric = |reading| Metric {
            name: "m".to_string(),
            unit: "s".to_string(),
            better: Better::Lower,
            reading,
        };
        let moved = readings(1).into_iter().map(|r| by.metric(&metric(r)).reading);
        assert_eq!(moved.collect::<Vec<_>>(), readings(4));
        let histogram = by.histogram(&Histogram { while_set: Some(FlagId(1)) });
        assert_eq!(histogram.while_set, Some(FlagId(4)));
        let of = |n| Queue {
            connection: Some(ConnectionId(n)),
            ..Queue::unbounded(QueueKind::Loopback)
        };
        assert_eq!(by.of_queue(&of(1)), of(4));
        assert_eq!(by.spawn(&Spawn::new(ProgramId(1))), Spawn::new(ProgramId(4)));
    }

    #[test]
    fn steps_without_numbers_stay() {
        let by = Offsets::after(&of_each(3));
        let ops = [Op::Exec, Op::Loop { to: 1, times: 2 }, Op::SetNice(1), Op::Stop];
        assert_eq!(ops.iter().map(|op| by.op(op)).collect::<Vec<_>>(), ops);
    }
}
