//! Timelines of what happened on each CPU, written as Perfetto protobuf, ftrace text or trace-cmd's trace.dat.
//!
//! An [`Event`] is the record of one tracepoint. Events come from a simulated run (`follow::Recorder`) or from a recording of a
//! kernel ([`Recording`]; [`read`] for text), may pass a [`Filter`], and end in a writer: [`FtraceText`], [`Perfetto`] or [`TraceDat`]. Each stage is a
//! [`Sink`] that takes one event at a time, so memory does not grow with the length of a run.

mod error;
mod event;
mod filter;
mod ftrace;
pub mod inspect;
mod perfetto;
mod reader;
pub mod replay;
mod topology;
mod tracedat;

pub use error::TraceError;
pub use event::{Comm, Context, Event, Kind, Sink, Task, TaskState, WakeMemory, wake_flags};
pub use filter::{Choice, Filter};
pub use ftrace::FtraceText;
pub use perfetto::{About, Perfetto};
pub use reader::{FileKind, Read, Recording, read};
pub use topology::cpu_names;
pub use tracedat::TraceDat;
