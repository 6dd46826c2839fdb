//! Symbols that objects want and nothing has: what stands in for each, from a list with reasons.
//!
//! Without the list a function would be called that does nothing, and a wrong result would look like a right one. So a
//! function that is not listed stops the run when it is called, a variable that is not listed stops the build, and so does a
//! listed one that is used as the other kind.

use crate::TreeError;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

/// What stands in for a symbol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    /// A function that does nothing and returns 0.
    Nothing,
    /// A function that returns 1.
    One,
    /// A variable of zeros.
    Data,
    /// A function whose address is kept; calling it stops the run.
    Trap,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    kind: Kind,
    why: String,
    bytes: Option<u32>,
    names: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    symbol: Vec<Entry>,
}

/// How objects use a symbol that they do not define.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Use {
    /// Something calls it.
    pub(crate) called: bool,
    /// Code takes its address or reads it. Tables of functions do not count.
    pub(crate) addressed: bool,
}

/// C code that defines what `wanted` lacks and neither `elsewhere` nor the C library has.
///
/// # Errors
/// Variables that the list does not have, and what it has as another kind than it is used.
pub(crate) fn stand_ins(
    list: &str,
    wanted: &BTreeMap<String, Use>,
    elsewhere: &BTreeSet<&str>,
) -> Result<String, TreeError> {
    let list: List = toml::from_str(list).map_err(|e| TreeError::Symbols(e.to_string()))?;
    let mut known = BTreeMap::new();
    for entry in &list.symbol {
        debug_assert!(!entry.why.is_empty());
        entry.names.iter().for_each(|name| {
            known.insert(name.as_str(), entry);
        });
    }
    let mut text = "extern void sc_trap(const char *name);\n".to_string();
    let mut wrong = Vec::new();
    for (name, used) in wanted.iter().filter(|(name, _)| !elsewhere.contains(name.as_str())) {
        match (known.get(name.as_str()).map(|e| (e.kind, e.bytes)), used) {
            (Some((Kind::Data, _)), Use { called: true, .. }) => {
                wrong.push(format!("{name} (listed as data, but called)"));
            }
            (Some((Kind::Data, bytes)), _) => {
                let bytes = bytes.unwrap_or(4096);
                text += &format!("char {name}[{bytes}] __attribute__((aligned(4096)));\n");
            }
            (Some((Kind::Nothing, _)), _) => {
                text += &format!("long {name}(void) {{ return 0; }}\n")
            }
            (Some((Kind::One, _)), _) => text += &format!("long {name}(void) {{ return 1; }}\n"),
            (None, Use { called: false, addressed: true }) => wrong.push(name.clone()),
            (Some((Kind::Trap, _)) | None, _) => {
                text += &format!("long {name}(void) {{ sc_trap(\"{name}\"); return 0; }}\n");
            }
        }
    }
    match wrong.is_empty() {
        true => Ok(text),
        false => Err(TreeError::Symbols(wrong.join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = "[[symbol]]\nkind = \"nothing\"\nwhy = \"w\"\nnames = [\"none\"]\n\
                        [[symbol]]\nkind = \"data\"\nwhy = \"w\"\nbytes = 8\nnames = [\"eight\"]\n";

    fn text(wanted: &[(&str, bool, bool)]) -> Result<String, TreeError> {
        let uses = wanted
            .iter()
            .map(|&(name, called, addressed)| (name.to_string(), Use { called, addressed }));
        stand_ins(LIST, &uses.collect(), &BTreeSet::from(["memcpy"]))
    }

    #[test]
    fn each_symbol_gets_what_the_list_says_and_unknown_functions_a_trap() {
        let text = text(&[
            ("none", true, false),
            ("eight", false, true),
            ("other", true, true),
            ("memcpy", true, false),
        ]);
        let text = text.unwrap();
        assert!(text.contains("long none(void) { return 0; }"), "{text}");
        assert!(text.contains("char eight[8]"), "{text}");
        assert!(text.contains("sc_trap(\"other\")"), "{text}");
        assert!(!text.contains("memcpy"), "{text}");
    }

    #[test]
    fn a_variable_that_nobody_listed_stops_the_build() {
        let error = text(&[("counter", false, true)]).unwrap_err().to_string();
        assert_eq!(error, "nobody provides counter");
        let error = text(&[("eight", true, false)]).unwrap_err().to_string();
        assert!(error.contains("eight (listed as data, but called)"), "{error}");
        // A function in a table of operations is only an address.
        assert!(text(&[("seq_read", false, false)]).unwrap().contains("sc_trap(\"seq_read\")"));
    }

    #[test]
    fn the_shipped_list_is_good() {
        assert!(stand_ins(crate::arch::SYMBOLS, &BTreeMap::new(), &BTreeSet::new()).is_ok());
    }
}
