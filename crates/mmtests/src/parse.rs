//! Parsers of the benchmarks' output.

mod schbench;

use crate::Series;
use crate::error::MmtestsError;
use crate::layout::{Label, Metric, Reader};

/// The samples in `text`, the text of the log `file`.
pub(crate) fn series(reader: &Reader, file: &str, text: &str) -> Result<Vec<Series>, MmtestsError> {
    let log = Log { file, text };
    let one =
        |metric, label: &Label, samples| vec![Series { metric, label: label.clone(), samples }];
    Ok(match reader {
        Reader::Hackbench(label) => one(Metric::Time, label, hackbench(&log)?),
        Reader::Loadfile { label, metric, drops_wrapped } => {
            one(*metric, label, loadfile(&log, *drops_wrapped)?)
        }
        Reader::Throughput { label, warm_up } => {
            one(Metric::Throughput, label, throughput(&log, *warm_up)?)
        }
        Reader::Times(label) => times(&log, label)?,
        Reader::Schbench { workers } => schbench::series(&log, *workers)?,
    })
}

/// The text of a log, and its name for error messages.
struct Log<'a> {
    file: &'a str,
    text: &'a str,
}

impl<'a> Log<'a> {
    /// Lines with their numbers, from 1.
    fn lines(&self) -> impl Iterator<Item = (usize, &'a str)> {
        self.text.lines().enumerate().map(|(i, line)| (i + 1, line))
    }

    fn refused(&self, line: usize, found: &str, expected: &str) -> MmtestsError {
        let clipped: String = found.trim().chars().take(60).collect();
        MmtestsError::Line {
            file: self.file.to_string(),
            line,
            found: format!("`{}`", clipped.escape_debug()),
            expected: expected.to_string(),
        }
    }

    /// Parses a finite number that is not negative.
    fn number(&self, line: usize, text: &str, expected: &str) -> Result<f64, MmtestsError> {
        match text.parse::<f64>() {
            Ok(number) if number.is_finite() && number >= 0.0 => Ok(number),
            _ => Err(self.refused(line, text, expected)),
        }
    }

    /// The number in the field `index` (from 0) of a line.
    fn field(
        &self,
        (line, text): (usize, &str),
        index: usize,
        expected: &str,
    ) -> Result<f64, MmtestsError> {
        match text.split_whitespace().nth(index) {
            Some(field) => self.number(line, field, expected),
            None => Err(self.refused(line, text, expected)),
        }
    }
}

/// `Total time: 1.234 [sec]`, of every iteration in the log.
fn hackbench(log: &Log) -> Result<Vec<f64>, MmtestsError> {
    let lines = log.lines().filter(|(_, text)| text.contains("Total time:"));
    lines.map(|line| log.field(line, 2, "`Total time: SECONDS [sec]`")).collect()
}

/// `0 completed in 98 ms at time 1234 ms`: the worker and its time in ms.
fn loadfile(log: &Log, drops_wrapped: bool) -> Result<Vec<f64>, MmtestsError> {
    let lines = log.lines().filter(|(_, text)| text.contains("completed in"));
    let times = lines.map(|line| log.field(line, 3, "`WORKER completed in MILLISECONDS ms ...`"));
    let wrapped = |time: f64| time > f64::from(1u32 << 31);
    times.filter(|time| !(drops_wrapped && time.as_ref().is_ok_and(|&t| wrapped(t)))).collect()
}

/// `1  42719  427.19 MB/sec  execute  5 sec  latency 0.3 ms`.
fn throughput(log: &Log, warm_up: usize) -> Result<Vec<f64>, MmtestsError> {
    let lines = log.lines().filter(|(_, text)| text.contains("execute") && text.contains("/sec"));
    lines
        .skip(warm_up)
        .map(|line| log.field(line, 2, "`CLIENTS OPERATIONS MB MB/sec execute ...`"))
        .collect()
}

/// GNU time: `4711.03user 242.22system 8:31.07elapsed 969%CPU (...)`, one line per iteration.
fn times(log: &Log, label: &Label) -> Result<Vec<Series>, MmtestsError> {
    let metrics =
        [(Metric::Elapsed, "elapsed"), (Metric::System, "system"), (Metric::User, "user")];
    let mut all =
        metrics.map(|(metric, _)| Series { metric, label: label.clone(), samples: vec![] });
    for (line, text) in log.lines().filter(|(_, text)| text.contains("elapsed")) {
        for ((_, suffix), series) in metrics.iter().zip(&mut all) {
            let field = text.split_whitespace().find_map(|f| f.strip_suffix(suffix));
            let expected = "GNU time's `NUMBERuser NUMBERsystem [H:]MM:SSelapsed`";
            let field = field.ok_or_else(|| log.refused(line, text, expected))?;
            let parts = field.split(':').map(|part| log.number(line, part, expected));
            let seconds = parts.collect::<Result<Vec<f64>, _>>()?;
            if seconds.len() > 3 {
                return Err(log.refused(line, field, expected));
            }
            series.samples.push(seconds.iter().fold(0.0, |all, part| 60.0 * all + part));
        }
    }
    Ok(all.to_vec())
}
