//! Estimators, intervals and comparisons: pure functions.
