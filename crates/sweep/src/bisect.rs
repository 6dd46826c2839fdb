//! Bisection: an experiment with a table `[bisect]`, whose runs are cells of a sweep over the parameter and seeds.
//!
//! What was run is known by the cells' addresses, so a search holds no state of its own: it reads what the dataset has and says which
//! cells it needs to go on. Whoever asks runs them, on whatever runs cells.

use crate::axis::{Axis, label};
use crate::cell::Cell;
use crate::dataset::CELLS;
use crate::error::SweepError;
use crate::file::Sweep;
use crate::read;
use definition::{DefinitionError, file::parse_toml};
use results::swept::{Choice, Given, Swept};
use results::turns::{Bounds, Point, Turns};
use serde::Deserialize;
use stats::{Confidence, Resampling, Verdict};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use toml::{Table, Value};

/// Cells with different seeds that a value gets at most, if the file does not say.
const SEEDS: u64 = 8;
const MOST_SEEDS: u64 = 1024;
/// Fewest and most resamples behind an interval, and how many times the inverse of a look's error: as in a table's comparison.
const RESAMPLES: (f64, f64) = (10_000.0, 1e6);
const RESAMPLES_PER_STEP: f64 = 4.0;

/// The table `[bisect]`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    parameter: String,
    from: Value,
    to: Value,
    width: Value,
    seeds: Option<u64>,
    workload: Option<String>,
    metric: Option<String>,
    variant: Option<String>,
}

/// A search for the value of a parameter at which a change turns from gain to loss.
#[derive(Debug)]
pub struct Bisection {
    path: String,
    experiment: Table,
    parameter: String,
    bounds: Bounds,
    choice: Choice,
    seed: u64,
    seeds: u64,
    level: Confidence,
    known: Mutex<Known>,
}

/// What was made or reckoned before. All of it follows from the file and the dataset.
#[derive(Debug, Default)]
struct Known {
    /// Cells that were asked for.
    cells: Vec<Cell>,
    /// Where in them a value's cell is, by the number of its seed.
    of_value: BTreeMap<(String, u64), usize>,
    /// What a value's first cells prove.
    looks: BTreeMap<(String, u64), (Point, Names)>,
}

/// What is compared.
#[derive(Debug, Clone)]
struct Names {
    about: results::swept::Series,
    variant: String,
}

/// What a search needs or has found.
#[derive(Debug)]
pub enum Next {
    /// Cells that are to be run, and those of earlier steps.
    Run(Vec<Cell>),
    /// The answer.
    Ended(Box<Turns>),
}

impl Bisection {
    /// Reads a file.
    ///
    /// # Errors
    /// A file that cannot be read, and what [`Bisection::of_table`] refuses.
    pub fn load(path: &Path) -> Result<Bisection, SweepError> {
        let file = path.display().to_string();
        let text = std::fs::read_to_string(path)
            .map_err(|reason| DefinitionError::Io { file: file.clone(), reason })?;
        Bisection::parse(&text, &file)
    }

    /// Reads `text`, naming it `file` in errors.
    ///
    /// # Errors
    /// Text that is no TOML, and what [`Bisection::of_table`] refuses.
    pub fn parse(text: &str, file: &str) -> Result<Bisection, SweepError> {
        Bisection::of_table(parse_toml::<Table>(text, file)?, file)
    }

    /// The search of an experiment with the table `bisect`, naming it `file` in errors.
    ///
    /// # Errors
    /// No such table, bounds that are none, an experiment that cannot be at one of its ends, names that it does not have.
    pub fn of_table(mut experiment: Table, file: &str) -> Result<Bisection, SweepError> {
        let wrong = |field: &str, found: &str, expected: &str| {
            let field = if field.is_empty() { "bisect" } else { &format!("bisect.{field}") };
            SweepError::field(file, field, found, expected)
        };
        let fields = "a table [bisect] with parameter, from, to and width";
        let table = match experiment.remove("bisect") {
            Some(table @ Value::Table(_)) => table,
            Some(other) => return Err(wrong("", &other.to_string(), fields)),
            None => return Err(wrong("", "none", fields)),
        };
        let entry: Entry =
            table.try_into().map_err(|e: toml::de::Error| wrong("", e.message(), fields))?;
        let bounds =
            bounds(&entry).map_err(|(field, found, expected)| wrong(field, &found, expected))?;
        let seeds = entry.seeds.unwrap_or(SEEDS);
        if !(1..=MOST_SEEDS).contains(&seeds) {
            return Err(wrong("seeds", &seeds.to_string(), &format!("1 to {MOST_SEEDS}")));
        }
        if !entry.parameter.contains('.') {
            let expected = "the path of a number, such as workload.NAME.BENCHMARK.PARAMETER";
            return Err(wrong("parameter", &format!("`{}`", entry.parameter), expected));
        }
        let level = bounds.level(looks(seeds).count());
        let level = level.map_err(|e| wrong("width", &e.to_string(), "a wider one"))?;
        let mut bisection = Bisection {
            path: file.to_string(),
            experiment,
            parameter: entry.parameter,
            bounds,
            choice: Choice {
                workload: entry.workload,
                metric: entry.metric,
                variant: entry.variant,
            },
            seed: 0,
            seeds,
            level,
            known: Mutex::default(),
        };
        bisection.check()?;
        Ok(bisection)
    }

    /// Refuses what would be refused when cells are run: the experiment at both ends, and names.
    fn check(&mut self) -> Result<(), SweepError> {
        let file = |field: &str, found: String, expected: &str| {
            Err(SweepError::field(&self.path, &format!("bisect.{field}"), &found, expected))
        };
        let mut low = self.cells_of(self.bounds.from, 0..1)?;
        self.cells_of(self.bounds.to, 0..1)?;
        let experiment = low.remove(0).experiment;
        let workloads: Vec<&str> = experiment.workloads.iter().map(|w| &*w.name).collect();
        let variants: Vec<&str> = experiment.variants.iter().map(|v| &*v.name).collect();
        let one_of = |names: &[&str]| format!("one of {}", names.join(", "));
        let lacks = |name: &Option<String>, names: &[&str]| match name {
            Some(name) if names.contains(&name.as_str()) => None,
            Some(name) => Some(format!("`{name}`")),
            None => (names.len() != 1).then(|| "none".to_string()),
        };
        if let Some(found) = lacks(&self.choice.workload, &workloads) {
            return file("workload", found, &one_of(&workloads));
        }
        let Some((_, others @ [_, ..])) = variants.split_first() else {
            return file("variant", format!("{} variants", variants.len()), "two or more");
        };
        if let Some(found) = lacks(&self.choice.variant, others) {
            return file("variant", found, &one_of(others));
        }
        let only = others[0].to_string();
        self.choice.variant.get_or_insert(only);
        self.seed = experiment.seed();
        Ok(())
    }

    /// Cells of a value, by the numbers of their seeds.
    fn cells_of(&self, value: f64, seeds: std::ops::Range<u64>) -> Result<Vec<Cell>, SweepError> {
        // Seeds of a file are signed.
        let seed = |n: u64| Value::Integer(self.seed.wrapping_add(n) as i64);
        let axis = |name: &str, values: Vec<Value>| Axis { name: name.to_string(), values };
        let axes = vec![
            axis(&self.parameter, vec![self.value(value)]),
            axis("seed", seeds.map(seed).collect()),
        ];
        Sweep::of_axes(self.experiment.clone(), axes, &self.path).cells()
    }

    fn value(&self, value: f64) -> Value {
        match self.bounds.is_whole {
            true => Value::Integer(value as i64),
            false => Value::Float(value),
        }
    }

    /// Goes on as far as the dataset in the directory `dir` allows.
    ///
    /// # Errors
    /// Cells that cannot be, files that are none, a metric that there is not.
    pub fn next(&self, dir: &Path) -> Result<Next, SweepError> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let mut failed = None;
        let mut points = BTreeMap::new();
        let mut names = None;
        let turns = self.bounds.search(&mut |value| match self.look(&mut known, dir, value) {
            Ok(Some((point, of))) => {
                points.insert(label(&self.value(value)), point);
                names = Some(of);
                Some(point.verdict)
            }
            Ok(None) => None,
            Err(e) => {
                failed.get_or_insert(e);
                None
            }
        });
        match (failed, turns, names) {
            (Some(e), ..) => Err(e),
            (None, Some(turns), Some(names)) => {
                let mut points: Vec<Point> = points.into_values().collect();
                points.sort_by(|a, b| a.value.total_cmp(&b.value));
                Ok(Next::Ended(Box::new(self.answer(names, points, turns))))
            }
            _ => Ok(Next::Run(known.cells.clone())),
        }
    }

    fn answer(&self, names: Names, points: Vec<Point>, turns: Vec<results::turns::Turn>) -> Turns {
        let Names { about, variant } = names;
        Turns {
            parameter: self.parameter.clone(),
            workload: about.workload,
            metric: about.metric,
            unit: about.unit,
            better: about.better,
            baseline: about.variant,
            variant,
            bounds: self.bounds,
            level: self.level,
            points,
            turns,
        }
    }

    /// What is proven at a value, with as many runs as it takes or as there may be; `None` where runs are lacking, which are asked for
    /// then.
    fn look(
        &self,
        known: &mut Known,
        dir: &Path,
        value: f64,
    ) -> Result<Option<(Point, Names)>, SweepError> {
        let name = label(&self.value(value));
        let mut last = None;
        for cells in looks(self.seeds) {
            let key = (name.clone(), cells);
            if !known.looks.contains_key(&key) {
                let Some(given) = self.given(known, dir, value, cells)? else { return Ok(None) };
                known.looks.insert(key.clone(), self.point(dir, value, given)?);
            }
            last = known.looks.get(&key).cloned();
            if last.as_ref().is_some_and(|(p, _)| p.verdict != Verdict::NoDifference) {
                break;
            }
        }
        Ok(last)
    }

    /// What the first `number` cells of a value gave; `None` if some were not run.
    fn given(
        &self,
        known: &mut Known,
        dir: &Path,
        value: f64,
        number: u64,
    ) -> Result<Option<Vec<Given>>, SweepError> {
        let name = label(&self.value(value));
        let mut given = Vec::new();
        for n in 0..number {
            let at = match known.of_value.get(&(name.clone(), n)) {
                Some(&at) => at,
                None => {
                    known.cells.extend(self.cells_of(value, n..n + 1)?);
                    known.of_value.insert((name.clone(), n), known.cells.len() - 1);
                    known.cells.len() - 1
                }
            };
            let cell = &known.cells[at];
            let path = dir.join(CELLS).join(cell.place());
            if path.is_file() {
                given.push(read::cell(&path, cell.axes.clone())?);
            }
        }
        Ok((given.len() as u64 == number).then_some(given))
    }

    /// What the runs of `cells` say together.
    fn point(
        &self,
        dir: &Path,
        value: f64,
        cells: Vec<Given>,
    ) -> Result<(Point, Names), SweepError> {
        let axes = vec![self.parameter.clone(), "seed".to_string()];
        let swept = Swept { dir: dir.display().to_string(), axes, cells, missing: vec![] };
        let about = swept.chosen(&self.choice)?.clone();
        let mut both = [vec![], vec![]];
        for cell in &swept.cells {
            let samples = cell.samples(&about, self.choice.variant.as_ref());
            both.iter_mut().zip(samples).for_each(|(all, some)| all.extend(some));
        }
        let [base, variant] = &both;
        let error = 1.0 - self.level.level();
        let resamples = (RESAMPLES_PER_STEP / error).ceil().clamp(RESAMPLES.0, RESAMPLES.1);
        let strict = Resampling::new(resamples as u32, 1, self.level)
            .map_err(results::ResultsError::from)?;
        let shown = results::analysis::resampling().map_err(results::ResultsError::from)?;
        let judged = stats::compare(base, variant, about.better, &strict);
        let point = Point {
            value,
            runs: base.len(),
            percent: stats::percent_change(base, variant, about.better, &shown),
            verdict: judged.map_or(Verdict::NoDifference, |c| c.verdict),
            smallest_percent: judged.map(|c| c.smallest_detectable_percent),
        };
        let variant = self.choice.variant.clone();
        let variant = variant.ok_or_else(|| swept.wrong("variant", "none", "one"))?;
        Ok((point, Names { about, variant }))
    }
}

/// How many cells a value has at each look: 1, 2, 4 and so on, up to `seeds`.
fn looks(seeds: u64) -> impl Iterator<Item = u64> {
    let doubled = std::iter::successors(Some(1), |n: &u64| Some(n * 2));
    doubled.take_while(move |n| *n < seeds).chain([seeds])
}

/// The bounds of a table, or the field, what was found and what was expected.
fn bounds(entry: &Entry) -> Result<Bounds, (&'static str, String, &'static str)> {
    let all = [("from", &entry.from), ("to", &entry.to), ("width", &entry.width)];
    let mut numbers = [0.0; 3];
    for ((field, value), number) in all.into_iter().zip(&mut numbers) {
        *number = match value {
            Value::Integer(n) => *n as f64,
            Value::Float(n) if n.is_finite() => *n,
            other => return Err((field, other.to_string(), "a number")),
        };
    }
    let [from, to, width] = numbers;
    if from >= to {
        return Err(("to", entry.to.to_string(), "more than `from`"));
    }
    if width <= 0.0 || width > to - from {
        return Err(("width", entry.width.to_string(), "more than 0, at most `to` - `from`"));
    }
    let is_whole = all.iter().all(|(_, value)| value.is_integer());
    Ok(Bounds { from, to, width, is_whole })
}
