//! Columns of `CompactSched`, record by record.

use super::window::{Input, Window};
use crate::TraceError;
use std::io::{Read, Seek};

/// `N` columns of numbers, of which the first are times.
#[derive(Debug)]
pub(super) struct Columns<const N: usize> {
    windows: [Window; N],
    /// Columns that must be there; a missing one behind them is all zeros.
    needed: usize,
    /// The current record: its time, and the other columns as they are.
    pub row: Option<[u64; N]>,
    time: u64,
    /// Whether columns are no numbers, or end before others.
    pub damaged: bool,
}

impl<const N: usize> Columns<N> {
    pub(super) fn new(needed: usize) -> Columns<N> {
        let windows = std::array::from_fn(|_| Window::default());
        Columns { windows, needed, row: None, time: 0, damaged: false }
    }

    /// Takes a column's numbers.
    pub(super) fn set(&mut self, column: usize, numbers: Window) {
        if let Some(window) = self.windows.get_mut(column) {
            self.damaged |= !window.is_empty();
            *window = numbers;
        }
    }

    /// Goes to the next record.
    pub(super) fn next<R: Read + Seek>(&mut self, input: &mut Input<R>) -> Result<(), TraceError> {
        self.row = None;
        let mut row = [0; N];
        for (nth, (number, window)) in row.iter_mut().zip(&mut self.windows).enumerate() {
            window.fill(input)?;
            match window.number() {
                Some(found) => *number = found,
                None if nth >= self.needed && window.flaw().is_none() => {}
                None => {
                    self.end();
                    return Ok(());
                }
            }
        }
        // The first time is a difference to 0.
        if let Some(time) = row.first_mut() {
            self.time = self.time.wrapping_add(*time);
            *time = self.time;
        }
        self.row = Some(row);
        Ok(())
    }

    /// All columns end with the first.
    fn end(&mut self) {
        self.damaged |= self.windows.iter_mut().any(|w| !w.is_empty() || w.flaw().is_some());
        self.windows.iter_mut().for_each(Window::close);
    }
}
