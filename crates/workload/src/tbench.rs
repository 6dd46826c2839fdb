//! tbench 4: each client plays the load of dbench against its own server over a loopback TCP connection, without a disk.
//!
//! As the program does it (`strace` of Debian's dbench 4.0): for each operation of its load the client sends one packet
//! and reads the answer, first 4 bytes of length and then the rest, as does the server with the request; two reads, of
//! which the second finds its data there. An operation is a request and an answer of about 60 bytes; a read's answer
//! and a write's request carry the data. The client has the kernel throw away what an answer carries (`MSG_TRUNC`), so nobody copies or
//! touches it there. Clients are released together.
//!
//! The program runs for minutes, of which a window of tenths of a second is simulated. Forking leaves all clients and servers on
//! one node, from where balancing spreads them within seconds; so they are there from the start, asleep on random CPUs, which is where
//! minutes of balancing and wake-ups leave them and what a window then settles from quickly. What balancing does not change is on which CPUs connections
//! were made, as each keeps the route that its CPU had ([`Op::Connect`]). So the start happens as well, with stand-ins for clients and servers: the parent
//! forks one client after the other, each connects, and `tbench_srv` forks a server for each connection. They stay asleep when the others begin.
//!
//! Of the load's 458,344 operations 27.1 % are reads of 11.9 KB on average, most of 4096 bytes, some of 61440; 8.6 % are
//! writes of 25.7 KB, most of 65536, 4096 or 1. The cycle here has 33 operations with those shares: 9 reads and 3 writes, of
//! 5.5 KB an operation (5.4 KB in the load). Throughput counts what is read and written, in 10^6 bytes.

use crate::placement::Placement;
use crate::program::{
    BarrierId, ConnectionId, MemoryUse, Metric, Op, Program, ProgramId, Queue, QueueId, QueueKind,
    Reading, Since, Work, Workload,
};
use crate::window::Window;
use crate::{WorkloadError, check, launch};
use machine::CpuSet;
use machine::constants::{Constants, MissingConstant};
use serde::{Deserialize, Serialize};
use stats::Better;
use std::collections::BTreeMap;

const NAME: &str = "tbench";
const SERVER: &str = "tbench_srv";
/// Bytes of a packet without data, answer or request.
const HEADER_BYTES: u32 = 60;
/// Core cycles of the client for an operation: it reads a line of its load, fills in a packet and looks at the answer.
/// Measured: 1 us of user time an operation on a virtual machine of 2 to 3 GHz.
pub const CLIENT_CYCLES: f64 = 2_000.0;
/// Core cycles of the server for an operation: it looks at the packet and fills in an answer. Assumed.
pub const SERVER_CYCLES: f64 = 500.0;
/// Part of the rate of copying from L1 that a copy between user space and the pages of a socket buffer reaches, getting and
/// giving back those pages included. Measured on a virtual machine of a Xeon at 4.0 GHz: 61,440 bytes more take 6,490 cycles to send
/// and 5,250 to receive on one CPU, 10.5 bytes a cycle of the 16 that the catalog's machines are taken to copy.
const BUFFER_COPY: f64 = 0.65;
/// Lines of a packet that are on their way to its reader at a time: hardware prefetches a copy. Measured there between two CPUs: those
/// bytes' 960 lines take both ends 4,850 ns longer than on one CPU, and a hand-over takes 57.7 ns.
const LINES_IN_FLIGHT: u32 = 11;
/// Bytes of a line that a packet's data is counted in.
const LINE_BYTES: u32 = 64;
/// Bytes that each end comes back to: its buffer, which every packet leaves and reaches from its start (`strace`), the largest of 64 KiB, and
/// two blocks of 32 KiB that its sockets fill in turn (`skb_page_frag_refill`, as many as the largest packet has).
const BUFFERS_BYTES: f64 = 128.0 * 1024.0;

/// Instructions of the start beyond those of `fork` itself, nearly all of them the kernel's. Counted: `sched_switch`, `sched_process_fork` and a probe
/// in `tcp_v4_connect` in a guest of one CPU whose clock counts instructions, tbench 4.0 of Debian with six clients on 5.10.223; means. The parent takes
/// this much more between two clients, as its load fills 20 MB.
const FORK_MORE: f64 = 37_000.0;
/// A client from its start to `connect`, from there until the listener is woken, and until it sleeps.
const CLIENT_STARTS: f64 = 301_000.0;
const CLIENT_CONNECTS: f64 = 31_000.0;
const CLIENT_WAITS: f64 = 28_000.0;
/// The listener for a connection, beside `fork`, and a server until it sleeps.
const ACCEPT: f64 = 38_000.0;
const SERVER_STARTS: f64 = 130_000.0;

/// An operation of the load.
#[derive(Debug, Clone, Copy)]
enum Operation {
    /// All but reads and writes.
    Small,
    Read(u32),
    Write(u32),
}

use Operation::{Read, Small, Write};

/// One cycle of the load.
const CYCLE: [Operation; 33] = [
    Small,
    Small,
    Read(4096),
    Small,
    Read(4096),
    Small,
    Read(4096),
    Small,
    Small,
    Write(65536),
    Small,
    Small,
    Small,
    Read(61440),
    Small,
    Read(4096),
    Small,
    Read(4096),
    Small,
    Small,
    Write(8192),
    Small,
    Small,
    Small,
    Read(16384),
    Small,
    Read(4096),
    Small,
    Read(4096),
    Small,
    Small,
    Write(1),
    Small,
];

impl Operation {
    fn request_bytes(self) -> u32 {
        match self {
            Small | Read(_) => HEADER_BYTES,
            Write(bytes) => HEADER_BYTES + bytes,
        }
    }

    fn answer_bytes(self) -> u32 {
        match self {
            Small | Write(_) => HEADER_BYTES,
            Read(bytes) => HEADER_BYTES + bytes,
        }
    }

    fn counted_bytes(self) -> u32 {
        match self {
            Small => 0,
            Read(bytes) | Write(bytes) => bytes,
        }
    }
}

/// Operations of a cycle.
pub const OPERATIONS: usize = CYCLE.len();

/// Bytes that both ends copy in a cycle: requests twice, answers once and their headers again.
pub fn copied_bytes() -> f64 {
    let of = |o: &Operation| 2 * o.request_bytes() + o.answer_bytes() + HEADER_BYTES;
    CYCLE.iter().map(|o| f64::from(of(o))).sum()
}

/// Bytes read and written in a cycle, which throughput counts.
pub fn counted_bytes() -> f64 {
    CYCLE.iter().map(|o| f64::from(o.counted_bytes())).sum()
}

/// Command-line options, and what is around the program.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Clients, each with a server.
    pub clients: u16,
    /// Warm-up in seconds.
    pub warmup_s: f64,
    /// Measured time in seconds.
    pub seconds: f64,
    /// CPUs it is bound to; all where absent.
    pub cpus: Option<CpuSet>,
}

/// What the program's steps cost on a machine, beside its system calls.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Costs {
    /// Cycles of a read that finds its data there.
    pub read_cycles: f64,
    /// Bytes that a copy into or out of a socket moves a cycle.
    pub copy_bytes_per_cycle: f64,
    /// Cycles of an instruction of the kernel.
    pub cycles_per_instruction: f64,
}

impl Costs {
    /// From the constants of a machine.
    pub fn of(constants: &Constants) -> Result<Costs, MissingConstant> {
        Ok(Costs {
            read_cycles: constants.value("socket_read_cycles")?,
            copy_bytes_per_cycle: constants.value("copy_bytes_per_cycle")? * BUFFER_COPY,
            cycles_per_instruction: constants.value("kernel_cycles_per_instruction")?,
        })
    }

    fn copy_cycles(&self, bytes: u32) -> f64 {
        f64::from(bytes) / self.copy_bytes_per_cycle
    }
}

/// The throughput's name.
pub const MB_PER_S: &str = "mb_per_s";

/// Builds the workload.
pub fn build(params: &Params, costs: &Costs) -> Result<Workload, WorkloadError> {
    check::within(NAME, "clients", params.clients, 1..=4096, "1 to 4096")?;
    check::window(NAME, params.warmup_s, params.seconds)?;
    let mut w = Workload::default();
    let window = Window::new(&mut w);
    let cycle = w.histogram(Some(window.open));
    let released = w.barrier(2 * u32::from(params.clients) + 1);
    let start = Start::new(&mut w, costs, released, params.cpus.clone());
    let mut main = Vec::new();
    for _ in 0..params.clients {
        let connection = Connection::new(&mut w);
        main.extend(start.client(&mut w, connection.made));
        let server = connection.server(&mut w, costs);
        let mut ops = vec![Op::Barrier(released), Op::Stamp];
        connection.client(&mut ops, costs);
        ops.extend([
            Op::Record { histogram: cycle, since: Since::Stamp },
            Op::Loop { to: 1, times: 0 },
        ]);
        let client = w.program(NAME, ops);
        w.spawns.extend(
            [server, client].map(|program| launch::long_since(program, params.cpus.clone())),
        );
    }
    main.push(Op::Barrier(released));
    main.extend(window.ops(params.warmup_s, params.seconds));
    launch::from_shell(&mut w, Program { name: NAME.to_string(), ops: main }, params.cpus.clone());
    w.metrics.push(Metric {
        name: MB_PER_S.to_string(),
        unit: "MB/s".to_string(),
        better: Better::Higher,
        reading: Reading::RecordsPerSecond {
            histogram: cycle,
            units: counted_bytes() / 1e6,
            from: window.from,
            to: window.to,
        },
    });
    Ok(w)
}

/// How clients and servers come to be.
struct Start<'a> {
    costs: &'a Costs,
    /// Connections for the listener.
    incoming: QueueId,
    /// Nobody ever writes to it.
    never: QueueId,
    released: BarrierId,
}

impl<'a> Start<'a> {
    /// The listener waits.
    fn new(
        w: &mut Workload,
        costs: &'a Costs,
        released: BarrierId,
        cpus: Option<CpuSet>,
    ) -> Start<'a> {
        let mut queue = || w.queue(Queue::unbounded(QueueKind::Futex));
        let start = Start { costs, incoming: queue(), never: queue(), released };
        let server = vec![start.work(SERVER_STARTS), Op::Receive(start.never)];
        let server = w.program(SERVER, server);
        let listener = vec![
            Op::Receive(start.incoming),
            start.work(ACCEPT),
            Op::Fork(server),
            Op::Loop { to: 0, times: 0 },
        ];
        let listener = w.program(SERVER, listener);
        w.spawns.push(launch::long_since(listener, cpus));
        start
    }

    /// What the parent does to start a client that makes `connection`.
    fn client(&self, w: &mut Workload, connection: ConnectionId) -> [Op; 2] {
        let client = vec![
            self.work(CLIENT_STARTS),
            Op::Connect(connection),
            self.work(CLIENT_CONNECTS),
            Op::Send(self.incoming),
            self.work(CLIENT_WAITS),
            Op::Barrier(self.released),
            Op::Receive(self.never),
        ];
        [self.work(FORK_MORE), Op::Fork(w.program(NAME, client))]
    }

    fn work(&self, instructions: f64) -> Op {
        compute(instructions * self.costs.cycles_per_instruction)
    }
}

/// One TCP connection. A queue's messages are of one size, so it has a queue for each size of request. Answers are alike to who throws
/// away what they carry.
struct Connection {
    requests: BTreeMap<u32, QueueId>,
    answers: QueueId,
    made: ConnectionId,
}

impl Connection {
    fn new(w: &mut Workload) -> Connection {
        let made = w.connection();
        let mut requests = BTreeMap::new();
        for size in CYCLE.map(Operation::request_bytes) {
            requests.entry(size).or_insert_with(|| w.queue(queue(size, made)));
        }
        Connection { requests, answers: w.queue(queue(HEADER_BYTES, made)), made }
    }

    /// The queues of each operation of the cycle in turn.
    fn operations(&self) -> impl Iterator<Item = (Operation, QueueId, QueueId)> + '_ {
        CYCLE.into_iter().filter_map(|o| {
            let request = self.requests.get(&o.request_bytes())?;
            Some((o, *request, self.answers))
        })
    }

    fn client(&self, ops: &mut Vec<Op>, costs: &Costs) {
        // What follows an answer and what leads to the next request are one stretch of work.
        let mut work = 0.0;
        for (operation, request, answer) in self.operations() {
            work += CLIENT_CYCLES + costs.copy_cycles(operation.request_bytes());
            match operation {
                // It reads its buffer and writes its blocks.
                Write(bytes) => ops.extend(copy(work, 2 * bytes)),
                Small | Read(_) => ops.push(compute(work)),
            }
            ops.extend([Op::Send(request), Op::Receive(answer)]);
            work = costs.read_cycles + costs.copy_cycles(HEADER_BYTES);
        }
        ops.push(compute(work));
    }

    fn server(&self, w: &mut Workload, costs: &Costs) -> ProgramId {
        let mut ops = Vec::new();
        for (operation, request, answer) in self.operations() {
            let bytes = operation.request_bytes() + operation.answer_bytes();
            let work = SERVER_CYCLES + costs.read_cycles + costs.copy_cycles(bytes);
            ops.push(Op::Receive(request));
            match operation {
                // The client's blocks are counted with the packet.
                Write(bytes) => ops.extend(copy(work, bytes)),
                Read(bytes) => ops.extend(copy(work, 2 * bytes)),
                Small => ops.push(compute(work)),
            }
            ops.push(Op::Send(answer));
        }
        ops.push(Op::Loop { to: 0, times: 0 });
        w.program(SERVER, ops)
    }
}

fn compute(cycles: f64) -> Op {
    Op::Compute(Work::fixed(cycles))
}

/// Work of so many `cycles` in which an end touches `bytes` of its buffer and its blocks.
fn copy(cycles: f64, bytes: u32) -> [Op; 3] {
    let touches_per_kcycle = f64::from(bytes.div_ceil(LINE_BYTES)) / (cycles / 1000.0);
    let memory = MemoryUse {
        working_set_bytes: BUFFERS_BYTES,
        touches_per_kcycle,
        overlap: f64::from(LINES_IN_FLIGHT),
        stream_bytes_per_kcycle: 0.0,
        stream_set_bytes: 0.0,
        placement: Placement::Default,
    };
    memory.during(Work::fixed(cycles))
}

/// A packet without data is within what a wake-up fetches.
fn queue(bytes: u32, connection: ConnectionId) -> Queue {
    let lines = (bytes / LINE_BYTES).div_ceil(LINES_IN_FLIGHT) as u16;
    Queue {
        lines: if bytes > HEADER_BYTES { lines } else { 0 },
        connection: Some(connection),
        ..Queue::unbounded(QueueKind::Loopback)
    }
}
