//! Routes of connections over loopback, and the count of references that their packets share.
//!
//! A packet holds its socket's route: `loopback_xmit` takes a reference (`skb_dst_force`), and whoever reads the packet gives it back
//! (`dst_release`). Both are atomic operations on one word, `dst_entry::__refcnt`. A socket's route is the one that the CPU had cached on
//! which the connection was made (`nhc_pcpu_rth_output`). This holds for both ends, as the server's socket is made when the client's last
//! packet of the handshake arrives, on the same CPU. So all connections that were made on one CPU write the same line with each packet,
//! wherever their tasks run later. A line can be handed on once per hand-over, and that limits all of them together. Kernels before 6.4 also keep
//! fields there that every packet reads (`rt_genid`, `rt_type`, `lwtstate`); d288a162dd1c ("net: dst: Prevent false sharing
//! vs. dst_entry:: __refcnt") moved them.
//!
//! Each request for the line takes a hand-over, and they are served one after the other in the order of asking, reads as well. That is assumed: a
//! line's memory controller orders the requests for it (Conway and others, *Cache Hierarchy and Memory Subsystem of the AMD Opteron
//! Processor*, IEEE Micro 30(2), 2010). Whoever has to wait is not alone, so the line is gone again by its next access. What the two ends
//! of a connection move between each other is among the lines that were counted for a message, so they pay only for waiting and for lines
//! from others.

use crate::topology::Cpu;
use workload::ConnectionId;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Access {
    Read,
    Write,
}

/// What a packet does on its way out: the route is checked in `__ip_queue_xmit`, read in `ip_finish_output2`, taken in `loopback_xmit`, read
/// in `ip_rcv`, and checked in `tcp_v4_do_rcv`, some 400 to 1000 instructions apart (ftrace of tbench in a guest of 5.10.223).
const OUT: [Access; 5] = [Access::Read, Access::Read, Access::Write, Access::Read, Access::Read];
/// The same where what it reads lies on another line.
const OUT_APART: [Access; 1] = [Access::Write];
/// What its reader does: it gives the reference back in `skb_release_head_state`.
const IN: [Access; 1] = [Access::Write];

/// Who uses a route.
#[derive(Debug, Clone, Copy)]
pub(crate) struct User {
    pub(crate) cpu: Cpu,
    /// Where the other end of the connection ran last.
    pub(crate) peer: Option<Cpu>,
    /// Now.
    pub(crate) now_ns: u64,
}

/// The routes of all CPUs, and which connection has which.
#[derive(Debug, Default)]
pub(crate) struct Routes {
    /// By connection: the CPU on which it was made.
    made_on: Vec<Option<Cpu>>,
    /// By CPU; empty without connections.
    lines: Vec<Line>,
}

impl Routes {
    /// For so many connections, none of which is made yet.
    pub(crate) fn new(connections: u16, nr_cpus: usize) -> Routes {
        let lines = if connections == 0 { 0 } else { nr_cpus };
        Routes { made_on: vec![None; connections.into()], lines: vec![Line::default(); lines] }
    }

    /// A connection is made on `cpu`.
    pub(crate) fn connect(&mut self, id: ConnectionId, cpu: Cpu) {
        let nr_cpus = self.lines.len();
        self.lines[cpu as usize].seen.resize(nr_cpus, 0);
        self.made_on[id.index()] = Some(cpu);
    }

    /// A packet leaves: how long its CPU waits for the line, in ns. `with_reads` where fields that it reads lie there. `line_ns` tells how
    /// long a line takes to the first CPU from the second.
    pub(crate) fn take(
        &mut self,
        id: ConnectionId,
        user: User,
        with_reads: bool,
        line_ns: impl Fn(Cpu, Cpu) -> u64,
    ) -> u64 {
        let accesses: &[Access] = if with_reads { &OUT } else { &OUT_APART };
        self.line(id).map_or(0, |line| line.access(user, accesses, line_ns))
    }

    /// A packet has been read: how long its CPU waits for the line, in ns.
    pub(crate) fn give_back(
        &mut self,
        id: ConnectionId,
        user: User,
        line_ns: impl Fn(Cpu, Cpu) -> u64,
    ) -> u64 {
        self.line(id).map_or(0, |line| line.access(user, &IN, line_ns))
    }

    fn line(&mut self, id: ConnectionId) -> Option<&mut Line> {
        self.made_on[id.index()].map(|cpu| &mut self.lines[cpu as usize])
    }
}

/// The line with one route's count.
#[derive(Debug, Clone, Default)]
struct Line {
    /// When all that asked for it have had it.
    free_ns: u64,
    writer: Option<Cpu>,
    /// Who has read it last since then.
    reader: Option<Cpu>,
    /// How often it was written, and by CPU: the state that it has seen last. Empty until a connection has the route.
    written: u32,
    seen: Vec<u32>,
}

impl Line {
    /// Accesses of one packet; how long its CPU waits.
    fn access(
        &mut self,
        user: User,
        accesses: &[Access],
        line_ns: impl Fn(Cpu, Cpu) -> u64,
    ) -> u64 {
        let User { cpu, peer, now_ns } = user;
        let wait_ns = self.free_ns.saturating_sub(now_ns);
        let mut own_ns = 0;
        let mut paid_ns = wait_ns;
        let others = self.holder(cpu).filter(|_| wait_ns > 0);
        for &access in accesses {
            if let Some(from) = others.or_else(|| self.missing(cpu, access)) {
                let travel_ns = line_ns(cpu, from);
                own_ns += travel_ns;
                paid_ns += if Some(from) == peer && wait_ns == 0 { 0 } else { travel_ns };
            }
            self.done(cpu, access);
        }
        if own_ns == 0 {
            return 0;
        }
        self.free_ns = now_ns + wait_ns + own_ns;
        paid_ns
    }

    /// Whom `cpu` has to get the line from for an access.
    fn missing(&self, cpu: Cpu, access: Access) -> Option<Cpu> {
        match access {
            Access::Write => self.holder(cpu),
            Access::Read if self.seen[cpu as usize] == self.written => None,
            Access::Read => self.writer.filter(|&writer| writer != cpu),
        }
    }

    fn done(&mut self, cpu: Cpu, access: Access) {
        match access {
            Access::Write => self.has_written(cpu),
            Access::Read if self.writer != Some(cpu) => {
                self.reader = Some(cpu);
                self.seen[cpu as usize] = self.written;
            }
            Access::Read => {}
        }
    }

    fn has_written(&mut self, cpu: Cpu) {
        self.writer = Some(cpu);
        self.reader = None;
        self.written = self.written.wrapping_add(1);
        self.seen[cpu as usize] = self.written;
    }

    /// Whom `cpu` has to take the line from before it can write; `None` if nobody else has it.
    fn holder(&self, cpu: Cpu) -> Option<Cpu> {
        let others = |who: Option<Cpu>| who.filter(|&who| who != cpu);
        others(self.writer).or(others(self.reader))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRAVEL_NS: u64 = 100;

    fn user(cpu: Cpu, now_ns: u64) -> User {
        User { cpu, peer: None, now_ns }
    }

    fn line_ns(_: Cpu, _: Cpu) -> u64 {
        TRAVEL_NS
    }

    fn routes(connections: u16, cpus: &[Cpu]) -> Routes {
        let mut routes = Routes::new(connections, 16);
        for (n, &cpu) in cpus.iter().enumerate() {
            routes.connect(ConnectionId(n as u16), cpu);
        }
        routes
    }

    /// The last one has the line after three hand-overs, whoever made the connections where.
    #[test]
    fn connections_of_one_cpu_share_a_line() {
        let mut shared = routes(4, &[3, 3, 3, 3]);
        let mut apart = routes(4, &[0, 1, 2, 3]);
        let waits = |routes: &mut Routes| -> Vec<u64> {
            (0..4).map(|n| routes.give_back(ConnectionId(n), user(n, 1000), line_ns)).collect()
        };
        assert_eq!(waits(&mut shared), [0, 100, 200, 300]);
        assert_eq!(waits(&mut apart), [0, 0, 0, 0]);
    }

    #[test]
    fn a_line_that_only_two_ends_use_is_in_their_messages() {
        let mut routes = routes(1, &[0]);
        let ends =
            [User { peer: Some(5), ..user(4, 1000) }, User { peer: Some(4), ..user(5, 2000) }];
        for end in ends {
            assert_eq!(routes.give_back(ConnectionId(0), end, line_ns), 0);
        }
        assert_eq!(routes.give_back(ConnectionId(0), user(6, 3000), line_ns), TRAVEL_NS);
    }

    /// Alone, a packet gets the line once and then has it to itself; among others it loses it after each access.
    #[test]
    fn fields_beside_the_count_make_packets_wait_more() {
        let waits = |with_reads, now_ns| {
            let mut routes = routes(1, &[0]);
            let id = ConnectionId(0);
            routes.give_back(id, user(1, 0), line_ns);
            routes.give_back(id, user(2, 0), line_ns);
            routes.take(id, user(3, now_ns), with_reads, line_ns)
        };
        assert_eq!(waits(false, 1000), TRAVEL_NS);
        assert_eq!(waits(true, 1000), 2 * TRAVEL_NS);
        assert_eq!(waits(false, 40), 60 + TRAVEL_NS);
        assert_eq!(waits(true, 40), 60 + 5 * TRAVEL_NS);
    }

    #[test]
    fn a_connection_that_nobody_made_costs_nothing() {
        let mut routes = Routes::new(1, 4);
        assert_eq!(routes.give_back(ConnectionId(0), user(1, 1000), line_ns), 0);
    }
}
