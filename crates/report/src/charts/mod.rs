//! Pictures of results as SVG: plotters draws axes and marks, what stands at a place can be read by pointing at it.

mod brackets;
mod canvas;
pub mod colours;
pub mod cpu_map;
pub mod intervals;
pub mod latencies;
pub mod levels;
pub mod pairs;
mod panels;
pub mod power;
pub mod rows;
pub mod shares;
pub mod spans;
pub mod spread;
mod time;
pub mod times;

/// A picture that stands alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// File name without extension: ASCII letters, digits, `-`, `_` and `.` only.
    pub name: String,
    /// One line for people.
    pub title: String,
    /// The SVG document.
    pub svg: String,
    /// Whether the document shows its title; on a page the caption does.
    pub is_titled: bool,
}

impl Picture {
    /// The picture with its title above it, for whoever sees it without a page around.
    pub fn titled(self) -> Picture {
        match self.is_titled {
            true => self,
            false => {
                Picture { svg: canvas::titled(&self.svg, &self.title), is_titled: true, ..self }
            }
        }
    }
}
