//! Figures out of a command that ended: times, and numbers in what it printed.

use crate::HostError;
use crate::launch::Ended;
use regex::{Regex, RegexBuilder};
use serde_json::Value;
use workload::command::{Clock, Figure, Params};

/// How the figures of a command are read.
#[derive(Debug, Clone)]
pub struct Figures {
    all: Vec<(String, Source)>,
    expect: Option<Regex>,
}

#[derive(Debug, Clone)]
enum Source {
    Clock(Clock),
    Regex(Regex),
    Json(String),
}

impl Figures {
    /// Those of `params`, which are checked.
    ///
    /// # Errors
    /// A regular expression that is none, or has not one group.
    pub fn of(params: &Params) -> Result<Figures, HostError> {
        let regex = |field: &str, text: &str| {
            // As grep has it, `^` and `$` are ends of lines.
            RegexBuilder::new(text).multi_line(true).build().map_err(|e| {
                let last = e.to_string().lines().last().unwrap_or_default().trim().to_owned();
                HostError::NotHere {
                    field: format!("command.{field}"),
                    found: format!("`{text}` ({last})"),
                    expected: "a regular expression".to_owned(),
                }
            })
        };
        let source = |figure: &Figure| match (figure.clock, &figure.regex, &figure.json) {
            (Some(clock), _, _) => Ok(Source::Clock(clock)),
            (None, Some(text), _) => {
                let found = regex("figures.regex", text)?;
                match found.captures_len() {
                    2 => Ok(Source::Regex(found)),
                    groups => Err(HostError::NotHere {
                        field: "command.figures.regex".to_owned(),
                        found: format!("`{text}` with {} groups", groups - 1),
                        expected: "one group, which is the number".to_owned(),
                    }),
                }
            }
            (None, None, pointer) => Ok(Source::Json(pointer.clone().unwrap_or_default())),
        };
        let of = |figure: &Figure| Ok((figure.name().to_owned(), source(figure)?));
        Ok(Figures {
            all: params.figures().iter().map(of).collect::<Result<_, HostError>>()?,
            expect: params.expect.as_deref().map(|text| regex("expect", text)).transpose()?,
        })
    }

    /// The figures of a command that ended well, in their order.
    ///
    /// # Errors
    /// What it did not print, in words.
    pub fn read(&self, ended: &Ended) -> Result<Vec<f64>, String> {
        if let Some(expect) = self.expect.as_ref().filter(|e| !e.is_match(&ended.stdout)) {
            return Err(format!("found no `{expect}` in what it printed, expected it"));
        }
        self.all.iter().map(|(name, source)| figure(name, source, ended)).collect()
    }
}

fn figure(name: &str, source: &Source, ended: &Ended) -> Result<f64, String> {
    let value = match source {
        Source::Clock(Clock::Wall) => ended.wall.as_secs_f64(),
        Source::Clock(Clock::User) => ended.user.as_secs_f64(),
        Source::Clock(Clock::Sys) => ended.sys.as_secs_f64(),
        Source::Regex(regex) => {
            let last = regex.captures_iter(&ended.stdout).last();
            let text = last.as_ref().and_then(|c| Some(c.get(1)?.as_str()));
            let text =
                text.ok_or_else(|| format!("{name}: found no `{regex}` in what it printed"))?;
            text.trim().parse().map_err(|_| format!("{name}: found `{text}`, expected a number"))?
        }
        Source::Json(pointer) => {
            let json: Value = serde_json::from_str(&ended.stdout)
                .map_err(|e| format!("{name}: found no JSON in what it printed: {e}"))?;
            let found = json.pointer(pointer);
            let found = found.ok_or_else(|| format!("{name}: found no `{pointer}` in its JSON"))?;
            found.as_f64().ok_or_else(|| format!("{name}: found {found}, expected a number"))?
        }
    };
    match value.is_finite() && value >= 0.0 {
        true => Ok(value),
        false => Err(format!("{name}: found {value}, expected a number of at least 0")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn read(figures: &str, stdout: &str) -> Result<Vec<f64>, String> {
        let json = format!(r#"{{ "argv": ["a"], "figures": [{figures}], "expect": "o" }}"#);
        let params: Params = serde_json::from_str(&json).unwrap();
        let ended = Ended {
            code: Some(0),
            signal: None,
            is_late: false,
            wall: Duration::from_millis(2500),
            user: Duration::from_secs(1),
            sys: Duration::ZERO,
            stdout: stdout.to_owned(),
            stderr: String::new(),
            counters: vec![],
        };
        Figures::of(&params).map_err(|e| e.to_string())?.read(&ended)
    }

    #[test]
    fn times_and_numbers() {
        let clocks = r#"{ "clock": "wall" }, { "clock": "sys" }"#;
        assert_eq!(read(clocks, "ok").unwrap(), [2.5, 0.0]);
        let regex = r#"{ "name": "x", "better": "higher", "regex": "^ops: ([0-9.]+)$" }"#;
        assert_eq!(read(regex, "ops: 3\nops: 4.5\n").unwrap(), [4.5]);
        let json = r#"{ "name": "x", "better": "lower", "json": "/o/1" }"#;
        assert_eq!(read(json, r#"{ "o": [1, 2e3] }"#).unwrap(), [2000.0]);
    }

    #[test]
    fn what_was_not_printed_is_named() {
        let regex = r#"{ "name": "x", "better": "higher", "regex": "(o+)" }"#;
        let json = r#"{ "name": "x", "better": "lower", "json": "/a" }"#;
        for (figures, stdout, expected) in [
            (regex, "foo", "x: found `oo`, expected a number"),
            (regex, "bar", "found no `o` in what it printed"),
            (json, "foo", "x: found no JSON"),
            (json, r#"{ "o": 1 }"#, "x: found no `/a` in its JSON"),
            (json, r#"{ "a": "o" }"#, "x: found \"o\", expected a number"),
            (json, r#"{ "a": -1, "o": 0 }"#, "x: found -1, expected a number of at least 0"),
            (
                r#"{ "name": "x", "better": "lower", "regex": "o" }"#,
                "o",
                "command.figures.regex: found `o` with 0 groups, expected one group",
            ),
            (
                r#"{ "name": "x", "better": "lower", "regex": "(" }"#,
                "o",
                "command.figures.regex: found `(`",
            ),
        ] {
            let error = read(figures, stdout).unwrap_err();
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
