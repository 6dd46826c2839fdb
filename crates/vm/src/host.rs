//! Programs of this computer: running one, and saying what to install where it is missing.

use crate::VmError;
use std::process::Command;

/// Runs a program to its end and returns what it printed.
///
/// # Errors
/// A program that is not there, or fails, with its errors.
pub(crate) fn run(command: &mut Command) -> Result<String, VmError> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|source| missing(&program, source))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let errors: Vec<&str> = said.lines().filter(|l| l.starts_with("E:")).collect();
        let message = match errors.is_empty() {
            true => said.trim().lines().last().unwrap_or("nothing said").to_owned(),
            false => errors.join("; "),
        };
        return Err(VmError::Failed { program, status: output.status.to_string(), message });
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// A program that does not start, and how to get it.
pub(crate) fn missing(program: &str, source: std::io::Error) -> VmError {
    let package = match program {
        "apt-get" | "apt-cache" => "apt",
        "dpkg-deb" => "dpkg",
        other => other,
    };
    let install = format!("apt install {package}");
    VmError::Program { program: program.to_owned(), source, install }
}
