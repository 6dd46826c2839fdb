use super::*;
use proptest::prelude::*;

fn series(benchmark: &str, name: &str, text: &str) -> Vec<Series> {
    read_file(benchmark, name, text.as_bytes()).unwrap()
}

fn message(benchmark: &str, name: &str, bytes: &[u8]) -> String {
    read_file(benchmark, name, bytes).unwrap_err().to_string()
}

#[test]
fn times_may_have_hours() {
    let line = "4711.03user 242.22system 1:08:31.07elapsed 969%CPU (0avgtext)\n";
    let all = series("gitsource", "time-_-1", line);
    let samples: Vec<f64> = all.iter().map(|s| s.samples[0]).collect();
    assert_eq!(samples, [4111.07, 242.22, 4711.03]);
    assert_eq!(all[0].label.to_string(), "");
    let all = series("kernbench", "kernbench-8-2.time", "1.0user 2.0system 3.5elapsed 85%CPU\n");
    assert_eq!((all[0].samples[0], all[0].label.to_string().as_str()), (3.5, "8"));
}

#[test]
fn schbench_samples_end_with_their_interval() {
    let log = "\
Wakeup Latencies percentiles (usec) runtime 10 (s) (10 total samples)
\t  50.0th: 6          (5 samples)
\t* 99.0th: 19         (4 samples)
\t  99.5th: 20         (4 samples)
current rps: 10.00
Wakeup Latencies percentiles (usec) runtime 10 (s) (20 total samples)
\t  50.0th: 7          (5 samples)
average rps: 10.00
";
    let all = series("schbench", "schbench-4.log", log);
    let found: Vec<(String, &[f64])> =
        all.iter().map(|s| (s.label.to_string(), &s.samples[..])).collect();
    assert_eq!(found, [("50.0th-4".into(), &[6.0][..]), ("99.0th-4".into(), &[19.0][..])]);
}

#[test]
fn bad_lines_are_named() {
    let expected = "hackbench-4:2: found `soon`, expected `Total time: SECONDS [sec]`";
    let text = b"# Running\n  Total time: soon [sec]\n";
    assert_eq!(message("hackbench-process-pipes", "hackbench-4", text), expected);
    assert!(
        message("hackbench", "hackbench-4", b"Total time: -1 [sec]").contains(":1: found `-1`")
    );
    assert!(message("hackbench", "hackbench-4", b"Total time:").contains("found `Total time:`"));
    let text = b"1.0user 2.0system 1:2:3:4elapsed\n";
    assert!(message("gitsource", "time", text).starts_with("time:1: found `1:2:3:4`"));
    assert!(message("gitsource", "time", b"2.0system 1elapsed").contains("expected GNU time's"));
    let text = b"  50.0th: 3 (1 samples)\n";
    assert!(message("schbench", "schbench-1.log", text).contains("expected a percentile below"));
    let text = b"Sleep Latencies percentiles\n";
    assert!(message("schbench", "schbench-1.log", text).contains("Wakeup, Request or RPS"));
    let text = b"  0 completed in a while\n";
    assert!(message("dbench", "benchlog-loadfile-1", text).contains(":1: found `a`"));
    assert_eq!(
        message("hackbench", "hackbench-1", b"fine\n\xff\n"),
        "hackbench-1:2: found bytes that are no UTF-8, expected text"
    );
}

#[test]
fn packed_logs_must_be_packed() {
    for (name, form) in [("benchlog-tput-1.xz", "xz"), ("benchlog-tput-1.gz", "gzip")] {
        let message = message("dbench", name, b"plain text");
        assert!(message.starts_with(&format!("{name}: found ")), "{message}");
        assert!(message.ends_with(&format!("expected a log packed with {form}")), "{message}");
    }
}

#[test]
fn later_forms_win_over_what_they_were_split_from() {
    let stems = |names: &[&str]| names.iter().map(|n| n.to_string()).collect::<Vec<_>>();
    let chosen = |names: &[&str]| -> Vec<String> {
        layout::readers(Family::Dbench, &stems(names)).into_iter().map(|(stem, _)| stem).collect()
    };
    let all = ["benchlog-op-1", "benchlog-tput-1", "dbench-1.log", "dbench-loadfile-1.log"];
    assert_eq!(chosen(&all), ["benchlog-tput-1"]);
    assert_eq!(chosen(&all[2..]), ["dbench-loadfile-1.log"]);
    assert_eq!(chosen(&all[2..3]), ["dbench-1.log"]);
}

#[test]
fn runs_must_be_there() {
    let dir = tempfile::tempdir().unwrap();
    let run = |name: &str| read(dir.path(), &[name.to_string()]).unwrap_err().to_string();
    assert!(run("absent").contains("absent: found"), "{}", run("absent"));
    std::fs::create_dir_all(dir.path().join("empty/other")).unwrap();
    assert!(run("empty").ends_with("found no iteration, expected directories iter-0, iter-1, ..."));
    std::fs::create_dir_all(dir.path().join("idle/iter-0/stream/logs")).unwrap();
    let idle = run("idle");
    assert!(idle.contains("found logs of stream only, expected logs of hackbench, "), "{idle}");
}

proptest! {
    #[test]
    fn any_bytes_give_samples_or_one_line(
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        text in "(Total time: |completed in |execute |/sec |elapsed|user |1:|[0-9. \n]){0,30}",
    ) {
        let logs = [
            ("hackbench", "hackbench-1"), ("dbench", "benchlog-loadfile-1"), ("dbench4", "dbench-1.log"),
            ("tbench", "tbench-execute-1.log"), ("kernbench", "time-1-1"), ("gitsource", "time"),
            ("schbench", "schbench-1.log"), ("dbench", "benchlog-tput-1.xz"), ("dbench", "benchlog-tput-1.gz"),
        ];
        for (benchmark, name) in logs {
            for input in [&bytes[..], text.as_bytes()] {
                match read_file(benchmark, name, input) {
                    Ok(all) => prop_assert!(
                        all.iter().all(|s| s.samples.iter().all(|v| v.is_finite() && *v >= 0.0))
                    ),
                    Err(e) => prop_assert_eq!(e.to_string().lines().count(), 1),
                }
            }
        }
    }
}
