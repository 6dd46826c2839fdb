//! Real kernels in QEMU on the machines that schedscape knows.
//!
//! [`packages`] fetches QEMU, kernels and guest programs through apt's own signed indexes, without root. [`initramfs`]
//! packs a guest's root file system around [`guest::INIT`]. [`boot`] runs one, and [`frames`] reads what it says.
//! [`programs`] says what a guest runs for a benchmark, [`elf`] what of a package that takes, and [`worker`] is for what
//! no package has.

pub mod accel;
pub mod arch;
pub mod board;
pub mod boot;
pub mod capture;
pub mod doctor;
pub mod elf;
mod error;
pub mod firmware;
pub mod frames;
pub mod guest;
mod host;
pub mod initramfs;
pub mod packages;
pub mod programs;
pub mod qemu;
pub mod session;
pub mod shown;
pub mod worker;

pub use accel::arguments as accel_arguments;
pub use arch::Arch;
pub use error::{GuestError, GuestFault, VmError};
pub use packages::{Cache, KernelImage};
pub use setting::Accel;
