//! Nothing that can be in a file makes the reader panic, and what it lets through names its place.

use proptest::prelude::*;
use std::fs;
use std::path::Path;
use workload::rtapp::{Duplicates, Options, RtAppError, UnknownKeys, read};

const SEEDS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/rtapp");

fn seed(name: &str) -> String {
    fs::read_to_string(Path::new(SEEDS).join(name)).unwrap()
}

fn read_every_way(text: &str) {
    for duplicates in [Duplicates::InOrder, Duplicates::LastWins] {
        for unknown_keys in [UnknownKeys::Refuse, UnknownKeys::Ignore] {
            if let Err(e) = read(text, "x", Options { duplicates, unknown_keys }) {
                let (line, column) = match e {
                    RtAppError::Syntax { line, column, .. } => (line, column),
                    RtAppError::Field { line, column, .. } => (line, column),
                };
                let width = text.split('\n').nth(line - 1).map(|l| l.chars().count());
                assert!(width.is_some_and(|width| column <= width + 1), "{line}:{column} {text}");
            }
        }
    }
}

/// Pieces of the grammar, to be put anywhere.
const PIECES: [&str; 18] = [
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "\"run\"",
    "\"suspend\",",
    "\"loop\": -1",
    "null",
    "true",
    "-1",
    "1e9",
    "99999999999",
    "/*",
    "//",
    "\u{e4}",
];

#[test]
fn the_seeds_are_good() {
    for name in ["grammar.json", "small.json"] {
        read(&seed(name), name, Options::default()).unwrap();
    }
}

proptest! {
    #[test]
    fn any_text(text in "\\PC{0,200}") {
        read_every_way(&text);
    }

    #[test]
    fn any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        read_every_way(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn pieces(pieces in proptest::collection::vec(proptest::sample::select(&PIECES[..]), 0..40)) {
        read_every_way(&pieces.concat());
    }

    #[test]
    fn changed_files(
        changes in proptest::collection::vec(
            (any::<proptest::sample::Index>(), 0usize..20, proptest::sample::select(&PIECES[..])),
            1..6,
        ),
    ) {
        let mut text: Vec<char> = seed("grammar.json").chars().collect();
        for (at, removed, piece) in changes {
            let at = at.index(text.len() + 1);
            let end = (at + removed).min(text.len());
            text.splice(at..end, piece.chars());
        }
        read_every_way(&text.into_iter().collect::<String>());
    }

    #[test]
    fn cut_files(at in any::<proptest::sample::Index>()) {
        let text = seed("grammar.json");
        if let Some(cut) = text.get(..at.index(text.len())) {
            read_every_way(cut);
        }
    }
}
