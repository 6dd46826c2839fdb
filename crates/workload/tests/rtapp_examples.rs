//! rt-app's own examples.

use std::fs;
use std::path::{Path, PathBuf};
use workload::rtapp::ast::{Action, RtApp};
use workload::rtapp::{Duplicates, Options, read};

const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/rt-app/examples");

/// Files below `dir`, those of `merge` left out; `None` (and a line saying so) where there are none at all.
fn examples() -> Option<Vec<PathBuf>> {
    if !Path::new(EXAMPLES).is_dir() {
        assert!(std::env::var("CI").as_deref() != Ok("true"), "no examples in {EXAMPLES}");
        println!("skipped: no ../shared");
        return None;
    }
    let mut files = json_files(Path::new(EXAMPLES));
    for dir in ["tutorial", "cpufreq_governor_efficiency"] {
        files.extend(json_files(&Path::new(EXAMPLES).join(dir)));
    }
    Some(files)
}

fn json_files(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).unwrap_or_else(|e| panic!("{}: {e}", dir.display()));
    let mut files: Vec<PathBuf> = entries.map(|e| e.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|e| e == "json"));
    files.sort();
    files
}

fn load(path: &Path, options: Options) -> RtApp {
    let text = fs::read_to_string(path).unwrap();
    read(&text, &path.display().to_string(), options).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn all_load() {
    let Some(files) = examples() else { return };
    assert_eq!(files.len(), 22, "{files:?}");
    for file in files {
        let app = load(&file, Options::default());
        assert!(!app.tasks.is_empty());
        let kept = load(&file, Options { duplicates: Duplicates::LastWins, ..Options::default() });
        assert!(events(&kept) <= events(&app));
    }
}

fn events(app: &RtApp) -> usize {
    app.tasks.iter().flat_map(|t| &t.phases).map(|p| p.events.len()).sum()
}

#[test]
fn keys_are_repeated_and_left_without_a_value() {
    if examples().is_none() {
        return;
    }
    let video = load(&Path::new(EXAMPLES).join("video-short.json"), Options::default());
    assert_eq!(video.tasks.len(), 17);
    let bare = |app: &RtApp| {
        let all = app.tasks.iter().flat_map(|t| &t.phases).flat_map(|p| &p.events);
        all.filter(|e| e.action == Action::Suspend { name: None }).count()
    };
    assert_eq!(bare(&video), 13);
    let spreading = load(&Path::new(EXAMPLES).join("spreading-tasks.json"), Options::default());
    let phases: Vec<_> = spreading.tasks[1].phases.iter().map(|p| p.name.as_deref()).collect();
    assert_eq!(phases, [Some("light1"), Some("heavy1"), Some("light2"), Some("heavy1")]);
    let last_wins = Options { duplicates: Duplicates::LastWins, ..Options::default() };
    let spreading = load(&Path::new(EXAMPLES).join("spreading-tasks.json"), last_wins);
    assert_eq!(spreading.tasks[1].phases.len(), 3);
}

#[test]
fn fragments_are_refused() {
    if examples().is_none() {
        return;
    }
    let files = json_files(&Path::new(EXAMPLES).join("merge"));
    assert_eq!(files.len(), 6);
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let name = file.file_name().unwrap().to_str().unwrap();
        let message = read(&text, name, Options::default()).unwrap_err().to_string();
        let expected = if name.starts_with("thread") { "tasks.thread" } else { "no `tasks`" };
        assert!(message.contains(expected), "{message}");
    }
}
