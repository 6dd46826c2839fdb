//! Commands and what comes of them.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The shipped big-core experiment.
pub const BIG_CORE: &str = include_str!("../../../../experiments/power9-big-core.toml");
/// A log directory of MMTests.
pub const LOG: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../mmtests/tests/fixtures/log");

pub fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_schedscape"));
    command.args(args);
    command
}

pub fn schedscape(args: &[&str]) -> Output {
    command(args).output().expect("the command starts")
}

/// What a command prints that succeeds.
pub fn stdout(args: &[&str]) -> String {
    let out = schedscape(args);
    assert!(out.status.success(), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).expect("UTF-8")
}

/// What a command says that must be refused: exit code 2, one line on stderr, nothing on stdout.
pub fn refused(args: &[&str]) -> String {
    let out = schedscape(args);
    let stderr = String::from_utf8_lossy(&out.stderr).into_owned();
    assert_eq!(out.status.code(), Some(2), "{args:?}: {stderr}");
    assert!(out.stdout.is_empty(), "{args:?}");
    assert_eq!(stderr.trim_end().lines().count(), 1, "{stderr}");
    stderr
}

/// [`refused`], by a command that must leave no file in `dir` but what was there.
pub fn refused_in(dir: &Path, args: &[&str]) -> String {
    let before = files(dir);
    let said = refused(args);
    assert_eq!(files(dir), before, "{args:?}");
    said
}

fn files(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).expect("a directory");
    let mut files: Vec<PathBuf> = entries.map(|e| e.expect("an entry").path()).collect();
    files.sort();
    files
}

/// The big-core experiment with few and short runs.
pub fn small_big_core(runs: u32, seconds: f64) -> String {
    BIG_CORE
        .replace("runs = 100", &format!("runs = {runs}"))
        .replace("seconds = 10", &format!("seconds = {seconds}"))
        .replace("loops_run = 25000", "loops_run = 200")
}
