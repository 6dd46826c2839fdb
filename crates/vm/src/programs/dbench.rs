//! dbench and tbench, which play a recorded load.
//!
//! Debian's dbench 4.0 takes whole seconds, warms up for a fifth of them, and says its throughput once a second but not
//! at the end, so that it measures a second less than it runs.

use super::{FILES, FileSource, MANY_FILES, Numbering, Output, Program, SCRATCH};
use workload::{dbench, tbench};

/// The load in the package.
const LOAD: &str = "usr/share/dbench/client.txt";
/// The load in a guest.
const GUEST_LOAD: &str = "run/load.txt";
/// The part of it that makes the files, and the part that MMTests' dbench plays.
const SETUP: (usize, usize) = (1, 600);
const PASS: (usize, usize) = (601, 4173);
/// Bytes that a client reads and writes in that part, as counted in it.
const PASS_BYTES: f64 = 19_119_736.0;
/// Turns the first part into shell commands that leave the same directories and files.
const SETUP_SCRIPT: &str = include_str!("dbench/setup.awk");
/// The port of tbench_srv, 7003, where it listens, as `/proc/net/tcp` has it.
const LISTENING: &str = ":1B5B 00000000:0000 0A";

/// Seconds for `-t`, and what differs from the experiment.
fn time(seconds: f64, warmup_s: f64) -> (u64, Vec<String>) {
    let measured = seconds.ceil().max(1.0) as u64;
    let run = measured + 1;
    let mut notes = Vec::new();
    if measured as f64 != seconds {
        notes.push(format!("measured for {measured} s, as dbench takes whole seconds"));
    }
    if (run / 5) as f64 != warmup_s {
        notes.push(format!("warmed up for {} s, as dbench's own rule is", run / 5));
    }
    (run, notes)
}

pub(super) fn dbench(params: &dbench::Params, numbers: Numbering<'_>) -> Program {
    let dbench::Params { clients, parts_run, warmup_s, seconds, cpus } = params;
    let (run, mut notes) = time(*seconds, *warmup_s);
    if *parts_run != dbench::PARTS {
        notes.push("whole passes are run, whatever parts_run says".to_owned());
    }
    let play = numbers
        .bound(cpus.clone(), &format!("dbench -t {run} -c {FILES}/{GUEST_LOAD} -D . {clients}\n"));
    let part = |lines| FileSource::Package { path: LOAD, lines: Some(lines) };
    Program {
        packages: vec!["dbench"],
        programs: vec!["usr/bin/dbench"],
        files: vec![
            ("run/setup.txt".to_owned(), part(SETUP)),
            ("run/setup.awk".to_owned(), FileSource::Text(SETUP_SCRIPT.to_owned())),
            (GUEST_LOAD.to_owned(), part(PASS)),
        ],
        command: format!(
            "mkdir -p {SCRATCH}/dbench && cd {SCRATCH}/dbench || exit 1\n\
             awk -f {FILES}/run/setup.awk {FILES}/run/setup.txt > setup.sh || exit 1\n\
             client=0\n\
             while [ $client -lt {clients} ]; do\n\
             \x20   sed \"s/client1/client$client/g\" setup.sh | sh -e || exit 1\n\
             \x20   client=$((client + 1))\n\
             done\n\
             {play}"
        ),
        output: Output::Pass {
            name: dbench::PASS_MS,
            megabytes: f64::from(*clients) * PASS_BYTES / 1e6,
        },
        notes,
        guest_notes: vec!["files are in memory: fsync waits for no drive".to_owned()],
    }
}

pub(super) fn tbench(params: &tbench::Params, numbers: Numbering<'_>) -> Program {
    let tbench::Params { clients, warmup_s, seconds, cpus } = params;
    let (run, notes) = time(*seconds, *warmup_s);
    let serve = numbers.bound(cpus.clone(), "tbench_srv");
    let play = numbers.bound(
        cpus.clone(),
        &format!("tbench -t {run} -c {FILES}/{GUEST_LOAD} {clients} 127.0.0.1"),
    );
    Program {
        packages: vec!["dbench"],
        programs: vec!["usr/bin/tbench", "usr/bin/tbench_srv"],
        files: vec![(GUEST_LOAD.to_owned(), FileSource::Package { path: LOAD, lines: None })],
        command: format!(
            "{MANY_FILES}\
             {serve} > /dev/null &\n\
             until grep -q '{LISTENING}' /proc/net/tcp; do\n\
             \x20   kill -0 $! || exit 1\n\
             \x20   sleep 0.1\n\
             done\n\
             {play}\n\
             status=$?\n\
             kill $!\n\
             exit $status\n"
        ),
        output: Output::Throughput { name: tbench::MB_PER_S },
        notes,
        guest_notes: Vec::new(),
    }
}
