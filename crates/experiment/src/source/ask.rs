//! Replicas of one workload under one variant, as many as threads ask at once.

use super::{Answer, Ask, Start};
use crate::engine::EngineError;
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, PoisonError};

/// Replicas that wait for a run.
#[derive(Debug)]
pub struct Replicas {
    program: (PathBuf, Vec<String>),
    environment: Vec<(String, OsString)>,
    /// The workload and the variant that they run.
    pub(super) of: (String, String),
    start: Vec<u8>,
    idle: Mutex<Vec<Replica>>,
}

/// A process. It ends when its stdin does.
#[derive(Debug)]
struct Replica {
    child: Child,
    asks: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Replicas {
    pub(super) fn new(
        program: (PathBuf, Vec<String>),
        environment: Vec<(String, OsString)>,
        of: (String, String),
        start: &Start,
    ) -> Result<Replicas, EngineError> {
        let mut line = serde_json::to_vec(start)?;
        line.push(b'\n');
        Ok(Replicas { program, environment, of, start: line, idle: Mutex::default() })
    }

    /// One run, in a replica that waits or in a new one.
    pub(super) fn ask(&self, ask: Ask) -> Result<Answer, EngineError> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut replica = match idle {
            Some(replica) => replica,
            None => self.new_one()?,
        };
        let answer = replica.ask(ask)?;
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(replica);
        Ok(answer)
    }

    /// Ends those that wait.
    pub(super) fn end(&self) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    fn new_one(&self) -> Result<Replica, EngineError> {
        let mut command = Command::new(&self.program.0);
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command.args(&self.program.1).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::piped()).spawn().map_err(process)?;
        let (Some(asks), Some(answers)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(EngineError::Reported("a replica without stdin and stdout".to_string()));
        };
        let mut replica = Replica { child, asks: Some(asks), answers: BufReader::new(answers) };
        replica.say(&self.start)?;
        Ok(replica)
    }
}

fn process(error: std::io::Error) -> EngineError {
    EngineError::Reported(format!("replica: {error}"))
}

impl Replica {
    fn say(&mut self, line: &[u8]) -> Result<(), EngineError> {
        let written = self.asks.as_mut().map(|asks| asks.write_all(line));
        match written {
            Some(Ok(())) => Ok(()),
            _ => Err(self.last_words()),
        }
    }

    fn ask(&mut self, ask: Ask) -> Result<Answer, EngineError> {
        let mut line = serde_json::to_vec(&ask)?;
        line.push(b'\n');
        self.say(&line)?;
        let mut text = String::new();
        match self.answers.read_line(&mut text) {
            Ok(length) if length > 0 => Ok(serde_json::from_str(&text)?),
            _ => Err(self.last_words()),
        }
    }

    /// Why it has ended.
    fn last_words(&mut self) -> EngineError {
        self.asks = None;
        let mut said = Vec::new();
        if let Some(mut stderr) = self.child.stderr.take() {
            // What cannot be read is not said.
            let _ = stderr.read_to_end(&mut said);
        }
        match self.child.wait() {
            Ok(status) => EngineError::Reported(replica::last_words(&said, status)),
            Err(error) => process(error),
        }
    }
}

impl Drop for Replica {
    fn drop(&mut self) {
        self.asks = None;
        // It ends by itself, and nobody needs to know how.
        let _ = self.child.wait();
    }
}
