//! Tables and pictures as text.
