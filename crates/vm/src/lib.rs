//! Real kernels in QEMU on the machines that schedscape knows. Such a kernel and its machine are called a guest.
//!
//! What it takes to run something in a guest, in order:
//!
//! 1. `packages` fetches QEMU, kernels and programs through apt's own signed indexes, without root; `worker` builds the small
//!    program for benchmarks that no package has. [`doctor`] says what is missing.
//! 2. [`board`] turns a machine into QEMU's arguments, [`firmware`] edits the device tree where QEMU's lacks something, and [`shown`] says
//!    what the guest will not show of its machine.
//! 3. [`programs`] translates a benchmark into a command with files and packages; `elf` finds the libraries that it needs.
//! 4. [`sched_ext`] brings a scheduler with what it needs, and `initramfs` packs all of it into a root file system around the script of `guest`.
//! 5. [`boot`] starts QEMU and watches it, and [`frames`] reads files and notes out of its console.
//! 6. [`capture`] keeps what the kernel says of a machine, [`session`] runs benchmarks one after the other in one boot, [`exec`] a user's
//!    script with programs of this computer (`foreign`).
//!
//! Nothing here knows of experiments or variants, and nothing is installed on this computer. Files appear under their final names only
//! when they are whole, and no process outlives its owner.

mod accel;
mod arch;
pub mod board;
pub mod boot;
pub mod capture;
mod compile;
pub mod doctor;
mod elf;
mod error;
pub mod exec;
pub mod firmware;
mod foreign;
pub mod frames;
mod guest;
mod host;
mod initramfs;
pub mod measure;
mod packages;
pub mod pinning;
pub mod plugin;
pub mod programs;
pub mod qemu;
pub mod sched_ext;
pub mod session;
pub mod shown;
pub mod splats;
pub mod symbols;
mod worker;

pub use accel::{Trial, arguments as accel_arguments};
pub use arch::Arch;
pub use error::{GuestError, GuestFault, VmError};
pub use packages::{Cache, KernelImage, host_arch};
pub use setting::Accel;
pub use worker::Workers;
