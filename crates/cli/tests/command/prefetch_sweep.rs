//! `schedscape prefetch-sweep` and what else the command says of the engine.

use crate::shell::schedscape;

#[test]
fn machines_without_the_engine_are_one_line() {
    for (machine, wanted) in
        [("power9-big-core", "constant `l1i_ways` is missing"), ("nowhere", "nowhere")]
    {
        let output = schedscape(&["prefetch-sweep", machine]);
        let error = String::from_utf8(output.stderr).expect("text");
        assert_eq!(output.status.code(), Some(2), "{error}");
        assert!(error.contains(wanted) && error.lines().count() == 1, "{error}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn help_has_examples_and_mechanisms_name_the_study() {
    let help = schedscape(&["prefetch-sweep", "--help"]);
    let help = String::from_utf8(help.stdout).expect("text");
    assert!(help.contains("schedscape prefetch-sweep --output out/sweep"), "{help}");
    let mechanisms = schedscape(&["mechanisms"]);
    let mechanisms = String::from_utf8(mechanisms.stdout).expect("text");
    for wanted in ["l2-prefetch-engine", "l3-prefetch-engine", "on since 3.17, gone in 4.3"] {
        assert!(mechanisms.contains(wanted), "{wanted}: {mechanisms}");
    }
}
