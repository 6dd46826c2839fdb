//! One run of each variant, CPU by CPU: how busy, how fast, and what packages took.

use super::pictures::{Pictures, file_name};
use super::{Heats, Source};
use crate::charts::cpu_map::{CpuMap, Scale, cpu_map};
use crate::charts::power::{Watts, power};
use crate::charts::{Picture, colours};
use crate::error::ReportError;
use machine::{CpuSet, Machine};
use results::heat::{Clocks, Heat};

/// The section.
#[derive(Debug)]
pub(super) struct Watched {
    pub(super) workload: String,
    pub(super) maps: Vec<Maps>,
    /// Variants whose run is not the stored one.
    pub(super) changed: String,
    /// Where something governs clocks.
    pub(super) governed: Option<Governed>,
}

/// Maps of a variant, or why there are none.
#[derive(Debug)]
pub(super) struct Maps {
    pub(super) place: usize,
    pub(super) name: String,
    pub(super) pictures: Result<Vec<Picture>, String>,
}

/// Clocks and power, variant by variant.
#[derive(Debug)]
pub(super) struct Governed {
    pub(super) rows: Vec<GovernedRow>,
    pub(super) picture: Option<Picture>,
}

/// Figures of a variant's run, as text.
#[derive(Debug)]
pub(super) struct GovernedRow {
    pub(super) place: usize,
    pub(super) name: String,
    pub(super) colour: String,
    pub(super) clock: String,
    pub(super) watts: String,
    pub(super) packages: String,
    pub(super) joules: String,
    pub(super) length: String,
}

impl Watched {
    /// Every picture, in the page's order.
    pub(super) fn pictures(&self) -> impl Iterator<Item = &Picture> {
        let power = self.governed.iter().flat_map(|g| &g.picture);
        power.chain(self.maps.iter().filter_map(|m| m.pictures.as_ref().ok()).flatten())
    }
}

/// Draws the runs of `source`; without one, why.
pub(super) fn watched(source: &Source) -> Result<Result<Watched, String>, ReportError> {
    let (workload, variants, changed) = match &source.heat {
        Heats::Of { workload, variants, changed } => (workload, variants, changed),
        Heats::None(why) => return Ok(Err(why.clone())),
    };
    let plan = match &source.plan {
        Ok(plan) => plan,
        Err(why) => return Ok(Err(why.clone())),
    };
    let draw = Pictures { source };
    let runs: Vec<(usize, &str, &Heat)> = (variants.iter())
        .filter_map(|(name, heat)| Some((draw.place(name), name.as_str(), heat.as_ref().ok()?)))
        .collect();
    let ends = clock_ends(runs.iter().filter_map(|r| r.2.clocks.as_ref()));
    let mut maps = Vec::new();
    for (name, heat) in variants {
        let place = draw.place(name);
        let pictures = match (heat, plan.machine_of(place)) {
            (Ok(heat), Ok(machine)) => Ok(pictures(name, workload, &machine, heat, ends)?),
            (Err(why), _) => Err(why.clone()),
            (_, Err(why)) => Err(why.to_string()),
        };
        maps.push(Maps { place, name: name.clone(), pictures });
    }
    let governed = governed(workload, &runs)?;
    Ok(Ok(Watched { workload: workload.clone(), maps, changed: changed.join(", "), governed }))
}

/// The maps of a run.
fn pictures(
    name: &str,
    workload: &str,
    machine: &Machine,
    heat: &Heat,
    ends: Option<(f64, f64)>,
) -> Result<Vec<Picture>, ReportError> {
    let picture = |kind: &str, map: CpuMap| -> Result<Picture, ReportError> {
        let svg = cpu_map(machine, &map)?;
        Ok(Picture { name: file_name(&[kind, name]), title: map.title, svg, is_titled: true })
    };
    let shown = shown(machine, heat);
    let mut out =
        vec![picture("heat", busy(format!("{name}: busy CPUs, {workload}"), heat, shown.clone()))?];
    if let (Some(clocks), Some(ends)) = (&heat.clocks, ends) {
        let title = format!("{name}: clocks of CPUs while they ran a task, {workload}");
        out.push(picture("clocks", clock_map(title, heat, clocks, shown, ends))?);
    }
    Ok(out)
}

/// CPUs with a row: not those that `machine` has offline and that ran nothing.
fn shown(machine: &Machine, heat: &Heat) -> CpuSet {
    let ran = |cpu: &usize| heat.busy[*cpu].iter().any(|&share| share > 0.0);
    let all = 0..machine.cpus.len().min(heat.busy.len());
    all.filter(|cpu| machine.online.contains(*cpu) || ran(cpu)).collect()
}

fn busy(title: String, heat: &Heat, shown: CpuSet) -> CpuMap {
    let mean = |cpu: usize| heat.busy.get(cpu).and_then(|shares| stats::amean(shares));
    let busiest = shown.iter().filter_map(|cpu| Some((mean(cpu)?, cpu)));
    let busiest = busiest.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
    let busiest = busiest.map_or(String::new(), |(share, cpu)| {
        format!(" The busiest is CPU {cpu}, {:.0} % of the time.", 100.0 * share)
    });
    let (n, ms) = (shown.len(), heat.end_ns as f64 / 1e6);
    let percent = |cpu: usize| format!("{:.0} %", 100.0 * mean(cpu).unwrap_or(0.0));
    CpuMap {
        title,
        description: format!("How busy {n} CPUs were over {ms:.1} ms, dark is idle.{busiest}"),
        slice_ns: heat.slice_ns,
        end_ns: heat.end_ns,
        shown,
        values: (heat.busy.iter())
            .map(|shares| shares.iter().map(|share| Some(100.0 * share)).collect())
            .collect(),
        overall: (0..heat.busy.len()).map(percent).collect(),
        scale: Scale {
            ends: (0.0, 100.0),
            names: ("idle".to_string(), "busy all the time".to_string()),
            unit: "% busy".to_string(),
            digits: 0,
            blank: None,
        },
    }
}

fn clock_map(
    title: String,
    heat: &Heat,
    clocks: &Clocks,
    shown: CpuSet,
    ends: (f64, f64),
) -> CpuMap {
    let figure = |khz: Option<f64>| khz.map_or(String::new(), |khz| format!("{:.2}", ghz(khz)));
    let overall = clocks.mean_khz.map_or(String::new(), |khz| {
        format!(" All together ran at {:.3} GHz on average.", ghz(khz))
    });
    CpuMap {
        title,
        description: format!(
            "Mean clock of {} CPUs in GHz while they ran a task, from {:.1} to {:.1}, dark is slow; blank where they ran none.{overall}",
            shown.len(),
            ends.0,
            ends.1
        ),
        slice_ns: heat.slice_ns,
        end_ns: heat.end_ns,
        shown,
        values: (clocks.khz.iter())
            .map(|row| row.iter().map(|khz| khz.map(ghz)).collect())
            .collect(),
        overall: clocks.cpu_khz.iter().map(|&khz| figure(khz)).collect(),
        scale: Scale {
            ends,
            names: (format!("{:.1} GHz", ends.0), format!("{:.1} GHz", ends.1)),
            unit: "GHz".to_string(),
            digits: 2,
            blank: Some("ran no task".to_string()),
        },
    }
}

fn ghz(khz: f64) -> f64 {
    khz / 1e6
}

/// Ends of the scale of all clock maps in GHz, whole tenths.
fn clock_ends<'a>(of: impl Iterator<Item = &'a Clocks>) -> Option<(f64, f64)> {
    let all = of.flat_map(|c| &c.khz).flatten().flatten().map(|&khz| ghz(khz));
    let (low, high) = all.fold(None, |ends: Option<(f64, f64)>, v| {
        Some(ends.map_or((v, v), |(low, high)| (low.min(v), high.max(v))))
    })?;
    // Means of one clock can be a rounding error away from it.
    let (low, high) = (tenths(low, f64::floor), tenths(high, f64::ceil));
    Some((low, if high > low { high } else { low + 0.1 }))
}

/// `ghz` in tenths, rounded by `way` where it is not some already.
fn tenths(ghz: f64, way: fn(f64) -> f64) -> f64 {
    way((ghz * 1e5).round() / 1e4) / 10.0
}

fn governed(
    workload: &str,
    runs: &[(usize, &str, &Heat)],
) -> Result<Option<Governed>, ReportError> {
    let (mut rows, mut watts) = (Vec::new(), Vec::new());
    for &(place, name, heat) in runs {
        let Some(clocks) = &heat.clocks else { continue };
        rows.push(row(place, name, heat, clocks));
        watts.push(Watts {
            name: name.to_string(),
            variant: place,
            slice_ns: heat.slice_ns,
            end_ns: heat.end_ns,
            packages: clocks.watts.clone(),
        });
    }
    if rows.is_empty() {
        return Ok(None);
    }
    let title = format!("Power of each package over time, {workload}");
    let svg = power(&title, &watts)?;
    let picture =
        svg.map(|svg| Picture { name: "power".to_string(), title, svg, is_titled: false });
    Ok(Some(Governed { rows, picture }))
}

fn row(place: usize, name: &str, heat: &Heat, clocks: &Clocks) -> GovernedRow {
    let seconds = heat.end_ns as f64 / 1e9;
    let joules: f64 = clocks.energy_j.iter().sum();
    let watts = |joules: f64| {
        if seconds > 0.0 { format!("{:.1}", joules / seconds) } else { String::new() }
    };
    let packages: Vec<String> = clocks.energy_j.iter().map(|&joules| watts(joules)).collect();
    GovernedRow {
        place,
        name: name.to_string(),
        colour: colours::hex(colours::variant(place)),
        clock: clocks.mean_khz.map_or("ran nothing".to_string(), |khz| format!("{:.3}", ghz(khz))),
        watts: watts(joules),
        packages: packages.join(" + "),
        joules: format!("{joules:.1}"),
        length: format!("{:.1}", 1e3 * seconds),
    }
}
