//! `schedscape replay`: a trace's tasks again, as recorded and under other rules.

use crate::Failure;
use crate::args::ReplayArgs;
use crate::domains::{changed, switched};
use crate::experiments::simulate;
use crate::output::{print, print_json, write_whole};
use crate::recordings;
use definition::replay::read;
use definition::{ExperimentFile, Plan, toml_of};
use follow::Recorder;
use follow::placement::{FirstPass, Ground, Inferred};
use kernel::{Kernel, MECHANISMS};
use report::Layout;
use report::table::fitted;
use results::Analysis;
use results::analysis::resampling;
use serde::Serialize;
use std::fmt::Write;
use trace::inspect::{Inspection, Inspector};
use trace::replay::{Figure, LEAD_NS, Made, figures};
use trace::{Choice, Filter, Sink};
use workload::Benchmark;

/// Name of the only workload, and of the variant that is the recorded kernel.
const WORKLOAD: &str = "replay";
const RECORDED: &str = "recorded";

/// What is printed as JSON.
#[derive(Serialize)]
struct Shown {
    trace: String,
    machine: String,
    made: Made,
    /// Names of wakers and woken tasks whose wake-ups are taken to be synchronous.
    synchronous: Vec<(String, String)>,
    fidelity: Vec<Figure>,
    #[serde(skip_serializing_if = "Option::is_none")]
    results: Option<serde_json::Value>,
}

pub fn replay(args: &ReplayArgs) -> Result<(), Failure> {
    let recorded = plan(args, &args.machine, false)?;
    let (inspection, first) = seen(args, &recorded)?;
    let sync = synchronous(args, &recorded, &first)?;
    let variants = with(plan(args, on(args), true)?, &sync, args.keep_forks);
    if let Some(path) = &args.write {
        return write_whole(path, &toml_of(&variants.file)?);
    }
    let [moved, kept] = [false, true].map(|keep_forks| with(recorded.clone(), &sync, keep_forks));
    let made = made(&moved)?;
    let fidelity = figures(&inspection, &watched(&moved)?, &watched(&kept)?);
    let compared = (!args.variants.is_empty() || args.on.is_some())
        .then(|| {
            simulate(&variants, args.threads, &vec![None; variants.file.variants.len()], None, None)
        })
        .transpose()?;
    let analysis = compared.as_ref().map(|r| Analysis::of(r, resampling()?)).transpose();
    let analysis = analysis.map_err(Failure::from)?;
    if args.json {
        let results = analysis.as_ref().map(|a| report::json::run(&variants, a)).transpose()?;
        let results = results.map(serde_json::to_value).transpose()?;
        let (trace, machine) = (args.trace.display().to_string(), recorded.machine.name.clone());
        return print_json(&Shown { trace, machine, made, synchronous: sync, fidelity, results });
    }
    let mut text = text(args, &made, &sync, &fidelity);
    if let Some(analysis) = &analysis {
        text += &format!("\n{}", report::text::results(analysis, Layout::Whole, false)?);
    }
    print(&text)
}

/// The machine of the variants.
fn on(args: &ReplayArgs) -> &str {
    args.on.as_deref().unwrap_or(&args.machine)
}

/// The experiment on `machine`: the recorded kernel, and the variants if they are wanted.
fn plan(args: &ReplayArgs, machine: &str, variants: bool) -> Result<Plan, Failure> {
    let text = |value: &str| toml::Value::from(value).to_string();
    let trace = args.trace.display().to_string();
    let mut out = format!(
        "name = \"replay\"\ntitle = {}\nmachine = {}\n",
        text(&format!("{trace} again")),
        text(machine)
    );
    if let (Some(constants), true) = (&args.constants, machine == args.machine) {
        writeln!(out, "constants = {}", text(constants))?;
    }
    if let Some(seed) = args.seed {
        writeln!(out, "seed = {seed}")?;
    }
    let recorded = switched(Kernel::new(args.kernel), &args.mechanisms)?;
    out += &variant(RECORDED, &recorded)?;
    for what in args.variants.iter().filter(|_| variants) {
        out += &variant(what, &changed(&recorded, "--variant", what)?)?;
    }
    write!(
        out,
        "\n[[workload]]\nname = \"{WORKLOAD}\"\nruns = {}\n\n[workload.replay]\n",
        args.runs
    )?;
    writeln!(out, "trace = {}", text(&trace))?;
    if machine != args.machine {
        writeln!(out, "machine = {}", text(&args.machine))?;
    }
    for (name, ms) in [("from_ms", args.from_ms), ("to_ms", args.to_ms)] {
        if let Some(ms) = ms {
            writeln!(out, "{name} = {ms:?}")?;
        }
    }
    let file = ExperimentFile::parse(&out, "replay")?;
    Ok(Plan::new(file, "replay")?)
}

fn variant(name: &str, kernel: &Kernel) -> Result<String, Failure> {
    let name = toml::Value::from(name).to_string();
    let mut out = format!("\n[[variant]]\nname = {name}\nkernel = \"{}\"\n", kernel.version);
    let switched: Vec<_> = MECHANISMS
        .iter()
        .filter_map(|m| Some((m.name, kernel.switched(m.id)?)))
        .map(|(name, on)| format!("{name} = {on}"))
        .collect();
    if !switched.is_empty() {
        writeln!(out, "mechanisms = {{ {} }}", switched.join(", "))?;
    }
    Ok(out)
}

/// The experiment with what the command found out about its trace.
fn with(mut plan: Plan, sync: &[(String, String)], keep_forks: bool) -> Plan {
    for workload in &mut plan.file.workloads {
        for part in &mut workload.parts {
            if let Benchmark::Replay(params) = &mut part.benchmark {
                params.sync = sync.to_vec();
                params.keep_forks = keep_forks;
            }
        }
    }
    plan
}

/// What the experiment's workload is made of.
fn made(plan: &Plan) -> Result<Made, Failure> {
    let params = plan.file.workloads.iter().flat_map(|w| w.benchmarks()).find_map(|b| match b {
        Benchmark::Replay(params) => Some(params),
        _ => None,
    });
    let params = params.ok_or("replay: found another workload, expected a trace")?;
    Ok(read(params, plan.folder(), &plan.machine)?.made)
}

/// Names between which wake-ups are synchronous, as far as the trace tells: it has places where only that explains the CPU.
fn synchronous(
    args: &ReplayArgs,
    plan: &Plan,
    first: &FirstPass,
) -> Result<Vec<(String, String)>, Failure> {
    let ground = Ground::new(&plan.machine, &plan.kernels[0])?;
    let mut judge = Inferred::new(&ground, first, Vec::new());
    through(args, &mut judge)?;
    Ok(judge.synchronous())
}

/// Reads the window of the trace into `sink`.
fn through(args: &ReplayArgs, sink: &mut impl Sink) -> Result<(), Failure> {
    let ns = |ms: Option<f64>| ms.map(|ms| (ms * 1e6) as u64);
    let choice =
        Choice { from_ns: ns(args.from_ms), to_ns: ns(args.to_ms), cpus: None, tasks: Vec::new() };
    let mut filter = Filter::new(choice, false, sink);
    recordings::read(&args.trace, &mut filter)?;
    Ok(())
}

/// What happened in the trace, and what a judge has to know before.
fn seen(args: &ReplayArgs, plan: &Plan) -> Result<(Inspection, FirstPass), Failure> {
    let mut seen = (Inspector::new(&plan.machine), FirstPass::default());
    through(args, &mut seen)?;
    Ok((seen.0.finish(), seen.1))
}

fn watched(plan: &Plan) -> Result<Inspection, Failure> {
    let again = experiment::again(plan, WORKLOAD, RECORDED, 0)?;
    let mut inspector = Inspector::new(&plan.machine);
    let choice = Choice { from_ns: Some(LEAD_NS), ..Choice::default() };
    let mut recorder = Recorder::new(again.nr_cpus(), Filter::new(choice, false, &mut inspector));
    again.run(&mut recorder)?;
    recorder.finish()?;
    Ok(inspector.finish())
}

fn text(args: &ReplayArgs, made: &Made, sync: &[(String, String)], fidelity: &[Figure]) -> String {
    let exit = |ns: Option<u64>| ns.map_or("-".to_string(), |ns| format!("{:.1}", ns as f64 / 1e3));
    let mut out = format!(
        "{}: {:.6} s; {} tasks, {} of real-time classes left out; {} wake-ups by tasks, {} by interrupts, {} forks\n\
         An idle CPU runs a woken task after {} us, woken from another CPU after {} us (means)\n\n",
        args.trace.display(),
        made.length_ns as f64 / 1e9,
        made.tasks,
        made.left_out,
        made.by_tasks,
        made.by_interrupts,
        made.forks,
        exit(made.local_exit_ns),
        exit(made.remote_exit_ns)
    );
    let pairs: Vec<String> = sync.iter().map(|(a, b)| format!("{a} -> {b}")).collect();
    if !pairs.is_empty() {
        out += &format!("Taken to be synchronous, by where they went: {}\n\n", pairs.join(", "));
    }
    let row = |f: &Figure| {
        let number = |value: f64| format!("{value:.3}");
        let error = |replay| match (f.unit, f.error(replay)) {
            (_, None) => "-".to_owned(),
            ("%", Some(points)) => format!("{points:+.2} points"),
            (_, Some(percent)) => format!("{percent:+.2} %"),
        };
        let of = |replay| [number(replay), error(replay)];
        let named = [f.name.clone(), f.unit.to_owned(), number(f.trace)];
        [&named[..], &of(f.replay), &of(f.forks_kept)].concat()
    };
    out += "The trace and its replay under the same kernel\n\n";
    let rows: Vec<Vec<String>> = fidelity.iter().map(row).collect();
    out +=
        &fitted(&["figure", "unit", "trace", "replay", "error", "forks kept", "error"], &rows, 2);
    out
}
