//! Several programs at once as one: a script that starts them, each in its control group, and waits as the modelled workload does.
//!
//! The run ends when the measured parts have ended once. Until then a part that has ended is started again, and its figures are those
//! of its first time. What is left then is ended.

use super::{FileSource, Output, Program};

/// The directory of control groups; that of this computer's root where it is not said.
pub const GROUPS: &str = "CGROUPS";
/// Before what a part printed.
const MARK: &str = "@@part ";

/// One of the programs.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// Its name, which its figures have before theirs.
    pub name: String,
    /// Path of its control group.
    pub group: Option<String>,
    /// Whether it has figures, and the run goes on until it has ended.
    pub measured: bool,
    /// What it runs alone.
    pub program: Program,
}

/// Functions of the script.
const FUNCTIONS: &str = r#"T=${SCRATCH:-/tmp}/together
rm -rf "$T"
mkdir -p "$T" || exit 1
end() {
    kill -STOP "$1" 2>/dev/null || return 0
    for child in $(cat /proc/"$1"/task/*/children 2>/dev/null); do
        end "$child"
    done
    kill -KILL "$1" 2>/dev/null
}
begin() {
    SCRATCH=$T/$1
    export SCRATCH
    mkdir -p "$SCRATCH" || exit 1
    if [ -n "$3" ] && ! echo 0 > "${CGROUPS:-/sys/fs/cgroup}/$3/cgroup.procs"; then
        echo "it cannot begin in the group $3" > "$T/$1.err"
        echo 1 > "$T/$1.code"
        echo "$1"
        exit 1
    fi 2>/dev/null
    "part_$1" > "$T/$1.out" 2> "$T/$1.err" < /dev/null
    code=$?
    echo "$code" > "$T/$1.code"
    if [ "$2" = 1 ] || [ "$code" != 0 ]; then
        echo "$1"
    fi
    while [ "$code" = 0 ]; do
        "part_$1" > /dev/null 2> "$T/$1.err" < /dev/null
        code=$?
    done
    echo "$code" > "$T/$1.code"
    echo failed
}
"#;

/// What follows: parts on the left say that they have ended, and the right waits for that. The shell would say that they were killed.
const WAITING: &str = r#"} | {
    left=$WAIT
    while [ "$left" -gt 0 ] && read -r ended; do
        code=$(cat "$T/$ended.code" 2>/dev/null)
        [ "$code" = 0 ] || break
        left=$((left - 1))
    done
    read -r parent < "$T/parent"
    end "$parent"
} ) 2> /dev/null
for at in $ALL; do
    code=$(cat "$T/$at.code" 2>/dev/null)
    if [ "${code:-0}" != 0 ]; then
        echo "part $at: exit code $code: $(tail -n 1 "$T/$at.err")" >&2
        exit 1
    fi
done
for at in $MEASURED; do
    echo "@@part $at"
    cat "$T/$at.out"
done
"#;

/// The program that runs `parts` at once.
///
/// # Errors
/// The path of a file that two parts want with other contents.
pub fn together(parts: &[Part]) -> Result<Program, String> {
    let mut all = Program {
        packages: vec![],
        programs: vec![],
        files: vec![],
        command: FUNCTIONS.to_owned(),
        output: Output::Together(vec![]),
        notes: vec![],
        guest_notes: vec![],
    };
    let mut outputs = vec![];
    let mut starts = String::new();
    for (at, part) in parts.iter().enumerate() {
        let Program { packages, programs, files, command, output, notes, guest_notes } =
            &part.program;
        add_new(&mut all.packages, packages);
        add_new(&mut all.programs, programs);
        for (path, content) in files {
            let known: Option<&(String, FileSource)> = all.files.iter().find(|(p, _)| p == path);
            match known {
                Some((_, other)) if other != content => return Err(path.clone()),
                Some(_) => {}
                None => all.files.push((path.clone(), content.clone())),
            }
        }
        let named = |note: &String| format!("{}: {note}", part.name);
        all.notes.extend(notes.iter().map(named));
        all.guest_notes.extend(guest_notes.iter().map(named));
        all.command.push_str(&format!("part_{at}() (\n{}\n)\n", command.trim_end()));
        let group = part.group.as_deref().unwrap_or("");
        starts.push_str(&format!("    begin {at} {} '{group}' &\n", u8::from(part.measured)));
        if part.measured {
            outputs.push((at, part.name.clone(), output.clone()));
        }
    }
    let numbers = |all: &mut dyn Iterator<Item = usize>| {
        all.map(|at| at.to_string()).collect::<Vec<_>>().join(" ")
    };
    let measured = numbers(&mut outputs.iter().map(|(at, ..)| *at));
    let every = numbers(&mut (0..parts.len()));
    all.command.push_str(&format!(
        "WAIT={}\nMEASURED='{measured}'\nALL='{every}'\n( {{\n    read -r self _ < /proc/self/stat\n    \
         echo \"$self\" > \"$T/parent\"\n{starts}    wait\n{WAITING}",
        outputs.len()
    ));
    all.output = Output::Together(outputs);
    Ok(all)
}

fn add_new(all: &mut Vec<&'static str>, more: &[&'static str]) {
    for name in more {
        if !all.contains(name) {
            all.push(name);
        }
    }
}

/// By part, as they are listed: what each printed.
pub(super) fn read(
    parts: &[(usize, String, Output)],
    stdout: &str,
) -> Result<Vec<(String, f64)>, String> {
    let mut values = vec![];
    for (at, name, output) in parts {
        let mark = format!("{MARK}{at}\n");
        let from = stdout.find(&mark).map(|from| from + mark.len());
        let from = from.ok_or_else(|| format!("{name}: found nothing that it printed"))?;
        let rest = &stdout[from..];
        let printed = &rest[..rest.find(MARK).unwrap_or(rest.len())];
        let own = output.read(printed).map_err(|reason| format!("{name}: {reason}"))?;
        let named = |(metric, value): (String, f64)| (super::figure(name, &metric), value);
        values.extend(own.into_iter().map(named));
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    fn program(command: &str, names: &[&str]) -> Program {
        Program {
            packages: vec!["x"],
            programs: vec!["usr/bin/x"],
            files: vec![],
            command: command.to_owned(),
            output: Output::Named(names.iter().map(|n| n.to_string()).collect()),
            notes: vec!["said".to_owned()],
            guest_notes: vec![],
        }
    }

    fn part(name: &str, measured: bool, command: &str) -> Part {
        let (name, group) = (name.to_owned(), None);
        Part { name, group, measured, program: program(command, &["a"]) }
    }

    /// Exit code, output and complaints of the script in a directory of its own.
    fn run(parts: &[Part], dir: &std::path::Path) -> (Option<i32>, String, String) {
        let program = together(parts).unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", &program.command]).env("SCRATCH", dir).env("CGROUPS", dir);
        let ended = command.output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (ended.status.code(), text(ended.stdout), text(ended.stderr))
    }

    #[test]
    fn parts_end_together_and_have_the_figures_of_their_first_time() {
        let dir = tempfile::tempdir().unwrap();
        let seen = dir.path().join("seen");
        // The first part counts how often it is started, and says so.
        let counts =
            format!("echo x >> {0}; echo \"a $(grep -c x {0})\"; sleep 0.05", seen.display());
        let parts = [
            part("front", true, &counts),
            part("farm", true, "sleep 0.6\necho a 7"),
            part("noise", false, "sleep 600"),
        ];
        let began = std::time::Instant::now();
        let (code, out, err) = run(&parts, dir.path());
        assert_eq!((code, err.as_str()), (Some(0), ""));
        assert!(began.elapsed().as_secs() < 60);
        let values = together(&parts).unwrap().values(&out).unwrap();
        assert_eq!(values, [("front: a".to_owned(), 1.0), ("farm: a".to_owned(), 7.0)]);
        let times = std::fs::read_to_string(&seen).unwrap().lines().count();
        assert!(times > 3, "{times}");
        // Nobody is left who would start it again.
        std::thread::sleep(std::time::Duration::from_millis(300));
        assert_eq!(std::fs::read_to_string(&seen).unwrap().lines().count(), times);
    }

    #[test]
    fn a_part_that_fails_ends_the_run_and_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let parts =
            [part("front", true, "sleep 600"), part("farm", false, "echo broken >&2\nexit 3")];
        let (code, _, err) = run(&parts, dir.path());
        assert_eq!((code, err.as_str()), (Some(1), "part 1: exit code 3: broken\n"));
        let mut grouped = parts.clone();
        grouped[1].group = Some("none/there".to_owned());
        let (code, _, err) = run(&grouped, dir.path());
        let expected = "part 1: exit code 1: it cannot begin in the group none/there\n";
        assert_eq!((code, err.as_str()), (Some(1), expected));
    }

    #[test]
    fn a_part_begins_in_its_group() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("web/db")).unwrap();
        let mut parts = [part("front", true, "echo a 1"), part("farm", true, "echo a 2")];
        parts[0].group = Some("web/db".to_owned());
        let (code, ..) = run(&parts, dir.path());
        assert_eq!(code, Some(0));
        let written = std::fs::read_to_string(dir.path().join("web/db/cgroup.procs")).unwrap();
        assert_eq!(written, "0\n");
    }

    #[test]
    fn packages_and_files_are_those_of_all() {
        let mut parts = [part("a", true, "true"), part("b", false, "true")];
        parts[0].program.files.push(("f".to_owned(), FileSource::Text("1".to_owned())));
        parts[1].program.files = parts[0].program.files.clone();
        let all = together(&parts).unwrap();
        assert_eq!((all.packages, all.files.len()), (vec!["x"], 1));
        assert_eq!(all.notes, ["a: said", "b: said"]);
        assert_eq!(all.output.names(), ["a: a"]);
        parts[1].program.files[0].1 = FileSource::Text("2".to_owned());
        assert_eq!(together(&parts).unwrap_err(), "f");
    }
}
