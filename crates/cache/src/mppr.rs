//! The micro-partition prefetch register (MPPR). A write to it starts or stops a restore.
//!
//! The study names the fields: the address of the table, how far to read it, and the rate. Their positions are those of the
//! kernel in 3.17, from memory: address in bits 14 to 47, extent in bits 60 and 61, counted from the least significant. The
//! kernel leaves the rate at 0, the fastest. Its position, bits 56 to 58, is assumed.

use crate::CacheError;
use crate::table::{ADDRESS_MASK, SizeClass, TableAddress};
use setting::Rate;

const REGISTER: &str = "MPPR";
const RATE_SHIFT: u32 = 56;
const RATE_MASK: u64 = 7 << RATE_SHIFT;
const EXTENT_SHIFT: u32 = 60;
const EXTENT_MASK: u64 = 3 << EXTENT_SHIFT;

/// How far to read the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// Not at all: prefetching stops.
    NoData,
    /// To its end.
    UntilEnd,
}

/// The contents of the register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mppr {
    /// Where the table is.
    pub table: TableAddress,
    /// How far to read it.
    pub extent: Extent,
    /// The rate at which lines are prefetched.
    pub rate: Rate,
}

impl Mppr {
    /// Encodes the register.
    pub fn encode(&self) -> u64 {
        let extent: u64 = match self.extent {
            Extent::NoData => 0,
            Extent::UntilEnd => 2,
        };
        self.table.address() | ((self.rate as u64) << RATE_SHIFT) | (extent << EXTENT_SHIFT)
    }

    /// Decodes a register whose table has the size class `class`.
    ///
    /// # Errors
    /// [`CacheError::Bits`] for bits without a meaning, [`CacheError::Misaligned`].
    pub fn decode(bits: u64, class: SizeClass) -> Result<Mppr, CacheError> {
        let refuse = |field, found, expected| {
            Err(CacheError::Bits { register: REGISTER, field, found, expected })
        };
        let rest = bits & !(ADDRESS_MASK | RATE_MASK | EXTENT_MASK);
        if rest != 0 {
            return refuse("reserved bits", rest, "0");
        }
        let extent = match (bits & EXTENT_MASK) >> EXTENT_SHIFT {
            0 => Extent::NoData,
            2 => Extent::UntilEnd,
            _ => return refuse("extent", bits & EXTENT_MASK, "no data or until the end"),
        };
        let at = ((bits & RATE_MASK) >> RATE_SHIFT) as usize;
        let Some(&rate) = Rate::ALL.get(at) else {
            return refuse("rate", bits & RATE_MASK, "one of five rates");
        };
        let table = TableAddress::new(bits & ADDRESS_MASK, 0, class)?;
        Ok(Mppr { table, extent, rate })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn register(address: u64, extent: Extent, rate: Rate) -> Mppr {
        Mppr { table: TableAddress::new(address, 0, SizeClass::L2).unwrap(), extent, rate }
    }

    #[test]
    fn bits_lie_where_they_should() {
        let bits = |extent, rate| register(0x1234_5678_0000, extent, rate).encode();
        assert_eq!(bits(Extent::NoData, Rate::Fastest), 0x0000_1234_5678_0000);
        assert_eq!(bits(Extent::UntilEnd, Rate::Fastest), 0x2000_1234_5678_0000);
        assert_eq!(bits(Extent::UntilEnd, Rate::Every8), 0x2100_1234_5678_0000);
        assert_eq!(bits(Extent::UntilEnd, Rate::Every32), 0x2400_1234_5678_0000);
    }

    #[test]
    fn bad_bits_are_named() {
        for (bits, class, wanted) in [
            (0x8000_0000_0000_0000, SizeClass::L2, "MPPR: reserved bits: found 0x8000000000000000"),
            (0x1000_0000_0000_0000, SizeClass::L2, "MPPR: extent: found 0x1000000000000000"),
            (0x2500_0000_0000_0000, SizeClass::L2, "MPPR: rate: found 0x500000000000000"),
            (0x2000_0000_0000_4000, SizeClass::L2, "log table: address: found 0x4000"),
            (0x2000_0000_0000_8000, SizeClass::L2AndL3, "log table: address: found 0x8000"),
        ] {
            let error = Mppr::decode(bits, class).unwrap_err().to_string();
            assert!(error.starts_with(wanted), "{error}");
        }
    }

    proptest! {
        #[test]
        fn what_is_encoded_is_decoded(place in 0u64..1 << 33, until in any::<bool>(), rate in 0usize..5) {
            let extent = if until { Extent::UntilEnd } else { Extent::NoData };
            let register = register(place << 15, extent, Rate::ALL[rate]);
            prop_assert_eq!(Mppr::decode(register.encode(), SizeClass::L2), Ok(register));
        }

        #[test]
        fn what_is_decoded_is_encoded(bits in any::<u64>(), masked in any::<bool>()) {
            let good = 0x2300_ffff_ffff_8000;
            let bits = if masked { bits & good } else { bits };
            match Mppr::decode(bits, SizeClass::L2) {
                Ok(register) => prop_assert_eq!(register.encode(), bits),
                Err(_) => prop_assert!(!masked),
            }
        }
    }
}
