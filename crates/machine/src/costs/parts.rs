//! What a simulator charges one by one, cut out of whole operations.
//!
//! A guest does whole operations; a simulator knows who uses a queue, who wakes whom, and when a CPU switches:
//!
//! | part | counted as |
//! |---|---|
//! | a message at either end | one by one between two CPUs, nobody asleep; lines of further ones from buffered messages |
//! | switch | what a pipe's reader does more that finds nothing, on its sender's CPU: it sleeps, and its CPU goes on with another task |
//! | sleep | what other readers do more than that |
//! | waker | what a sender does more where the reader sleeps: by whether that CPU is idle, and shares the last-level cache |
//! | woken | what the reader does more once it is woken, less the switch and the interrupt |
//! | run queue | what a pipe's wake-up takes more on either side where the waker itself writes the queue of a busy CPU |
//!
//! The parts of an operation add up to the operation, but for a CPU's way into its idle state, which delays nobody.

use super::{BUFFERED, CostTable, LockClass, MissingCount, Operation, Peer, Side, SideName};

/// Instructions of the kernel, and lines for which the CPU waits.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Work {
    /// Instructions.
    pub instructions: f64,
    /// Lines.
    pub lines: f64,
}

impl Work {
    /// Lines alone.
    pub fn lines(lines: f64) -> Work {
        Work { instructions: 0.0, lines }
    }

    /// Instructions alone.
    fn instructions(instructions: f64) -> Work {
        Work { instructions, lines: 0.0 }
    }

    fn and(self, other: Work) -> Work {
        let Work { instructions, lines } = other;
        Work { instructions: self.instructions + instructions, lines: self.lines + lines }
    }

    /// What is left without `part`: never below nothing.
    fn less(self, part: Work) -> Work {
        Work {
            instructions: (self.instructions - part.instructions).max(0.0),
            lines: (self.lines - part.lines).max(0.0),
        }
    }
}

/// Where a woken task goes, seen from its waker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// To the same CPU.
    Same,
    /// To an idle CPU of the last-level cache.
    Idle,
    /// To a busy one.
    Busy,
    /// To an idle CPU of another last-level cache.
    FarIdle,
    /// To a busy one.
    FarBusy,
}

impl Target {
    /// All.
    pub const ALL: [Target; 5] =
        [Target::Same, Target::Idle, Target::Busy, Target::FarIdle, Target::FarBusy];

    fn peer(self) -> Peer {
        match self {
            Target::Same => Peer::SameCpu,
            Target::Idle => Peer::Idle,
            Target::Busy => Peer::Busy,
            Target::FarIdle => Peer::FarIdle,
            Target::FarBusy => Peer::FarBusy,
        }
    }
}

/// What a wake-up takes.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Wake {
    /// The CPU on which it happens.
    pub waker: Work,
    /// The CPU of the task, before the task goes on.
    pub woken: Work,
}

/// One end of a message that finds room, or data.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct End {
    /// Instructions, whoever used the queue before.
    pub instructions: f64,
    /// Lines, if the other end did.
    pub first: f64,
    /// Lines, if this CPU did.
    pub again: f64,
    /// What of it is done under the locks of the queue.
    pub held: Work,
}

/// A run queue that another CPU writes.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct RunQueue {
    /// For who writes it from another CPU: its lines come from who wrote it last.
    pub other: Work,
    /// What of that is done under its lock.
    pub held: Work,
    /// Lines that its own CPU has to have back.
    pub own: f64,
}

/// One CPU that is looked at.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Look {
    /// Instructions for it. Assumed.
    pub instructions: f64,
    /// Lines of its run queue that are read. They come side by side, as none says where the next one is.
    pub lines: f64,
}

/// A search for an idle CPU. `idle_cpu` reads `curr`, `idle`, `nr_running` and `ttwu_pending`, and a search then `sched_idle_cpu`: four
/// lines of `struct rq` in Debian's 6.12.107 for amd64 (its type information).
const SEARCH: Look = Look { instructions: 40.0, lines: 4.0 };
/// Balancing. `update_sg_lb_stats` reads `nr_running`, `cfs.h_nr_running`, `cfs.avg`, the capacity and `misfit_task_load`, and of a CPU
/// without tasks what `idle_cpu` does: four to seven lines there.
const BALANCE: Look = Look { instructions: 110.0, lines: 5.0 };

/// What passes messages, or lets tasks wait.
#[derive(Debug, Clone, PartialEq)]
pub struct Channel {
    /// The sender's end.
    pub send: End,
    /// The receiver's end.
    pub receive: End,
    /// Instructions to find nothing and to sleep, without the switch.
    pub sleep: f64,
    /// What of a wake-up is done under the lock of the wait queue, or of the futex's bucket.
    pub waking: Work,
    wakes: [Wake; Target::ALL.len()],
}

impl Channel {
    /// What a wake-up takes that brings a task to `target`.
    pub fn wake(&self, target: Target) -> &Wake {
        &self.wakes[target as usize]
    }
}

/// All parts.
#[derive(Debug, Clone, PartialEq)]
pub struct Parts {
    /// A pipe.
    pub pipe: Channel,
    /// A stream of Unix sockets.
    pub unix: Channel,
    /// TCP over loopback.
    pub tcp: Channel,
    /// A word in memory: the kernel works only where somebody has to wait. Waking some takes a system call, once, on top.
    pub futex: Channel,
    /// Entry to and return from a system call that does nothing else, and from an interrupt.
    pub syscall: f64,
    /// A switch to another address space.
    pub switch: f64,
    /// A switch within an address space, also back to it through idle.
    pub thread_switch: f64,
    /// Another CPU's run queue, which a wake-up puts a task into, or balancing takes one out of.
    pub queue: RunQueue,
    /// Looking at a CPU in a search for an idle one.
    pub search: Look,
    /// Looking at a CPU in balancing.
    pub balance: Look,
    /// Instructions of a CPU from a task that finds nothing to read into its idle state. They delay nobody.
    pub into_idle: f64,
    /// What of a switch is done under the lock of the CPU's own queue.
    pub switch_held: Work,
    /// `sched_yield`, without the switch.
    pub yields: f64,
    /// A packet from another machine, up to the receiver's socket: what loopback takes more than a stream of Unix sockets.
    pub packet: f64,
    /// `fork` or `clone` on the parent's side, of a child that stays.
    pub fork: f64,
    /// Lines that it takes more where the child goes to another CPU.
    pub fork_elsewhere: f64,
    /// `execve` up to the program's first instruction.
    pub exec: f64,
    /// Lines that it takes more in a child on another CPU than its parent's.
    pub exec_elsewhere: f64,
    /// The end of a process.
    pub exit: f64,
    /// What a child on another CPU than its parent's takes more that runs no program of its own, from its start to its end: memory that it shares
    /// with its parent until it writes there.
    pub exit_elsewhere: Work,
    /// A fault on a page, one of 4 KiB that is new.
    pub fault: f64,
    /// What of `fork` is done under locks of the list of all processes and of their numbers.
    pub fork_held: Work,
    /// What of the end of a process is.
    pub exit_held: Work,
}

impl Parts {
    /// Those of `table`.
    ///
    /// # Errors
    /// An operation that the table lacks.
    pub fn of(table: &CostTable) -> Result<Parts, MissingCount> {
        let counts = Counts(table);
        let own = |name, peer, threads| counts.side(name, peer, threads, "own", |o| o.own);
        let syscall = own("syscall", Peer::None, false)?;
        let switch = counts.waits("pipe", counts.ends("pipe")?.receive)?;
        // What the address space takes does not depend on why a task switches.
        let yields = own("yield", Peer::SameCpu, false)?;
        let thread_switch = switch.less(yields.less(own("yield", Peer::SameCpu, true)?));
        let mut base =
            Base { interrupt: syscall, switch, thread_switch, queue: RunQueue::default() };
        let queue = counts.run_queue(&base)?;
        base.queue = queue;
        let (unix, tcp) = (counts.channel("unix", &base)?, counts.channel("tcp", &base)?);
        // On the parent's own CPU, the child's first steps may count as the parent's.
        let fork = counts.give("fork", Peer::Idle)?;
        let here = counts.give("fork", Peer::SameCpu)?;
        let child = |peer| counts.side("fork", peer, false, "child", |o| o.child);
        let (exit, exec) = (child(Peer::SameCpu)?, own("exec", Peer::SameCpu, false)?);
        Ok(Parts {
            pipe: counts.channel("pipe", &base)?,
            queue,
            search: SEARCH,
            balance: BALANCE,
            futex: counts.futex(&base)?,
            packet: (tcp.send.instructions - unix.send.instructions).max(0.0),
            unix,
            tcp,
            syscall: syscall.instructions,
            switch: switch.instructions,
            thread_switch: thread_switch.instructions,
            yields: yields.less(switch).instructions,
            fork: fork.instructions,
            fork_elsewhere: fork.less(here).lines,
            exec: exec.instructions,
            exec_elsewhere: own("exec", Peer::Idle, false)?.less(exec).lines,
            exit: exit.instructions,
            exit_elsewhere: child(Peer::Idle)?.less(exit),
            fault: own("fault", Peer::None, false)?.instructions,
            into_idle: counts.take("pipe", Peer::Idle)?.instructions,
            switch_held: counts.held("pipe", Peer::SameCpu, &[SideName::Take], RUN_QUEUE)?,
            fork_held: counts.held("fork", Peer::SameCpu, &[SideName::Give], PROCESSES)?,
            exit_held: counts.held("fork", Peer::SameCpu, &[SideName::Child], PROCESSES)?,
        })
    }
}

/// Locks of one run queue.
const RUN_QUEUE: &[LockClass] = &[LockClass::RunQueue];
/// Locks that all processes have in common.
const PROCESSES: &[LockClass] = &[LockClass::Process];
/// Locks that belong to one pipe, socket or futex.
const CHANNEL: &[LockClass] =
    &[LockClass::Pipe, LockClass::Socket, LockClass::WaitQueue, LockClass::Futex];

/// What is part of a wake-up and counts by itself.
struct Base {
    interrupt: Work,
    switch: Work,
    thread_switch: Work,
    queue: RunQueue,
}

/// Both ends of a message, where each has to fetch the lines from the other.
struct Ends {
    send: Work,
    receive: Work,
}

struct Counts<'a>(&'a CostTable);

impl Counts<'_> {
    fn side(
        &self,
        name: &str,
        peer: Peer,
        threads: bool,
        called: &str,
        of: fn(&Operation) -> Option<Side>,
    ) -> Result<Work, MissingCount> {
        let side = of(self.0.operation(name, peer, threads)?);
        let side = side.ok_or_else(|| self.0.lacks(name, peer, called))?;
        Ok(Work { instructions: side.kernel_instructions, lines: side.stalls() })
    }

    /// What sides of an operation do under locks that one CPU holds at a time; nothing where a table has no locks.
    fn held(
        &self,
        name: &str,
        peer: Peer,
        sides: &[SideName],
        classes: &[LockClass],
    ) -> Result<Work, MissingCount> {
        let operation = self.0.operation(name, peer, false)?;
        let locks = operation.locks.iter().filter(|lock| {
            !lock.shared && sides.contains(&lock.side) && classes.contains(&lock.class)
        });
        Ok(locks.fold(Work::default(), |sum, lock| {
            sum.and(Work {
                instructions: lock.taken * lock.instructions,
                lines: lock.taken * lock.stalls,
            })
        }))
    }

    fn give(&self, name: &str, peer: Peer) -> Result<Work, MissingCount> {
        self.side(name, peer, false, "give", |o| o.give)
    }

    fn take(&self, name: &str, peer: Peer) -> Result<Work, MissingCount> {
        self.side(name, peer, false, "take", |o| o.take)
    }

    fn ends(&self, name: &str) -> Result<Ends, MissingCount> {
        let peer = Peer::Alternating;
        Ok(Ends { send: self.give(name, peer)?, receive: self.take(name, peer)? })
    }

    /// What a reader does more that finds nothing and sleeps, on its sender's CPU.
    fn waits(&self, name: &str, receive: Work) -> Result<Work, MissingCount> {
        Ok(self.take(name, Peer::SameCpu)?.less(receive))
    }

    /// A channel whose ends are system calls.
    fn channel(&self, name: &str, base: &Base) -> Result<Channel, MissingCount> {
        let ends = self.ends(name)?;
        Ok(Channel {
            send: End {
                held: self.held(name, Peer::Alternating, &[SideName::Give], CHANNEL)?,
                ..end(ends.send, self.give(name, Peer::Buffered)?)
            },
            receive: End {
                held: self.held(name, Peer::Alternating, &[SideName::Take], CHANNEL)?,
                ..end(ends.receive, self.take(name, Peer::Buffered)?)
            },
            waking: (self.held(name, Peer::Idle, &[SideName::Give], CHANNEL)?).less(self.held(
                name,
                Peer::Alternating,
                &[SideName::Give],
                CHANNEL,
            )?),
            sleep: self.waits(name, ends.receive)?.less(base.switch).instructions,
            wakes: self.wakes(name, &ends, base)?,
        })
    }

    fn futex(&self, base: &Base) -> Result<Channel, MissingCount> {
        let word = End { instructions: 0.0, first: 1.0, again: 0.0, held: Work::default() };
        let line = Work::lines(word.first);
        let ends = Ends { send: line.and(base.interrupt), receive: line };
        Ok(Channel {
            send: word,
            receive: word,
            sleep: self.waits("futex", ends.receive)?.less(base.switch).instructions,
            waking: self.held("futex", Peer::Idle, &[SideName::Give], CHANNEL)?,
            wakes: self.wakes("futex", &ends, base)?,
        })
    }

    fn wakes(
        &self,
        name: &str,
        ends: &Ends,
        base: &Base,
    ) -> Result<[Wake; Target::ALL.len()], MissingCount> {
        let mut wakes = [Wake::default(); Target::ALL.len()];
        for target in Target::ALL {
            wakes[target as usize] = match target {
                // Where the CPU is busy, the waker does the same for the task, and writes the queue besides, whose lines may be anywhere.
                Target::Busy => {
                    let mut wake = self.wake(name, Target::Idle, ends, base)?;
                    let more = Work::instructions(base.queue.other.instructions);
                    wake.waker = wake.waker.and(more);
                    wake
                }
                _ => self.wake(name, target, ends, base)?,
            };
        }
        Ok(wakes)
    }

    /// What was counted of one wake-up, less both ends of the message.
    fn wake(
        &self,
        name: &str,
        target: Target,
        ends: &Ends,
        base: &Base,
    ) -> Result<Wake, MissingCount> {
        let peer = target.peer();
        let all = self.take(name, peer)?;
        let woken = match target {
            Target::Same => Work::default(),
            Target::Idle | Target::FarIdle => {
                let after = self.side(name, peer, false, "woken", |o| o.woken)?;
                let after = after.less(base.thread_switch).less(base.interrupt);
                after.and(Work::lines(all.lines)).less(ends.receive)
            }
            // It preempts somebody, which is a second switch.
            Target::Busy | Target::FarBusy => {
                let waits = self.waits(name, ends.receive)?;
                all.less(base.switch).less(base.interrupt).less(ends.receive).less(waits)
            }
        };
        let waker = self.give(name, peer)?.less(ends.send);
        // A reader that preempts its sender makes the switch before the sender's call returns.
        let switched = match target {
            Target::Same => base.switch.less(self.waits(name, ends.receive)?),
            _ => Work::default(),
        };
        Ok(Wake { waker: waker.less(switched), woken })
    }

    /// What a pipe's wake-up takes more where it puts the task into a busy CPU's queue.
    fn run_queue(&self, base: &Base) -> Result<RunQueue, MissingCount> {
        let ends = self.ends("pipe")?;
        let wake = |target| self.wake("pipe", target, &ends, base);
        let (idle, busy) = (wake(Target::Idle)?, wake(Target::Busy)?);
        Ok(RunQueue {
            other: busy.waker.less(idle.waker),
            held: self.held("pipe", Peer::Busy, &[SideName::Give], RUN_QUEUE)?,
            own: busy.woken.less(idle.woken).lines,
        })
    }
}

/// An end of which `one` was counted message by message, and `many` where [`BUFFERED`] followed each other.
fn end(one: Work, many: Work) -> End {
    let further = (BUFFERED as f64 * many.lines - one.lines) / (BUFFERED - 1) as f64;
    let held = Work::default();
    End { instructions: one.instructions, first: one.lines, again: further.max(0.0), held }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::costs;

    fn near(found: f64, expected: f64, within: f64) -> bool {
        (found - expected).abs() <= within * expected
    }

    /// On one CPU nothing is left out, and on an idle one only the way into the idle state.
    #[test]
    fn parts_add_up_to_operations() {
        for name in costs::names() {
            let table = costs::named(name).unwrap();
            let (parts, counts) = (Parts::of(&table).unwrap(), Counts(&table));
            for (channel, of) in [("pipe", &parts.pipe), ("unix", &parts.unix), ("tcp", &parts.tcp)]
            {
                let both = of.send.instructions + of.receive.instructions;
                let same =
                    both + of.sleep + parts.switch + of.wake(Target::Same).waker.instructions;
                let expected = counts.give(channel, Peer::SameCpu).unwrap().instructions
                    + counts.take(channel, Peer::SameCpu).unwrap().instructions;
                assert!(near(same, expected, 0.02), "{name}, {channel}: {same} of {expected}");
                let wake = of.wake(Target::Idle);
                let lines = of.send.first + of.receive.first + wake.waker.lines + wake.woken.lines;
                let sides = [
                    counts.give(channel, Peer::Idle).unwrap(),
                    counts.take(channel, Peer::Idle).unwrap(),
                    counts.side(channel, Peer::Idle, false, "woken", |o| o.woken).unwrap(),
                ];
                let expected: f64 = sides.iter().map(|side| side.lines).sum();
                assert!(near(lines, expected, 0.02), "{name}, {channel}: {lines} of {expected}");
            }
        }
    }
}
