//! The `schedscape` command.

mod args;
mod compare_trees;
mod coverage;
mod domains;
mod domains_diff;
mod experiments;
mod guests;
mod images;
mod inspections;
mod judge;
mod kernels;
mod machines;
mod measure;
mod mmtests;
mod output;
mod placements;
mod prefetch_sweep;
mod progress;
mod recorded;
mod recordings;
mod replays;
mod report_page;
mod schedulers;
mod sources;
mod sweeps;
mod this_computer;
mod timelines;
mod validation;

use args::{Args, Command, MachineCommand};
use clap::{CommandFactory, Parser};
use std::process::ExitCode;

/// What ends a command early; bad input of any kind exits with 2, as clap does.
type Failure = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    match run(parsed()) {
        Ok(code) => code,
        Err(failure) if output::is_broken_pipe(failure.as_ref()) => ExitCode::SUCCESS,
        Err(failure) if failure.is::<domains_diff::Differ>() => ExitCode::from(1),
        Err(failure) => {
            anstream::eprintln!("\x1b[1;31merror\x1b[0m: {failure}");
            ExitCode::from(2)
        }
    }
}

/// The command line. `git bisect run` would take the 2 of a wrong one for a bad commit.
fn parsed() -> Args {
    Args::try_parse().unwrap_or_else(|error| {
        let bisects = std::env::args_os().nth(1).is_some_and(|name| name == "compare-trees");
        if !(bisects && error.use_stderr()) {
            error.exit();
        }
        // A stderr that is closed hears nothing.
        let _ = error.print();
        std::process::exit(compare_trees::WRONG.into())
    })
}

fn run(args: Args) -> Result<ExitCode, Failure> {
    match args.command {
        Command::Machine { command: MachineCommand::Diff(args) } => return machines::diff(&args),
        Command::CompareTrees(args) => return Ok(compare_trees::compare_trees(&args)),
        Command::Vm { command } => return guests::run(&command),
        Command::Measure { command } => return measure::run(&command),
        Command::Host { command } => this_computer::run(&command),
        Command::Kernel { command } => kernels::run(&command),
        Command::Replica { runs } => kernels::replica(runs),
        Command::Run(args) => experiments::run(&args),
        Command::Compare(args) => experiments::compare(&args),
        Command::Report(args) => report_page::report(&args),
        Command::Validate(args) => validation::validate(&args),
        Command::Machine { command: MachineCommand::Show(args) } => machines::show(&args),
        Command::Machine { command: MachineCommand::List } => machines::list(),
        Command::Domains(args) => domains::domains(&args),
        Command::Inspect(args) => inspections::inspect(&args),
        Command::Replay(args) => replays::replay(&args),
        Command::Trace(args) => timelines::trace(&args),
        Command::Mechanisms => domains::mechanisms(),
        Command::Sweep(args) => sweeps::sweep(&args),
        Command::PrefetchSweep(args) => prefetch_sweep::prefetch_sweep(&args),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Args::command(), "schedscape", &mut script);
            output::print(&String::from_utf8(script)?)
        }
    }?;
    Ok(ExitCode::SUCCESS)
}
