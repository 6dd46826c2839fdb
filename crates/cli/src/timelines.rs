//! `schedscape trace`.

use crate::Failure;
use crate::args::{EngineName, Ns, TraceArgs, TraceFormat};
use crate::domains::recorded_kernel;
use crate::guests;
use crate::output::{print, write_file};
use crate::sources::library;
use definition::{ExperimentFile, Plan, folder_of};
use experiment::Again;
use follow::Recorder;
use machine::{CpuSet, Snapshot};
use results::{Engine, Results, store};
use std::fs::File;
use std::path::Path;
use trace::{
    About, Choice, Filter, FtraceText, Perfetto, Read, Recording, Sink, TraceDat, TraceError,
    cpu_names,
};

/// The directory beside a capture's `trace.txt` that describes the machine as it booted.
const CAPTURED: &str = "boot";

/// A timeline that is being written.
type Timeline<'a> = Filter<Box<dyn Sink + 'a>>;

pub fn trace(args: &TraceArgs) -> Result<(), Failure> {
    let format = format(args)?;
    if let (Some(Ns(from)), Some(Ns(to))) = (args.from_ms, args.to_ms)
        && from >= to
    {
        return Err(
            "--to-ms: found a time that is not after --from-ms, expected a later one".into()
        );
    }
    let source = &args.source;
    if args.engine == EngineName::Host {
        return Err("--engine: found host, expected sim or vm".into());
    }
    if args.engine == EngineName::Vm {
        return in_guest(args, format);
    }
    args.guest.refuse_for_sim(None)?;
    if source.is_dir() {
        return stored(args, format);
    }
    if source.extension().is_some_and(|e| e == "toml") {
        let mut file = ExperimentFile::load(source)?;
        file.seed = args.seed.or(file.seed);
        let plan = Plan::new(file, &source.display().to_string())?;
        return watched(&plan, args, format, None);
    }
    recorded(args, format)
}

/// A run out of a directory of `run --out`, if this build still gives the same.
fn stored(args: &TraceArgs, format: TraceFormat) -> Result<(), Failure> {
    let dir = args.source.display();
    if args.seed.is_some() {
        let expected = "expected none: stored runs have theirs";
        return Err(format!("--seed: found one for {dir}, {expected}").into());
    }
    let results = store::read(&args.source)?;
    if results.engine != Engine::Sim {
        let expected = "expected sim: only simulated runs can be run again; `trace EXPERIMENT.toml --engine vm` makes one on a real kernel";
        return Err(format!("{dir}: engine: found {}, {expected}", results.engine).into());
    }
    let plan = Plan::new(results.experiment.clone(), &dir.to_string())?;
    watched(&plan, args, format, Some(&results))
}

/// The run that was asked for, in this process or, under a kernel tree's code, in one of its own.
fn watched(
    plan: &Plan,
    args: &TraceArgs,
    format: TraceFormat,
    stored: Option<&Results>,
) -> Result<(), Failure> {
    let again = again(plan, args)?;
    let again = match &args.library {
        Some(library) => again.under(library.clone()),
        None if again.has_source() => return in_replica(plan, args),
        None => again,
    };
    simulated(&again, args, format, stored)
}

/// The same command in another process, which loads the library of the variant's source.
fn in_replica(plan: &Plan, args: &TraceArgs) -> Result<(), Failure> {
    let (_, variant) = which(&plan.file, &args.workload, &args.variant)?;
    let variant = plan.file.variants.iter().find(|v| v.name == variant);
    let sourced = variant.and_then(|v| Some((v, v.source.as_ref()?)));
    let (variant, source) = sourced.ok_or("found no source, expected one")?;
    let library = library(plan, &guests::cache(&args.guest.cache)?, variant, source, &[])?;
    let mut command = std::process::Command::new(std::env::current_exe()?);
    command.args(std::env::args_os().skip(1)).arg("--library").arg(library.file);
    command.envs(library.environment);
    let output = command.stdin(std::process::Stdio::null()).output()?;
    if output.status.success() {
        return print(&String::from_utf8_lossy(&output.stdout));
    }
    let said = replica::last_words(&output.stderr, output.status);
    Err(said.strip_prefix("error: ").unwrap_or(&said).to_string().into())
}

/// Runs it again and writes what happens.
fn simulated(
    again: &Again,
    args: &TraceArgs,
    format: TraceFormat,
    stored: Option<&Results>,
) -> Result<(), Failure> {
    let domains = kernel::build(&again.machine, again.kernel)?;
    let about = About {
        release: again.kernel.version.to_string(),
        source: format!("schedscape, simulated: {}", again.name()),
        machine: again.machine.name.clone(),
        cpu_names: cpu_names(&again.machine, Some(&domains)),
    };
    let text = write_file(&args.output, |file| {
        // A model does not know how deep preemption is disabled.
        let mut filter = sink(args, format, file, &about, false)?;
        let mut recorder = Recorder::new(again.nr_cpus(), &mut filter);
        let result = again.run(&mut recorder)?;
        recorder.finish().map_err(output)?;
        if let Some(results) = stored {
            again.check(&result, results)?;
        }
        let length_s = result.end_ns as f64 / 1e9;
        let of = format!("{}, seed {}, {length_s:.6} s", again.name(), again.seed);
        written(args, filter.passed(), &of)
    })?;
    print(&text)
}

/// A run in a guest, recorded by its kernel.
fn in_guest(args: &TraceArgs, format: TraceFormat) -> Result<(), Failure> {
    let source = args.source.display().to_string();
    if args.source.extension().is_none_or(|e| e != "toml") {
        return Err(format!("--engine vm: found {source}, expected an experiment (.toml)").into());
    }
    let for_sim = [("--run", args.run.is_some()), ("--seed", args.seed.is_some())];
    if let Some((option, _)) = for_sim.iter().find(|o| o.1) {
        return Err(format!("{option}: found --engine vm, expected sim").into());
    }
    let mut file = ExperimentFile::load(&args.source)?;
    let (workload, variant) = which(&file, &args.workload, &args.variant)?;
    file.workloads.retain(|w| w.name == workload);
    let plan = Plan::new(file, &source)?;
    let text = write_file(&args.output, |file| {
        let traced = guests::traced(plan, &args.guest, (&workload, &variant))?;
        let name = format!("workload `{workload}`, variant `{variant}` on {}", traced.release);
        let domains = kernel::build(&traced.machine, &traced.kernel)?;
        let about = About {
            release: traced.release.clone(),
            source: format!("schedscape, in a guest: {name}"),
            machine: traced.machine.name.clone(),
            cpu_names: cpu_names(&traced.machine, Some(&domains)),
        };
        let text = traced.answer.trace().ok_or_else(|| format!("{name}: found no timeline"))?;
        converted(args, format, file, &about, |sink| trace::read(text, sink), &name)
    })?;
    print(&text)
}

/// Records of any kernel.
fn recorded(args: &TraceArgs, format: TraceFormat) -> Result<(), Failure> {
    let source = args.source.display();
    let for_runs = [
        ("--workload", args.workload.is_some()),
        ("--variant", args.variant.is_some()),
        ("--run", args.run.is_some()),
        ("--seed", args.seed.is_some()),
    ];
    if let Some((option, _)) = for_runs.iter().find(|o| o.1) {
        let expected = "expected an experiment (.toml) or a directory of `run --out`";
        return Err(format!("{source}: found a file for {option}, {expected}").into());
    }
    let recording = Recording::open(&args.source).map_err(|e| format!("{source}: {e}"))?;
    let about = about_recorded(&args.source)?;
    let text = write_file(&args.output, |file| {
        let read = |sink: &mut Timeline| recording.read(sink);
        converted(args, format, file, &about, read, &source.to_string())
    })?;
    print(&text)
}

/// A kernel's records in another form, and what is said of them.
fn converted<'a>(
    args: &TraceArgs,
    format: TraceFormat,
    file: &'a File,
    about: &About,
    read: impl FnOnce(&mut Timeline<'a>) -> Result<Read, TraceError>,
    source: &str,
) -> Result<String, Failure> {
    let mut filter = sink(args, format, file, about, true)?;
    let read = read(&mut filter).map_err(|e| match e {
        TraceError::Output(_) => output(e),
        e => format!("{source}: {e}").into(),
    })?;
    filter.finish().map_err(output)?;
    let of = format!("{} of {source}", read.events);
    Ok(written(args, filter.passed(), &of)? + &summary(&read))
}

/// Names of skipped events that are said.
const NAMED: usize = 5;

/// What a recording held, and what of it is missing.
fn summary(read: &Read) -> String {
    let kinds = read.by_kind.iter().map(|(name, n)| format!("{name} {n}")).collect::<Vec<_>>();
    let most = read.by_cpu.iter().max_by_key(|(_, n)| **n);
    let mut lines = vec![format!("read: {}", kinds.join(", "))];
    if let Some((cpu, n)) = most {
        let cpus = CpuSet::from_iter(read.by_cpu.keys().map(|&cpu| cpu as usize));
        lines.push(format!("CPUs: {cpus}, most on CPU {cpu} with {n}"));
    }
    if read.others > 0 {
        let mut names: Vec<(&String, &u64)> = read.skipped.iter().collect();
        names.sort_by_key(|(_, n)| std::cmp::Reverse(**n));
        let mut named: Vec<String> =
            names.iter().take(NAMED).map(|(name, n)| format!("{name} {n}")).collect();
        if names.len() > NAMED {
            named.push(format!("{} more", names.len() - NAMED));
        }
        let named =
            if named.is_empty() { String::new() } else { format!(": {}", named.join(", ")) };
        lines.push(format!("left out: {} records of other events{named}", read.others));
    }
    lines.extend(read.flaws());
    lines.iter().map(|line| format!("  {line}\n")).collect()
}

/// What a capture says of its machine beside `trace.txt`; little where there is nothing beside it.
fn about_recorded(text: &Path) -> Result<About, Failure> {
    let source = format!("schedscape, from {}", text.display());
    let boot = folder_of(text).join(CAPTURED);
    if !boot.is_dir() {
        let (release, machine) = ("unknown".to_string(), "unknown".to_string());
        return Ok(About { release, source, machine, cpu_names: vec![] });
    }
    let Snapshot { machine, release } = machine::resolve_snapshot(&boot.display().to_string())?;
    let kernel = release.as_deref().map(|r| recorded_kernel(r, &machine)).transpose()?;
    let domains = kernel.map(|kernel| kernel::build(&machine, &kernel)).transpose()?;
    let cpu_names = cpu_names(&machine, domains.as_ref());
    let release = release.unwrap_or_else(|| "unknown".to_string());
    Ok(About { release, source, machine: machine.name, cpu_names })
}

/// What is said of a written timeline, which must hold something.
fn written(args: &TraceArgs, records: u64, of: &str) -> Result<String, Failure> {
    if records == 0 {
        let found = "found no record in that window on these CPUs of these tasks";
        return Err(format!("{}: {found}, expected some", args.source.display()).into());
    }
    Ok(format!("{}: {records} records, {of}\n", args.output.display()))
}

/// The run that was asked for.
fn again<'a>(plan: &'a Plan, args: &TraceArgs) -> Result<Again<'a>, Failure> {
    let (workload, variant) = which(&plan.file, &args.workload, &args.variant)?;
    Ok(experiment::again(plan, &workload, &variant, args.run.unwrap_or(0))?)
}

/// The experiment on the machine that is asked for, or on its only one.
pub fn on_machine(path: &Path, machine: Option<&str>) -> Result<ExperimentFile, Failure> {
    let mut files = ExperimentFile::load_each(path)?;
    let names: Vec<String> = files.iter().map(|f| f.machine.clone()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let machine = chosen("--machine", machine, &names)?;
    let at = names.iter().position(|name| *name == machine).unwrap_or(0);
    Ok(files.swap_remove(at))
}

/// Names of the workload and the variant that were asked for.
pub fn which(
    file: &ExperimentFile,
    workload: &Option<String>,
    variant: &Option<String>,
) -> Result<(String, String), Failure> {
    let names: Vec<&str> = file.workloads.iter().map(|w| w.name.as_str()).collect();
    let workload = chosen("--workload", workload.as_deref(), &names)?;
    let at = names.iter().position(|name| *name == workload);
    let variants = at.map_or(vec![], |at| file.variants_of(at));
    let names: Vec<&str> = variants.iter().map(|&v| file.variants[v].name.as_str()).collect();
    let variant = chosen("--variant", variant.as_deref(), &names)?;
    Ok((workload.to_string(), variant.to_string()))
}

/// What an option names, or the only thing that it can name.
pub fn chosen<'a>(
    option: &str,
    named: Option<&'a str>,
    names: &[&'a str],
) -> Result<&'a str, Failure> {
    match (named, names) {
        (Some(name), names) if names.contains(&name) => Ok(name),
        (None, [only]) => Ok(only),
        (found, names) => {
            let (found, expected) = (found.unwrap_or("none"), names.join(", "));
            Err(format!("{option}: found {found}, expected one of {expected}").into())
        }
    }
}

fn format(args: &TraceArgs) -> Result<TraceFormat, Failure> {
    let extension = args.output.extension().map(|e| e.to_string_lossy());
    match (args.format, extension.as_deref()) {
        (Some(format), _) => Ok(format),
        (None, Some("pftrace" | "perfetto-trace")) => Ok(TraceFormat::Perfetto),
        (None, Some("txt" | "trace")) => Ok(TraceFormat::Ftrace),
        (None, Some("dat")) => Ok(TraceFormat::TraceDat),
        (None, _) => {
            let found = args.output.display();
            Err(format!("--output: found {found}, expected .pftrace, .perfetto-trace, .txt, .trace or .dat, or --format").into())
        }
    }
}

fn choice(args: &TraceArgs) -> Choice {
    Choice {
        from_ns: args.from_ms.map(|at| at.0),
        to_ns: args.to_ms.map(|at| at.0),
        cpus: args.cpus.clone(),
        tasks: args.tasks.clone(),
    }
}

/// An error of a sink; one of the system's as such, for [`write_file`] to name the file.
fn output(error: TraceError) -> Failure {
    match error {
        TraceError::Output(reason) => reason.into(),
        error => error.into(),
    }
}

/// The chosen form on `file`, behind the filter.
fn sink<'a>(
    args: &TraceArgs,
    format: TraceFormat,
    file: &'a File,
    about: &About,
    irq_info: bool,
) -> Result<Timeline<'a>, Failure> {
    let sink: Box<dyn Sink + 'a> = match format {
        TraceFormat::Perfetto => Box::new(Perfetto::new(file, about).map_err(output)?),
        TraceFormat::Ftrace => {
            let of = format!("{}, kernel {}", about.machine, about.release);
            Box::new(FtraceText::new(file, &[about.source.clone(), of], irq_info))
        }
        TraceFormat::TraceDat => {
            let spool = tempfile::tempfile_in(folder_of(&args.output))?;
            Box::new(TraceDat::new(file, spool, about, irq_info))
        }
    };
    Ok(Filter::new(choice(args), format == TraceFormat::Perfetto, sink))
}
