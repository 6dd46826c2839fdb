//! On which nodes memory lies, in the words of `numactl` and `set_mempolicy`.

use machine::CpuSet;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// Numbers of nodes, from 0 to 63.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Nodes(u64);

impl Nodes {
    /// All that a machine has.
    pub const ALL: Nodes = Nodes(u64::MAX);

    /// One node.
    pub fn single(node: u32) -> Nodes {
        Nodes(1u64.checked_shl(node).unwrap_or(0))
    }

    /// Whether `node` is one of them.
    pub fn contains(self, node: u32) -> bool {
        self == Nodes::ALL || Nodes::single(node).0 & self.0 != 0
    }

    /// Their numbers in order.
    pub fn iter(self) -> impl Iterator<Item = u32> {
        (0..64).filter(move |&node| Nodes::single(node).0 & self.0 != 0)
    }

    fn parse(list: &str) -> Option<Nodes> {
        let set: CpuSet = list.parse().ok().filter(|set: &CpuSet| !set.is_empty())?;
        let known = set.iter().all(|node| node < 64);
        known.then(|| Nodes(set.iter().fold(0, |all, node| all | 1 << node)))
    }
}

impl fmt::Display for Nodes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let set: CpuSet = self.iter().map(|node| node as usize).collect();
        set.fmt(f)
    }
}

/// Where a page goes that is touched for the first time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Placement {
    /// To the node of the CPU that touches it (`MPOL_DEFAULT`).
    #[default]
    Default,
    /// To these nodes in turn (`MPOL_INTERLEAVE`).
    Interleave(Nodes),
    /// To the nearest of these nodes (`MPOL_BIND`).
    Bind(Nodes),
}

impl Placement {
    /// The nodes that it names; all of the machine's where it leaves them open.
    pub fn nodes(self) -> Nodes {
        match self {
            Placement::Default => Nodes::ALL,
            Placement::Interleave(nodes) | Placement::Bind(nodes) => nodes,
        }
    }

    /// Whether it is what a process has that asks for nothing.
    pub fn is_default(&self) -> bool {
        *self == Placement::Default
    }
}

impl fmt::Display for Placement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Placement::Default => f.write_str("default"),
            Placement::Interleave(Nodes::ALL) => f.write_str("interleave"),
            Placement::Interleave(nodes) => write!(f, "interleave {nodes}"),
            Placement::Bind(nodes) => write!(f, "bind {nodes}"),
        }
    }
}

impl Serialize for Placement {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap;
        let (word, nodes) = match self {
            Placement::Default => return serializer.serialize_str("default"),
            Placement::Interleave(Nodes::ALL) => return serializer.serialize_str("interleave"),
            Placement::Interleave(nodes) => ("interleave", nodes),
            Placement::Bind(nodes) => ("bind", nodes),
        };
        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry(word, &nodes.to_string())?;
        map.end()
    }
}

/// What a file may say.
const EXPECTED: &str =
    "\"default\", \"interleave\", { interleave = \"NODES\" } or { bind = \"NODES\" }";

struct Written;

impl<'de> Visitor<'de> for Written {
    type Value = Placement;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(EXPECTED)
    }

    fn visit_str<E: Error>(self, word: &str) -> Result<Placement, E> {
        match word {
            "default" => Ok(Placement::Default),
            "interleave" => Ok(Placement::Interleave(Nodes::ALL)),
            _ => Err(E::custom(format!("placement: found `{word}`, expected {EXPECTED}"))),
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Placement, A::Error> {
        let mut found = None;
        while let Some((word, list)) = map.next_entry::<String, String>()? {
            let wrong = |what: &str| {
                A::Error::custom(format!("placement: found {what}, expected {EXPECTED}"))
            };
            let nodes = Nodes::parse(&list).ok_or_else(|| {
                A::Error::custom(format!(
                    "placement: {word}: found `{list}`, expected a list of nodes from 0 to 63"
                ))
            })?;
            if found.is_some() {
                return Err(wrong("several"));
            }
            found = Some(match word.as_str() {
                "interleave" => Placement::Interleave(nodes),
                "bind" => Placement::Bind(nodes),
                other => return Err(wrong(&format!("`{other}`"))),
            });
        }
        found.ok_or_else(|| {
            A::Error::custom(format!("placement: found nothing, expected {EXPECTED}"))
        })
    }
}

impl<'de> Deserialize<'de> for Placement {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Placement, D::Error> {
        deserializer.deserialize_any(Written)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Holder {
        placement: Placement,
    }

    fn read(text: &str) -> Result<Placement, String> {
        let holder: Result<Holder, _> = serde_json::from_str(&format!("{{\"placement\": {text}}}"));
        holder.map(|h| h.placement).map_err(|e| e.to_string())
    }

    #[test]
    fn what_is_written_comes_back() {
        for (text, expected) in [
            ("\"default\"", Placement::Default),
            ("\"interleave\"", Placement::Interleave(Nodes::ALL)),
            (r#"{"interleave": "0-1,4"}"#, Placement::Interleave(Nodes(0b1_0011))),
            (r#"{"bind": "1"}"#, Placement::Bind(Nodes::single(1))),
        ] {
            assert_eq!(read(text).as_ref(), Ok(&expected), "{text}");
            let again = serde_json::to_string(&expected).expect("it can be written");
            assert_eq!(read(&again).as_ref(), Ok(&expected), "{again}");
        }
    }

    #[test]
    fn what_cannot_be_is_one_line() {
        let wrong = |text: &str| read(text).expect_err("refused");
        assert!(wrong("\"preferred\"").starts_with("placement: found `preferred`, expected"));
        assert!(wrong(r#"{"preferred": "1"}"#).starts_with("placement: found `preferred`"));
        assert_eq!(
            wrong(r#"{"bind": "64"}"#),
            "placement: bind: found `64`, expected a list of nodes from 0 to 63 at line 1 column 28"
        );
        assert!(wrong(r#"{"bind": "0", "interleave": "1"}"#).contains("found several"));
        assert!(wrong("1").contains("interleave"));
    }
}
