//! The simulator and a trace: a simulated run recorded as one ([`Recorder`]), and a kernel's wake-ups beside the model's
//! ([`placement`]).

pub mod placement;
mod recorder;

pub use recorder::Recorder;
