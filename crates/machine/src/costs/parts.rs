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
//!
//! The parts of an operation add up to the operation, but for a CPU's way into its idle state, which delays nobody.

use super::{BUFFERED, CostTable, MissingCount, Operation, Peer, Side};

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
    /// All, with the measurement that each stands for.
    pub const ALL: [(Target, Peer); 5] = [
        (Target::Same, Peer::SameCpu),
        (Target::Idle, Peer::Idle),
        (Target::Busy, Peer::Busy),
        (Target::FarIdle, Peer::FarIdle),
        (Target::FarBusy, Peer::FarBusy),
    ];
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
}

/// What passes messages, or lets tasks wait.
#[derive(Debug, Clone, PartialEq)]
pub struct Channel {
    /// The sender's end.
    pub send: End,
    /// The receiver's end.
    pub receive: End,
    /// Instructions to find nothing and to sleep, without the switch.
    pub sleep: f64,
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
    /// To take a task out of another CPU's queue: counted as a wake-up into such a queue.
    pub detach: Work,
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
    /// The end of a process.
    pub exit: f64,
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
        let base = Base { interrupt: syscall, switch, thread_switch };
        let (unix, tcp) = (counts.channel("unix", &base)?, counts.channel("tcp", &base)?);
        // On the parent's own CPU, the child's first steps may count as the parent's.
        let fork = counts.give("fork", Peer::Idle)?;
        let here = counts.give("fork", Peer::SameCpu)?;
        let futex = counts.futex(&base)?;
        Ok(Parts {
            pipe: counts.channel("pipe", &base)?,
            detach: futex.wake(Target::Busy).waker,
            futex,
            packet: (tcp.send.instructions - unix.send.instructions).max(0.0),
            unix,
            tcp,
            syscall: syscall.instructions,
            switch: switch.instructions,
            thread_switch: thread_switch.instructions,
            yields: yields.less(switch).instructions,
            fork: fork.instructions,
            fork_elsewhere: fork.less(here).lines,
            exec: own("exec", Peer::SameCpu, false)?.instructions,
            exit: counts.side("fork", Peer::SameCpu, false, "child", |o| o.child)?.instructions,
        })
    }
}

/// What is part of a wake-up and counts by itself.
struct Base {
    interrupt: Work,
    switch: Work,
    thread_switch: Work,
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
            send: end(ends.send, self.give(name, Peer::Buffered)?),
            receive: end(ends.receive, self.take(name, Peer::Buffered)?),
            sleep: self.waits(name, ends.receive)?.less(base.switch).instructions,
            wakes: self.wakes(name, &ends, base)?,
        })
    }

    fn futex(&self, base: &Base) -> Result<Channel, MissingCount> {
        let word = End { instructions: 0.0, first: 1.0, again: 0.0 };
        let line = Work::lines(word.first);
        let ends = Ends { send: line.and(base.interrupt), receive: line };
        Ok(Channel {
            send: word,
            receive: word,
            sleep: self.waits("futex", ends.receive)?.less(base.switch).instructions,
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
        for (target, peer) in Target::ALL {
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
            wakes[target as usize] = Wake { waker: self.give(name, peer)?.less(ends.send), woken };
        }
        Ok(wakes)
    }
}

/// An end of which `one` was counted message by message, and `many` where [`BUFFERED`] followed each other.
fn end(one: Work, many: Work) -> End {
    let further = (BUFFERED as f64 * many.lines - one.lines) / (BUFFERED - 1) as f64;
    End { instructions: one.instructions, first: one.lines, again: further.max(0.0) }
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
