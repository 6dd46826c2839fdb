//! Sweeps: one experiment over axes such as machines, kernels, mechanisms, parameters of workloads and seeds.
//!
//! [`Sweep`] is the file: an experiment with a table `[sweep]`. It expands to [`Cell`]s, each of which is plain data: [`Cell::run`] is a
//! pure function of it, wherever it is called. A cell's address is a digest of experiment, machine, constants and build, so what
//! was run is known and never run again. [`Dataset`] is the directory of what cells gave, and says which are missing.
//! [`run`] is the runner on threads; others ask the dataset for what is missing and give it what cells gave. [`read`] is a dataset as
//! samples. [`Bisection`] asks for cells of a sweep where a change may turn from gain to loss.

mod axis;
mod bisect;
mod cell;
mod dataset;
mod error;
mod file;
mod read;
mod run;

pub use axis::Axis;
pub use bisect::{Bisection, Next};
pub use cell::{BUILD, Cell};
pub use dataset::{Dataset, Summary};
pub use error::SweepError;
pub use file::{MAX_CELLS, Sweep};
pub use read::read;
pub use run::{Progress, run};
