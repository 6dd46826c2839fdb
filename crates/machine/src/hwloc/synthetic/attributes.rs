//! The parentheses of a synthetic string: `(size=32kB indexes=0,2,1,3)`.

use super::level::Attributes;
use crate::error::Fault;
use crate::hwloc::topology::Kind;

/// Reads what stands between the parentheses of a level of type `kind`.
pub(super) fn read(inside: &str, kind: Option<Kind>) -> Result<Attributes, Fault> {
    let cache = matches!(kind, Some(Kind::Cache(..)));
    let size = if cache { "size" } else { "memory" };
    let mut attributes = Attributes::default();
    for word in inside.split(' ').filter(|word| !word.is_empty()) {
        let repeated = match word.split_once('=') {
            Some((name, value)) if name == size => {
                attributes.bytes.replace(bytes(value)?).is_some()
            }
            Some(("indexes", value)) => attributes.indexes.replace(value.to_string()).is_some(),
            Some(("memorysidecachesize", value)) => {
                bytes(value)?;
                std::mem::replace(&mut attributes.memory_side_cache, true)
            }
            _ => {
                let expected = format!("{size}=…, memorysidecachesize=… or indexes=…");
                return Err(Fault::new(format!("`{word}`"), expected));
            }
        };
        if repeated {
            return Err(Fault::new(format!("a second `{word}`"), "each attribute once"));
        }
    }
    Ok(attributes)
}

/// A number as C reads it: decimal, `0x` hexadecimal or, after a `0`, octal.
pub(super) fn number(text: &str) -> Option<u64> {
    let (digits, radix) = match (text.strip_prefix("0x"), text.strip_prefix('0')) {
        (Some(digits), _) => (digits, 16),
        (None, Some(digits)) if !digits.is_empty() => (digits, 8),
        _ => (text, 10),
    };
    let plain = digits.bytes().all(|b| b.is_ascii_alphanumeric());
    plain.then(|| u64::from_str_radix(digits, radix).ok()).flatten()
}

/// Units by name; those without an i are powers of ten.
const UNITS: [(&str, u64); 8] = [
    ("tb", 1_000_000_000_000),
    ("tib", 1 << 40),
    ("gb", 1_000_000_000),
    ("gib", 1 << 30),
    ("mb", 1_000_000),
    ("mib", 1 << 20),
    ("kb", 1_000),
    ("kib", 1 << 10),
];

/// A size in bytes, with or without a unit.
fn bytes(text: &str) -> Result<u64, Fault> {
    let lower = text.to_ascii_lowercase();
    let unit = UNITS.iter().find_map(|(name, unit)| Some((lower.strip_suffix(name)?, *unit)));
    let (digits, unit) = unit.unwrap_or((&lower, 1));
    number(digits)
        .and_then(|n| n.checked_mul(unit))
        .ok_or_else(|| Fault::new(format!("`{text}`"), "a size below 2^64, such as 32KiB or 4GB"))
}
