//! Commands of this computer.

use super::*;

fn launch(script: &str) -> Launch {
    Launch {
        argv: ["sh", "-c", script].map(OsString::from).to_vec(),
        directory: "/".into(),
        timeout: Duration::from_secs(20),
        ..Launch::default()
    }
}

fn run(launch: &Launch) -> Result<Ended, HostError> {
    let work = tempfile::tempdir().unwrap();
    launch.run(work.path(), &Counters::none(), &AtomicBool::new(false), &mut |_| Ok(()))
}

#[test]
fn a_command_is_timed_and_its_output_kept() {
    let mut wanted =
        launch("pwd; echo $A >&2; i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done; exit 3");
    wanted.env.insert("A".into(), "b c".into());
    let ended = run(&wanted).unwrap();
    assert_eq!((ended.stdout.as_str(), ended.stderr.as_str()), ("/\n", "b c\n"));
    assert_eq!((ended.code, ended.is_late), (Some(3), false));
    assert!(ended.user > Duration::ZERO && ended.wall >= ended.user / 2, "{ended:?}");
    assert_eq!(ended.failure(3), None);
    assert_eq!(ended.failure(0).unwrap(), "exit code 3, expected 0: b c");
}

#[test]
fn what_was_asked_for_is_read_back() {
    let mut wanted = launch("taskset -cp $$ | sed 's/.*: //'; ps -o ni= -p $$");
    wanted.cpus = Some("0".parse().unwrap());
    wanted.nice = Some(7);
    wanted.policy = Some(("batch", 0));
    let ended = run(&wanted).unwrap();
    assert!(ended.stdout.starts_with("0\n"), "{ended:?}");
    wanted.cpus = Some("4000".parse().unwrap());
    let error = run(&wanted).unwrap_err().to_string();
    assert!(error.starts_with("sh: taskset: failed to set"), "{error}");
}

#[test]
fn a_command_that_hangs_is_ended_with_all_it_started() {
    let mut wanted = launch("sleep 100 & sleep 100");
    wanted.timeout = Duration::from_millis(200);
    let ended = run(&wanted).unwrap();
    assert!(ended.is_late && ended.wall < Duration::from_secs(30), "{ended:?}");
    assert!(ended.failure(0).unwrap().starts_with("still running after "));
}

#[test]
fn a_command_that_crashes_says_so() {
    let ended = run(&launch("kill -SEGV $$")).unwrap();
    assert_eq!(ended.failure(0).unwrap(), "ended by signal 11");
    let mut missing = launch("");
    missing.argv = vec!["/no/such/program".into()];
    let ended = run(&missing).unwrap();
    assert!(ended.failure(0).unwrap().starts_with("exit code 127"), "{ended:?}");
}

#[test]
fn a_stop_ends_it() {
    let work = tempfile::tempdir().unwrap();
    let stop = AtomicBool::new(true);
    let ended = launch("sleep 100").run(work.path(), &Counters::none(), &stop, &mut |_| Ok(()));
    assert!(matches!(ended, Err(HostError::Interrupted)), "{ended:?}");
}

#[test]
fn who_hears_of_it_first_may_refuse() {
    let work = tempfile::tempdir().unwrap();
    let refuse: Begun = &mut |_| Err(HostError::Scheduler("no".to_owned()));
    let ended = launch("echo no > stdout").run(
        work.path(),
        &Counters::none(),
        &AtomicBool::new(false),
        refuse,
    );
    assert!(matches!(ended, Err(HostError::Scheduler(_))));
    assert!(!work.path().join("stdout").exists(), "it did not begin");
}

#[test]
fn what_takes_root_is_refused_before_it_starts() {
    let user = Allowed { nice: 0, all: false, lowest_nice: 20, priority: 0 };
    let refused = |launch: &Launch, own| launch.allowed(own).err().map(|e| e.to_string());
    let nice = Launch { nice: Some(-5), ..Launch::default() };
    assert_eq!(
        refused(&nice, user).as_deref(),
        Some("host.nice: found -5, expected at least 0, or root")
    );
    assert_eq!(refused(&nice, Allowed { lowest_nice: -10, ..user }), None);
    assert_eq!(refused(&nice, Allowed { all: true, ..user }), None);
    let fifo = Launch { policy: Some(("fifo", 7)), ..Launch::default() };
    assert_eq!(
        refused(&fifo, user).as_deref(),
        Some("host.policy: found fifo with priority 7, expected at most 0 (ulimit -r), or root")
    );
    assert_eq!(refused(&fifo, Allowed { priority: 7, ..user }), None);
    let batch = Launch { nice: Some(5), policy: Some(("batch", 0)), ..Launch::default() };
    assert_eq!(refused(&batch, user), None);
}
