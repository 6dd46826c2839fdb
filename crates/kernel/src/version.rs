//! Kernel versions.

use crate::KernelError;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A mainline release, `major.minor`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Version {
    /// 6 of 6.12.
    pub major: u16,
    /// 12 of 6.12.
    pub minor: u16,
}

impl Version {
    /// The oldest version whose rules are modelled.
    pub const OLDEST: Version = Version::new(4, 18);

    /// `major.minor`.
    pub const fn new(major: u16, minor: u16) -> Version {
        Version { major, minor }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}.{}", self.major, self.minor))
    }
}

impl FromStr for Version {
    type Err = KernelError;

    /// Reads `6.12`, and also a whole release string (`6.12.57+deb13-powerpc64le`, `4.18.0-rc7`), whose
    /// rest is ignored.
    fn from_str(text: &str) -> Result<Version, KernelError> {
        let bad = || KernelError::Version { found: text.to_string() };
        let (major, rest) = text.split_once('.').ok_or_else(bad)?;
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let plain = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
        if !plain(major) || !matches!(rest.as_bytes().get(digits), None | Some(b'.' | b'-' | b'+'))
        {
            return Err(bad());
        }
        let version = Version::new(
            major.parse().map_err(|_| bad())?,
            rest[..digits].parse().map_err(|_| bad())?,
        );
        if version < Version::OLDEST {
            return Err(KernelError::TooOld { found: version, oldest: Version::OLDEST });
        }
        Ok(version)
    }
}

impl TryFrom<String> for Version {
    type Error = KernelError;
    fn try_from(text: String) -> Result<Version, KernelError> {
        text.parse()
    }
}

impl From<Version> for String {
    fn from(version: Version) -> String {
        version.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_releases_and_orders_them() {
        assert_eq!("6.12.57+deb13".parse(), Ok(Version::new(6, 12)));
        assert_eq!("4.18-rc7".parse(), Ok(Version::new(4, 18)));
        assert!(Version::new(5, 9) < Version::new(5, 16));
        for bad in ["6", "6.", ".1", "6.x", "6.12a", "+6.1", "99999999.1", ""] {
            assert!(matches!(bad.parse::<Version>(), Err(KernelError::Version { .. })), "{bad}");
        }
        assert!(matches!("2.6".parse::<Version>(), Err(KernelError::TooOld { .. })));
    }
}
