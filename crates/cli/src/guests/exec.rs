//! `schedscape vm exec`.

use super::cache;
use super::guest::Ready;
use crate::Failure;
use crate::args::ExecArgs;
use crate::progress::bar;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use vm::exec::Given;
use vm::frames::Stream;

/// Runs a script in a guest; exit code 1 where its own is not 0.
pub fn exec(args: &ExecArgs) -> Result<ExitCode, Failure> {
    let files: Vec<(PathBuf, String)> =
        args.files.iter().map(|file| placed(file)).collect::<Result<_, _>>()?;
    let machine = machine::resolve(&args.machine)?;
    let ready = Ready::new(&machine, args.plain, &args.guest)?;
    let arch = ready.kernel.arch;
    let given = |name: &PathBuf| Ok(Given::own(&program(name)?, arch, &ready.programs)?);
    let mut programs: Vec<Given> =
        args.programs.iter().map(given).collect::<Result<_, Failure>>()?;
    if args.bpftool {
        programs.push(Given::bpftool(&cache(&args.guest.cache)?, arch)?);
    }
    ready.announce()?;
    let bar = bar("{spinner} {elapsed} {wide_msg}")?;
    bar.set_message("QEMU starts");
    let mut broken = None;
    let mut print = |to: Stream, line: &str| {
        let printed = bar.suspend(|| match to {
            Stream::Out => writeln!(anstream::stdout(), "{line}"),
            Stream::Err => writeln!(anstream::stderr(), "{line}"),
        });
        broken = broken.take().or(printed.err());
    };
    let code = ready.exec(&args.script, &programs, &files, &mut print, &mut |line| {
        bar.set_message(line.to_owned());
    });
    bar.finish_and_clear();
    let code = code?;
    broken.map_or(Ok(()), Err)?;
    if code != 0 {
        anstream::eprintln!("{}: exit code {code}", args.script.display());
    }
    Ok(ExitCode::from(u8::from(code != 0)))
}

/// A program by its path, or by its name in `PATH`.
fn program(name: &Path) -> Result<PathBuf, Failure> {
    if name.components().count() > 1 {
        return Ok(name.to_owned());
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|dir| dir.join(name)).find(|file| file.is_file());
    found.ok_or_else(|| {
        format!("--program: found no `{}` in PATH, expected a program or a path", name.display())
            .into()
    })
}

/// `FROM[:TO]`; without a place, a file keeps its name.
fn placed(text: &str) -> Result<(PathBuf, String), Failure> {
    let (from, to) = match text.split_once(':') {
        Some((from, to)) => (from, Some(to)),
        None => (text, None),
    };
    let own = Path::new(from).file_name().map(|name| name.to_string_lossy().into_owned());
    match to.map(str::to_owned).or(own) {
        Some(to) if !from.is_empty() && !to.trim_matches('/').is_empty() => Ok((from.into(), to)),
        _ => Err(format!("--file: found `{text}`, expected FROM or FROM:TO").into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_and_where_they_go() {
        let is = |text, from: &str, to: &str| {
            assert_eq!(placed(text).unwrap(), (PathBuf::from(from), to.to_owned()));
        };
        is("a/b.toml", "a/b.toml", "b.toml");
        is("a:/etc/x", "a", "/etc/x");
        for bad in ["", ":x", "a:", "a:/", ".."] {
            assert!(placed(bad).is_err(), "{bad}");
        }
    }
}
