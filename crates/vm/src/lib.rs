//! Real kernels in QEMU on the machines that schedscape knows.
//!
//! [`packages`] fetches QEMU, kernels and guest programs through apt's own signed indexes, without root. [`initramfs`]
//! packs a guest's root file system around [`guest::INIT`].

pub mod arch;
mod error;
pub mod guest;
pub mod initramfs;
pub mod packages;

pub use arch::Arch;
pub use error::VmError;
