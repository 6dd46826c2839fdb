//! From objects to a library: what is wanted and how, the stand-ins, the link.

use crate::TreeError;
use crate::arch;
use crate::make::run;
use crate::symbols::{Use, stand_ins};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

/// What the host's C library has, and what the linker makes.
const ELSEWHERE: [&str; 7] =
    ["memcmp", "memcpy", "memmove", "memset", "strlen", "_GLOBAL_OFFSET_TABLE_", "jiffies"];

/// What begins the names of what the compiler's runtimes have, the option that links the runtime, and the line of the
/// configuration that asks for it.
const RUNTIMES: [(&str, &str, &str); 2] = [
    ("__asan_", "-fsanitize=address", "CONFIG_SCHEDSCAPE_ADDRESS=y"),
    ("__gcov_", "--coverage", "CONFIG_SCHEDSCAPE_COVERAGE=y"),
];

/// The options that link the runtimes that `config` asks for.
pub(crate) fn runtimes(config: &str) -> Vec<&'static str> {
    let asked = |line: &str| config.lines().any(|l| l == line);
    RUNTIMES.iter().filter(|(.., line)| asked(line)).map(|(_, option, _)| *option).collect()
}

/// Links `objects`, which are below `out`, as `script` arranges them, with `runtimes`, to the library `library`.
///
/// # Errors
/// Symbols that nobody provides, and what the linker says.
pub(crate) fn link(
    out: &Path,
    objects: &[String],
    script: &str,
    runtimes: &[&str],
    library: &Path,
) -> Result<(), TreeError> {
    let whole = "schedscape-part.o";
    run(Command::new("ld").args(["-r", "-o", whole]).args(objects).current_dir(out), "ld")?;
    let names = run(Command::new("nm").args(["-u", whole]).current_dir(out), "nm")?;
    let relocations =
        run(Command::new("readelf").args(["-rW", whole]).current_dir(out), "readelf")?;
    let marks: BTreeSet<&str> = marks(script).chain(ELSEWHERE).collect();
    let mut wanted = uses(&names, &relocations);
    let of_runtime = |name: &str| {
        let mut linked = RUNTIMES.iter().filter(|(_, option, _)| runtimes.contains(option));
        linked.any(|(start, ..)| name.starts_with(start))
    };
    wanted.retain(|name, _| !of_runtime(name));
    let code = stand_ins(arch::SYMBOLS, &wanted, &marks)?;
    let write = |name: &str, text: &str| {
        let file = out.join(name);
        std::fs::write(&file, text).map_err(TreeError::io(&file))
    };
    write("schedscape-symbols.c", &code)?;
    write("schedscape.lds", script)?;
    let mut compile = Command::new("gcc");
    compile.args([
        "-O1",
        "-fPIC",
        "-fvisibility=hidden",
        "-fno-builtin",
        "-w",
        "-c",
        "schedscape-symbols.c",
    ]);
    run(compile.current_dir(out), "gcc schedscape-symbols.c")?;
    let partial = library.with_extension("partial");
    let mut join = Command::new("gcc");
    join.args([
        "-shared",
        "-nostartfiles",
        "-Wl,-T,schedscape.lds",
        "-Wl,--defsym=jiffies=jiffies_64",
    ]);
    join.args(["-Wl,-Bsymbolic", "-Wl,--no-undefined", "-Wl,-z,noexecstack", "-o"]).arg(&partial);
    join.args(runtimes).args([whole, "schedscape-symbols.o"]).current_dir(out);
    run(&mut join, "linking the scheduler")?;
    std::fs::rename(&partial, library).map_err(TreeError::io(library))
}

/// Symbols that a link script defines.
fn marks(script: &str) -> impl Iterator<Item = &str> {
    script.split([';', '\n']).filter_map(|l| l.split_once(" = .")).map(|(name, _)| name.trim())
}

/// How each undefined symbol is used. Calls go by a table of procedures (`PLT`, `CALL`, `JUMP`); whole addresses
/// (`64`, `ABS64`) stand in tables of functions and variables.
fn uses(names: &str, relocations: &str) -> BTreeMap<String, Use> {
    let mut uses: BTreeMap<String, Use> = names
        .lines()
        .filter_map(|l| Some((l.split_whitespace().nth(1)?.to_string(), Use::default())))
        .collect();
    for line in relocations.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [_, _, kind, _, name, ..] = words[..] else { continue };
        let Some(used) = uses.get_mut(name) else { continue };
        if ["PLT", "CALL", "JUMP"].iter().any(|call| kind.contains(call)) {
            used.called = true;
        } else if !kind.ends_with("_64") && !kind.ends_with("ABS64") {
            used.addressed = true;
        }
    }
    uses
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uses_are_told_apart_by_relocations() {
        let names =
            "                 U panic\n                 U jiffies\n                 U seq_read\n";
        let relocations = "\
Offset Info Type Symbol's Value Symbol's Name + Addend
0000000000000010  000000010000000a R_X86_64_PLT32         0000000000000000 panic - 4
0000000000000020  000000020000000a R_X86_64_GOTPCREL      0000000000000000 jiffies - 4
0000000000000030  0000000300000001 R_X86_64_64            0000000000000000 seq_read + 0
";
        let uses = uses(names, relocations);
        assert_eq!(uses["panic"], Use { called: true, addressed: false });
        assert_eq!(uses["jiffies"], Use { called: false, addressed: true });
        assert_eq!(uses["seq_read"], Use::default());
    }

    #[test]
    fn marks_are_read_from_the_link_script() {
        let marks: Vec<&str> = marks(arch::LINK).collect();
        assert!(
            marks.contains(&"__per_cpu_start") && marks.contains(&"sc_initcalls_end"),
            "{marks:?}"
        );
        assert!(marks.contains(&"__lock_text_end"), "{marks:?}");
    }
}
