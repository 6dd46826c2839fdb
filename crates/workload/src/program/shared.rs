//! What programs share besides flags and counters: queues of messages, histograms, and users on another machine.

use super::{ConnectionId, FlagId, HistogramId, QueueId, Spread};
use machine::CpuSet;

/// Bytes of a pipe's buffer that are given back at a time (a page of 4 KiB).
const PIPE_PAGE_BYTES: u32 = 4096;
/// Pages of a pipe's buffer (`PIPE_DEF_BUFFERS`).
const PIPE_PAGES: u32 = 16;
/// Send buffer of a socket (`net.core.wmem_default`), in bytes.
const SOCKET_BUFFER_BYTES: u32 = 212_992;
/// What a socket buffer is charged beside its data: `struct sk_buff` and `struct skb_shared_info` (`SKB_TRUESIZE`).
const SKB_OVERHEAD_BYTES: u32 = 576;

/// What a queue is made of: what its ends cost, and how sleepers are woken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueueKind {
    /// A pipe. Readers and writers are woken one at a time, with `WF_SYNC`. A pipe that was full
    /// stays full until `wake_writers_at` messages have been read: buffers are given back page by page.
    Pipe,
    /// A stream of Unix sockets. Readers are woken one at a time with `WF_SYNC`; writers all at
    /// once, when `wake_writers_at` is free (`unix_write_space`).
    Socket,
    /// A TCP connection over loopback, woken as Unix sockets are; the sender does the soft interrupt's work, too.
    Loopback,
    /// A queue in shared memory with a futex: the kernel works only to let a reader sleep, and to wake one.
    /// Sleepers are woken one at a time without `WF_SYNC`.
    Futex,
}

/// How many messages a bounded queue takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capacity {
    /// Messages that it holds at most; at least 1.
    pub messages: u32,
    /// Free places at which blocked writers are woken: 1 to `messages`.
    pub wake_writers_at: u32,
}

/// A queue of messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Queue {
    /// What it is made of.
    pub kind: QueueKind,
    /// How much it holds; `None` for a queue that is never full.
    pub capacity: Option<Capacity>,
    /// Cache lines of a message. Those beyond what costs were counted with, two, the reader fetches from the CPU that wrote it.
    pub lines: u16,
    /// Whether readers get messages in the order of their requests' numbers, from 1 on without a gap: a message stays until those before
    /// it have been read. The next one in the order always finds room, and writers who wait are woken all at once.
    pub ordered: bool,
    /// The connection that its messages belong to, where the workload says how that was made ([`Op::Connect`](super::Op::Connect)).
    pub connection: Option<ConnectionId>,
}

impl Queue {
    /// A queue of `kind` that is never full and whose messages are within what a wake-up fetches.
    pub const fn unbounded(kind: QueueKind) -> Queue {
        Queue { kind, capacity: None, lines: 0, ordered: false, connection: None }
    }

    /// A queue in shared memory that holds `messages`, in the order of requests if `ordered`.
    pub const fn bounded(messages: u32, ordered: bool) -> Queue {
        let capacity = Some(Capacity { messages, wake_writers_at: 1 });
        Queue { kind: QueueKind::Futex, capacity, lines: 0, ordered, connection: None }
    }

    /// A pipe for messages of `bytes`: 16 pages of 4 KiB, each with as many whole messages as fit (`pipe_write` merges
    /// those). `lines` as in [`Queue`].
    pub fn pipe(bytes: u32, lines: u16) -> Queue {
        let per_page = (PIPE_PAGE_BYTES / bytes.max(1)).max(1);
        let messages = if bytes <= PIPE_PAGE_BYTES {
            per_page * PIPE_PAGES
        } else {
            (PIPE_PAGE_BYTES * PIPE_PAGES / bytes).max(1)
        };
        let capacity = Some(Capacity { messages, wake_writers_at: per_page.min(messages) });
        Queue { kind: QueueKind::Pipe, capacity, lines, ordered: false, connection: None }
    }

    /// A Unix stream socket for messages of `bytes` each sent by itself: the default send buffer, charged with the overhead
    /// of each message; writers wake when no more than a quarter is in use (`unix_writable`). `lines` as in [`Queue`].
    pub fn socket(bytes: u32, lines: u16) -> Queue {
        let charged = bytes.next_multiple_of(64).saturating_add(SKB_OVERHEAD_BYTES);
        let messages = (SOCKET_BUFFER_BYTES / charged).max(1);
        let wake_writers_at = (messages - messages / 4).max(1);
        let capacity = Some(Capacity { messages, wake_writers_at });
        Queue { kind: QueueKind::Socket, capacity, lines, ordered: false, connection: None }
    }
}

/// A device that serves tasks' requests in the order they come, while those sleep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Device {
    /// Groups of requests that it serves at a time; at least 1.
    pub slots: u16,
    /// Requests that one group takes at most, as a journal's write carries what several tasks wait for; at least 1. A group
    /// is open until the device begins with it.
    pub together: u32,
}

/// A histogram of times in ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Histogram {
    /// Times are recorded only while this flag is set; always where absent.
    pub while_set: Option<FlagId>,
}

/// Users on another machine. In a closed loop each thinks, sends a request, and thinks again when the reply has come; in an open one it
/// sends its next request whether the last was answered or not.
#[derive(Debug, Clone, PartialEq)]
pub struct Clients {
    /// Where requests arrive; the message carries the user, for [`super::Op::Reply`].
    pub requests: QueueId,
    /// Users.
    pub count: u32,
    /// Think time in ns: mean, or median for a log-normal spread.
    pub think_ns: f64,
    /// How it varies.
    pub spread: Spread,
    /// Whether the time to think runs from one request to the next, and nobody waits for replies.
    pub open: bool,
    /// CPUs that take the network's interrupts. Each user is drawn to one of them and stays (receive-side scaling).
    pub irq_cpus: CpuSet,
    /// First request, in ns; drawn uniformly from `[first_ns, first_ns + within_ns]`.
    pub first_ns: u64,
    /// Width of the draw, in ns.
    pub within_ns: u64,
    /// Where response times go: from a request's arrival to the end of its reply.
    pub responses: HistogramId,
}
