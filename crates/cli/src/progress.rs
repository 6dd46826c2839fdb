//! Progress on a terminal's stderr.

use crate::Failure;
use indicatif::{ProgressBar, ProgressStyle};
use std::time::Duration;

/// How often a bar moves while nothing is told.
const TICK: Duration = Duration::from_millis(200);

/// A bar of this form, hidden where stderr is no terminal.
pub fn bar(form: &str) -> Result<ProgressBar, Failure> {
    let bar = ProgressBar::new(0);
    bar.set_style(ProgressStyle::with_template(form)?);
    bar.enable_steady_tick(TICK);
    Ok(bar)
}
