//! `schedscape inspect` as a user meets it.

use crate::shell::{refused_in, stdout};

/// A recording of a real kernel in a guest of four CPUs.
const TRACE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../trace/tests/recordings/trace-7.2.dat");
const MACHINE: [&str; 2] = ["--machine", "synthetic:l3:2 core:2 pu:1"];

fn inspect(more: &[&str]) -> String {
    stdout(&[&["inspect", TRACE], &MACHINE[..], more].concat())
}

#[test]
fn a_page_and_tables_are_the_same_each_time_and_lists_of_tables_are_whole() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let at = |name: &str| dir.path().join(name).display().to_string();
    let text = inspect(&["--most", "2", "--html", &at("a.html"), "--out", &at("a")]);
    assert!(text.contains("395 events of 4 CPUs, on synthetic\n"), "{text}");
    // The first line has the path.
    assert!(text.lines().skip(1).all(|line| line.chars().count() <= 100), "{text}");
    inspect(&["--html", &at("b.html"), "--out", &at("b"), "--json"]);
    inspect(&["--html", &at("c.html")]);
    let read = |name: &str| std::fs::read(dir.path().join(name)).expect("a file");
    assert_eq!(read("b.html"), read("c.html"));
    let page = String::from_utf8(read("a.html")).expect("UTF-8");
    assert!(page.contains("<h1>trace-7.2.dat</h1>") && !page.contains(env!("CARGO_MANIFEST_DIR")));
    for entry in std::fs::read_dir(dir.path().join("a")).expect("a directory") {
        let name = entry.expect("a file").file_name().to_string_lossy().into_owned();
        let of = |dir: &str| read(&format!("{dir}/{name}"));
        assert!(name.ends_with(".parquet") && of("a") == of("b"), "{name}");
    }
}

#[test]
fn a_judgement_is_on_the_page() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let html = dir.path().join("judged.html").display().to_string();
    let machine = ["--machine", "kunpeng920-1node"];
    let rule = ["--kernel", "6.12", "--rule", "kernel=6.6", "--html", &html];
    let text = stdout(&[&["inspect", TRACE], &machine[..], &rule].concat());
    let page = std::fs::read_to_string(&html).expect("a page");
    for wanted in
        ["Wake-ups beside the model of 6.12", "determined by the trace", "Under kernel=6.6, "]
    {
        assert!(text.contains(wanted) && page.contains(wanted), "{wanted}: {text}");
    }
}

#[test]
fn what_cannot_be_written_leaves_nothing_behind() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let at = |name: &str| dir.path().join(name).display().to_string();
    std::fs::write(at("file"), "x").expect("a file");
    std::fs::create_dir(at("dir")).expect("a directory");
    std::fs::write(at("bad.txt"), "hello\n").expect("a file");
    let refused = |trace: &str, more: &[&str]| {
        refused_in(dir.path(), &[&["inspect", trace], &MACHINE[..], more].concat())
    };
    let (html, out) = (at("new.html"), at("new"));
    let both = ["--html", &html, "--out", &out];
    for (said, error) in [
        ("dir: directory: found one that exists", refused(TRACE, &["--out", &at("dir")])),
        ("file: directory: found one that exists", refused(TRACE, &["--out", &at("file")])),
        ("file/x: ", refused(TRACE, &["--out", &at("file/x")])),
        (
            "file/x: ",
            refused(TRACE, &["--html", &html, "--dot", &at("new.dot"), "--out", &at("file/x")]),
        ),
        ("no/x.dot: ", refused(TRACE, &["--html", &html, "--dot", &at("no/x.dot"), "--out", &out])),
        ("expected a file that can be written", refused(TRACE, &["--html", &at("no/x.html")])),
        ("dir: found something that is no regular file", refused(TRACE, &["--html", &at("dir")])),
        ("bad.txt: line 1: record: found", refused(&at("bad.txt"), &both)),
        ("none.dat: ", refused(&at("none.dat"), &both)),
        (
            "trace: found CPU 2, expected a machine of 2 CPUs",
            refused_in(
                dir.path(),
                &[&["inspect", TRACE, "--machine", "synthetic:core:2 pu:1"], &both[..]].concat(),
            ),
        ),
    ] {
        assert!(error.contains(said), "{said}: {error}");
    }
}
