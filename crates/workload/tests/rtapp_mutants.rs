//! Nothing that can be in a file makes the reader panic, and what it lets through names its place.

use machine::CpuSet;
use proptest::prelude::*;
use std::fs;
use std::path::Path;
use workload::Op;
use workload::rtapp::ast::RtApp;
use workload::rtapp::{
    Costs, Duplicates, Feature, Options, Params, RtAppError, UnknownKeys, build, read,
};

const SEEDS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/rtapp");

fn seed(name: &str) -> String {
    fs::read_to_string(Path::new(SEEDS).join(name)).unwrap()
}

fn read_every_way(text: &str) {
    for duplicates in [Duplicates::InOrder, Duplicates::LastWins] {
        for unknown_keys in [UnknownKeys::Refuse, UnknownKeys::Ignore] {
            let app = read(text, "x", Options { duplicates, unknown_keys });
            if let Ok(app) = &app {
                build_every_way(app);
            }
            if let Err(e) = app {
                let (line, column) = match e {
                    RtAppError::Syntax { line, column, .. } => (line, column),
                    RtAppError::Field { line, column, .. } => (line, column),
                    other => panic!("{other}"),
                };
                let width = text.split('\n').nth(line - 1).map(|l| l.chars().count());
                assert!(width.is_some_and(|width| column <= width + 1), "{line}:{column} {text}");
            }
        }
    }
}

/// Builds refuse, or give programs whose steps and names exist.
fn build_every_way(app: &RtApp) {
    let costs = Costs { nominal_khz: 2e6, online: CpuSet::first_n(4), deadlines: false };
    let ignore = vec![
        Feature::SchedBatch,
        Feature::SchedIdle,
        Feature::SchedRr,
        Feature::SchedFifo,
        Feature::SchedDeadline,
        Feature::Taskgroup,
        Feature::NodesMembind,
        Feature::Mem,
        Feature::Memrun,
        Feature::Iorun,
        Feature::PiEnabled,
    ];
    let all = Params { ignore, duration_s: Some(1.0), ..Params::default() };
    for params in [Params::default(), all] {
        let Ok(built) = build(app, &params, &costs) else { continue };
        let programs = built.workload.programs.len();
        for op in built.workload.programs.iter().flat_map(|p| &p.ops) {
            if let Op::Fork(program) = op {
                assert!(program.index() < programs);
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
