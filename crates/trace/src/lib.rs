//! Timelines: what happened on each CPU, as Perfetto's protobuf, as ftrace's text or as trace-cmd's trace.dat.
//!
//! An [`Event`] is one tracepoint's record. [`Recorder`] makes them of a simulated run while it lasts, [`read`] of a
//! kernel's own text; [`Filter`] lets some pass; [`FtraceText`], [`Perfetto`] and [`TraceDat`] write them. Every part takes one
//! event at a time, so that the length of a run does not matter.

mod error;
mod event;
mod filter;
mod ftrace;
mod perfetto;
mod reader;
mod recorder;
mod topology;
mod tracedat;

pub use error::TraceError;
pub use event::{Comm, Context, Event, Kind, Sink, Task, TaskState};
pub use filter::{Choice, Filter};
pub use ftrace::FtraceText;
pub use perfetto::{About, Perfetto};
pub use reader::{Read, read};
pub use recorder::Recorder;
pub use topology::cpu_names;
pub use tracedat::TraceDat;
