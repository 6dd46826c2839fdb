//! The operand of `logmpp`, the instruction that starts and stops the log of a core's caches.
//!
//! The study names the fields: the address of the table and the log control. Their positions are those of the kernel in 3.17,
//! from memory: address in bits 14 to 47, log control in bits 54 and 55, counted from the least significant.

use crate::CacheError;
use crate::table::{ADDRESS_MASK, SizeClass, TableAddress};

const REGISTER: &str = "logmpp";
const CONTROL_SHIFT: u32 = 54;
const CONTROL_MASK: u64 = 3 << CONTROL_SHIFT;

/// What to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogControl {
    /// Nothing.
    NoOp,
    /// Log the L2 and the most recently used way of the L3.
    L2AndL3,
    /// Log the L2.
    L2,
    /// Abort the log that is being written.
    Abort,
}

impl LogControl {
    fn bits(self) -> u64 {
        match self {
            LogControl::NoOp => 0,
            LogControl::L2AndL3 => 1,
            LogControl::L2 => 2,
            LogControl::Abort => 3,
        }
    }

    fn of(bits: u64) -> LogControl {
        match bits & 3 {
            0 => LogControl::NoOp,
            1 => LogControl::L2AndL3,
            2 => LogControl::L2,
            _ => LogControl::Abort,
        }
    }

    /// The size class that the table must have; the smaller one if no table is written.
    fn class(self) -> SizeClass {
        match self {
            LogControl::L2AndL3 => SizeClass::L2AndL3,
            LogControl::NoOp | LogControl::L2 | LogControl::Abort => SizeClass::L2,
        }
    }
}

/// The operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Logmpp {
    /// Where the table is.
    pub table: TableAddress,
    /// What to do.
    pub control: LogControl,
}

impl Logmpp {
    /// Encodes the operand.
    ///
    /// # Errors
    /// [`CacheError::Misaligned`] if the table is not aligned to the largest size of the log.
    pub fn encode(&self) -> Result<u64, CacheError> {
        let address = self.table.address();
        TableAddress::new(address, 0, self.control.class())?;
        Ok(address | (self.control.bits() << CONTROL_SHIFT))
    }

    /// Decodes an operand.
    ///
    /// # Errors
    /// [`CacheError::Bits`] for bits without a meaning, [`CacheError::Misaligned`].
    pub fn decode(bits: u64) -> Result<Logmpp, CacheError> {
        let rest = bits & !(ADDRESS_MASK | CONTROL_MASK);
        if rest != 0 {
            let field = "reserved bits";
            return Err(CacheError::Bits { register: REGISTER, field, found: rest, expected: "0" });
        }
        let control = LogControl::of(bits >> CONTROL_SHIFT);
        let table = TableAddress::new(bits & ADDRESS_MASK, 0, control.class())?;
        Ok(Logmpp { table, control })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const CONTROLS: [LogControl; 4] =
        [LogControl::NoOp, LogControl::L2AndL3, LogControl::L2, LogControl::Abort];

    fn operand(address: u64, control: LogControl) -> Logmpp {
        Logmpp { table: TableAddress::new(address, 0, control.class()).unwrap(), control }
    }

    #[test]
    fn bits_lie_where_they_should() {
        let bits = |control| operand(0x1234_5678_0000, control).encode().unwrap();
        assert_eq!(bits(LogControl::NoOp), 0x0000_1234_5678_0000);
        assert_eq!(bits(LogControl::L2AndL3), 0x0040_1234_5678_0000);
        assert_eq!(bits(LogControl::L2), 0x0080_1234_5678_0000);
        assert_eq!(bits(LogControl::Abort), 0x00c0_1234_5678_0000);
    }

    #[test]
    fn bad_bits_are_named() {
        for (bits, wanted) in [
            (1, "logmpp: reserved bits: found 0x1, expected 0"),
            (1 << 63, "logmpp: reserved bits: found 0x8000000000000000, expected 0"),
            (
                0x0040_0000_0000_8000,
                "log table: address: found 0x8000, expected a multiple of 0x20000",
            ),
            (
                0x0080_0000_0000_4000,
                "log table: address: found 0x4000, expected a multiple of 0x8000",
            ),
        ] {
            assert_eq!(Logmpp::decode(bits).unwrap_err().to_string(), wanted);
        }
        let table = TableAddress::new(0x8000, 0x8000, SizeClass::L2).unwrap();
        let wrong = Logmpp { table, control: LogControl::L2AndL3 }.encode();
        assert_eq!(wrong, Err(CacheError::Misaligned { found: 0x8000, expected: 0x2_0000 }));
    }

    proptest! {
        #[test]
        fn what_is_encoded_is_decoded(place in 0u64..1 << 31, control in 0usize..4) {
            let operand = operand(place << 17, CONTROLS[control]);
            prop_assert_eq!(Logmpp::decode(operand.encode().unwrap()), Ok(operand));
        }

        #[test]
        fn what_is_decoded_is_encoded(bits in any::<u64>(), masked in any::<bool>()) {
            let bits = if masked { bits & (0x0000_ffff_fffe_0000 | CONTROL_MASK) } else { bits };
            match Logmpp::decode(bits) {
                Ok(operand) => prop_assert_eq!(operand.encode(), Ok(bits)),
                Err(_) => prop_assert!(!masked),
            }
        }
    }
}
