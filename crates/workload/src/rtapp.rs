//! Workloads written for rt-app: its files read into a tree, and the tree turned into programs.
//!
//! The grammar is that of rt-app's `doc/tutorial.txt`. The files are almost JSON: they have comments and
//! trailing commas, repeat keys (`"run"`, `"sleep"`, `"run"`), which rt-app's `workgen` makes unique before
//! rt-app sees them, and leave out the value of `suspend`, which older `workgen`s filled in.

pub mod ast;
mod build;
mod error;
mod event;
mod feature;
mod fields;
mod global;
mod memory;
mod task;
mod text;

pub use build::{Built, Costs, build};
pub use error::RtAppError;
pub use feature::{Feature, Ignored};

use crate::{BuildError, Target};
use ast::RtApp;
use fields::Item;
use serde::{Deserialize, Serialize};

/// What repeated keys of one object mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Duplicates {
    /// As after `workgen`: events, phases and tasks are kept in their order; a repeated property is an error.
    #[default]
    InOrder,
    /// As json-c, and with it rt-app alone, has it: the last value, at the place of the first.
    LastWins,
}

/// What keys outside the grammar are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnknownKeys {
    /// Errors.
    #[default]
    Refuse,
    /// Nothing, as for rt-app.
    Ignore,
}

/// How a file is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Options {
    /// Repeated keys.
    pub duplicates: Duplicates,
    /// Keys outside the grammar.
    pub unknown_keys: UnknownKeys,
}

/// What `suspend` waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Suspend {
    /// A `resume` of the task's own name, whatever its string: rt-app since May 2025, and its tutorial.
    #[default]
    OwnName,
    /// A `resume` of its string, or of the task's name where it has none: rt-app before, for which its examples
    /// `browser-*.json` and `video-*.json` are written.
    Named,
}

/// How a file is run.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// The file; relative to the experiment file. Empty where `text` says it all.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub file: String,
    /// What a file would hold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Length of the run in s, instead of the file's `duration`.
    pub duration_s: Option<f64>,
    /// Repeated keys.
    #[serde(default)]
    pub duplicates: Duplicates,
    /// Keys outside the grammar.
    #[serde(default)]
    pub unknown_keys: UnknownKeys,
    /// What `suspend` waits for.
    #[serde(default)]
    pub suspend: Suspend,
    /// What is left out where the file asks for it.
    #[serde(default)]
    pub ignore: Vec<Feature>,
}

impl Params {
    /// Name and text of the file; `read` reads one.
    ///
    /// # Errors
    /// A file that cannot be read, and neither a file nor a text, or both.
    pub fn source(
        &self,
        read: &dyn Fn(&str) -> std::io::Result<String>,
    ) -> Result<(&str, String), BuildError> {
        let wrong =
            |file: &str, reason: String| BuildError::File { file: file.to_string(), reason };
        match (&self.text, self.file.as_str()) {
            (Some(text), "") => Ok(("text", text.clone())),
            (None, "") => Err(wrong("rt_app", "found neither file nor text, expected one".into())),
            (None, file) => Ok((file, read(file).map_err(|e| wrong(file, e.to_string()))?)),
            (Some(_), _) => Err(wrong("rt_app", "found file and text, expected one".into())),
        }
    }
}

/// Reads an rt-app file, which errors call `file`.
///
/// # Errors
///
/// Text that json-c would not take, values of the wrong type or out of range, keys outside the grammar, and
/// files without `tasks`, such as the fragments that rt-app's `merge.py` joins.
pub fn read(text: &str, file: &str, options: Options) -> Result<RtApp, RtAppError> {
    let source = text::Source::new(text, file)?;
    let tree = source.parse()?.ok_or_else(|| source.empty())?;
    let mut root = Item::root(&source, &tree, options).fields("an object with `tasks`")?;
    let global = global::read(&mut root)?;
    let resources = global::resources(&mut root)?;
    let tasks = task::read_all(&mut root, global.default_policy)?;
    root.finish("`global`, `resources` or `tasks`")?;
    let app = RtApp { file: file.to_string(), global, resources, tasks };
    memory::check_shared(&app)?;
    Ok(app)
}

/// Builds the workload of the file that `params` name.
///
/// # Errors
///
/// A file that cannot be read, what [`read`] and [`build()`] refuse, and a machine without `nominal_khz`.
pub(crate) fn build_file(params: &Params, target: &Target<'_>) -> Result<Built, BuildError> {
    let (file, text) = params.source(target.read)?;
    let nominal_khz = target.constants.value("nominal_khz")?;
    let options = Options { duplicates: params.duplicates, unknown_keys: params.unknown_keys };
    let app = read(&text, file, options)?;
    Ok(build(
        &app,
        params,
        &Costs { nominal_khz, online: target.online.clone(), deadlines: target.deadlines },
    )?)
}
