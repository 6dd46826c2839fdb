//! Names of what a workload's programs share: indices, one type a kind.

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {
        $($(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub struct $name(pub u16);

        impl $name {
            /// Index into tables of its kind.
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        })+
    };
}

ids! {
    /// A program of a workload, by index.
    ProgramId,
    /// A queue of messages, by index.
    QueueId,
    /// A mutex, by index; free at the start.
    LockId,
    /// A condition variable, by index.
    CondId,
    /// A barrier, by index.
    BarrierId,
    /// A periodic timer, by index; it starts when it is first waited for.
    TimerId,
    /// A shared word that tasks set and watch, by index; clear at the start.
    FlagId,
    /// A counter of work done, by index; zero at the start.
    CounterId,
    /// A histogram of times, by index; empty at the start.
    HistogramId,
    /// A cache line that several tasks use, by index.
    LineId,
    /// A point in time that a metric reads, by index.
    MarkId,
    /// The iterations of a loop, by index; all due at the start.
    PoolId,
    /// A device that serves requests, by index; idle at the start.
    DeviceId,
    /// A TCP connection over loopback, by index; not made yet at the start.
    ConnectionId,
}
