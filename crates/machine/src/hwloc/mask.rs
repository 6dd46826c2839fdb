//! hwloc's bitmaps as text: 32-bit words in hexadecimal, the highest first (`0x00000003,0xffffffff`).

use crate::cpuset::{CpuSet, MAX_CPUS};
use crate::error::Fault;

/// What an infinite bitmap starts with.
pub(super) const INFINITE: &str = "0xf...f";

/// Reads a bitmap. An empty word is zero (`0x1,,0x0`), as hwloc writes them.
pub(super) fn parse(text: &str) -> Result<CpuSet, Fault> {
    let expected = "words such as 0x00000003,0xffffffff";
    if text.starts_with(INFINITE) {
        return Err(Fault::new(format!("the infinite set `{text}`"), "a finite set"));
    }
    let mut set = CpuSet::EMPTY;
    for (place, word) in text.rsplit(',').enumerate() {
        let digits = word.strip_prefix("0x").unwrap_or(word);
        let hex = digits.len() <= 8 && digits.bytes().all(|b| b.is_ascii_hexdigit());
        let bits = match (hex, digits.is_empty()) {
            (true, true) if word.is_empty() && !text.is_empty() => 0,
            (true, false) => u32::from_str_radix(digits, 16)
                .map_err(|_| Fault::new(format!("`{text}`"), expected))?,
            _ => return Err(Fault::new(format!("`{text}`"), expected)),
        };
        for bit in (0..32).filter(|bit| bits >> bit & 1 == 1) {
            let number = place * 32 + bit;
            if number >= MAX_CPUS {
                return Err(Fault::new(
                    format!("number {number}"),
                    format!("less than {MAX_CPUS}"),
                ));
            }
            set.insert(number);
        }
    }
    Ok(set)
}

/// Writes a bitmap.
pub(super) fn text(set: &CpuSet) -> String {
    let Some(last) = set.last() else { return "0x0".to_string() };
    let mut words = vec![0u32; last / 32 + 1];
    for number in set.iter() {
        words[number / 32] |= 1 << (number % 32);
    }
    let words: Vec<String> = words.iter().rev().map(|word| format!("0x{word:08x}")).collect();
    words.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reads_what_hwloc_writes() {
        for (text, list) in [
            ("0x00000003", "0-1"),
            ("0x0", ""),
            ("0x000000ff,0xff000000,,0x0000ffff", "0-15,88-103"),
            ("0x0000000f,,,0x0", "96-99"),
            ("1", "0"),
        ] {
            assert_eq!(parse(text).unwrap().to_string(), list, "{text}");
        }
    }

    #[test]
    fn refuses_nonsense() {
        for bad in ["", "0x", "0xg", "0x123456789", "0xf...f", "0xf...f,0x1", "-1", "0x1 "] {
            assert!(parse(bad).is_err(), "{bad}");
        }
        let beyond = format!("0x1{}", ",0x0".repeat(MAX_CPUS / 32));
        assert_eq!(parse(&beyond).unwrap_err().found, "number 8192");
    }

    proptest! {
        #[test]
        fn round_trips(numbers in prop::collection::vec(0usize..MAX_CPUS, 0..64)) {
            let set: CpuSet = numbers.into_iter().collect();
            prop_assert_eq!(parse(&text(&set)).unwrap(), set);
        }

        #[test]
        fn never_panics(text in "[0-9a-fx,.]{0,60}|.{0,30}") {
            let _ = parse(&text);
        }
    }
}
