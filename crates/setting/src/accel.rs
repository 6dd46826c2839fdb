//! What executes the instructions of a guest in QEMU.

/// How a guest runs. Times of one are not those of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Accel {
    /// QEMU's own translation; the guest's clock is this computer's.
    Tcg,
    /// QEMU's own translation, one CPU of the guest at a time; the guest's clock counts instructions of
    /// 2^`shift` ns each. While all CPUs sleep it jumps to the next timer.
    Counted {
        /// Power of two.
        shift: u8,
    },
    /// The processor itself.
    Kvm,
}
