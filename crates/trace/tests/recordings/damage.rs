//! Files that are cut or changed: no panic, and what is before the damage is read.

use crate::{DATS, PERFS, perfetto, plain, read};
use proptest::prelude::*;

#[test]
fn the_records_before_a_cut_are_read() {
    let data = plain(PERFS[2].0);
    let (all, _) = read(&data).expect("a perf.data");
    let mut fewest = all.len();
    // Records are multiples of eight bytes.
    for at in (data.len() / 2..data.len()).step_by(96).map(|at| at | 1) {
        let Ok((some, counts)) = read(&data[..at]) else { continue };
        fewest = fewest.min(some.len());
        assert!(counts.cut);
        let mut all = all.iter();
        let in_order =
            some.iter().all(|event| all.any(|e| e.kind == event.kind && e.at_ns == event.at_ns));
        assert!(in_order, "cut at {at}");
    }
    assert!(fewest < 10, "{fewest} of {}", all.len());
}

#[test]
fn files_without_what_records_need_say_so() {
    let message = |bytes: &[u8]| read(bytes).map(|r| r.1).expect_err("no recording").to_string();
    assert_eq!(
        message(&DATS[0].0[..500]),
        "section: found the end of the file, expected the whole of it"
    );
    let mut unfinished = DATS[0].0.to_vec();
    // Behind the head, the page size and `zstd` with its version.
    unfinished[29..37].fill(0);
    assert!(message(&unfinished).contains("cut off"), "{}", message(&unfinished));
    assert!(message(b"PERFILE2").contains("size of the head: found the end of the file"));
    assert!(message(b"\x17\x08\x44tracing5\0").contains("found the end of the file"));
    assert!(
        message(b"\x17\x08\x44tracing5\0\0\x08\0\x10\0\0")
            .contains("version: found 5, expected 6 or 7")
    );
}

#[test]
fn a_killed_perf_leaves_no_formats() {
    let message = |bytes: &[u8]| read(bytes).map(|r| r.1).expect_err("no recording").to_string();
    let expected = "expected a recording that ctrl-C or SIGTERM ended, or one of `perf record -o - >FILE`, which begins with them";
    // The size of records is 0 until perf ends; what features there will be stands in the head from the beginning.
    let mut killed = plain(PERFS[0].0);
    killed[48..56].fill(0);
    let found = "found none: perf was killed before it wrote them";
    assert_eq!(message(&killed), format!("formats of events: {found}, {expected}"));
    // Bit 1 of the features: HEADER_TRACING_DATA.
    let mut without = plain(PERFS[0].0);
    without[72] &= !2;
    assert_eq!(message(&without), format!("formats of events: found none, {expected}"));
    // A pipe has them at the beginning, and nothing at the end.
    let pipe = plain(PERFS[2].0);
    let (events, counts) =
        read(&pipe[..pipe.len() - 4]).expect("what perf wrote before it was killed");
    assert!(counts.cut && !events.is_empty());
}

fn files() -> impl Strategy<Value = Vec<u8>> {
    let mut files = vec![
        DATS[0].0.to_vec(),
        DATS[1].0.to_vec(),
        plain(PERFS[0].0),
        plain(PERFS[1].0),
        plain(PERFS[2].0),
    ];
    files.extend(perfetto::recordings());
    prop::sample::select(files)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn no_cut_makes_a_reader_panic(file in files(), at in any::<prop::sample::Index>()) {
        let _ = read(&file[..at.index(file.len())]);
    }

    #[test]
    fn no_changes_make_a_reader_panic(
        mut file in files(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20),
    ) {
        for (at, byte) in changes {
            let at = at.index(file.len());
            file[at] = byte;
        }
        let _ = read(&file);
    }
}
