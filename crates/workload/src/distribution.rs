//! How amounts of work differ, as experiment files say it: by their mean and a shape.

use crate::program::{Op, Spread, Work};
use crate::{WorkloadError, check};
use serde::{Deserialize, Serialize};
use std::fmt;

/// A distribution around a mean.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Distribution {
    /// Always the mean.
    #[default]
    Constant,
    /// Exponential: a coefficient of variation of 1.
    Exponential,
    /// Log-normal.
    Lognormal {
        /// Coefficient of variation: standard deviation by mean.
        cv: f64,
    },
    /// Two amounts.
    Bimodal {
        /// How much of all draws are the other amount, 0 to 1.
        share: f64,
        /// How many times the usual one that is.
        factor: f64,
    },
}

impl Distribution {
    /// Refuses shapes that cannot be.
    pub(crate) fn check(
        self,
        program: &'static str,
        field: &'static str,
    ) -> Result<(), WorkloadError> {
        match self {
            Distribution::Constant | Distribution::Exponential => Ok(()),
            Distribution::Lognormal { cv } => {
                check::within(program, field, cv, 1e-3..=100.0, "a cv of 0.001 to 100")
            }
            Distribution::Bimodal { share, factor } => {
                check::within(program, field, share, 0.0..=1.0, "a share of 0 to 1")?;
                check::within(program, field, factor, 1e-3..=1e4, "a factor of 0.001 to 10000")
            }
        }
    }

    /// Work of `mean` cycles on average.
    pub(crate) fn work(self, mean: f64) -> Work {
        match self {
            Distribution::Constant => Work::fixed(mean),
            Distribution::Exponential => Work { cycles: mean, spread: Spread::Exponential },
            Distribution::Lognormal { cv } => {
                let variance = libm::log1p(cv * cv);
                // The median.
                let cycles = mean * libm::exp(-variance / 2.0);
                Work { cycles, spread: Spread::LogNormal(variance.sqrt()) }
            }
            Distribution::Bimodal { share, factor } => Work {
                cycles: mean / (1.0 - share + share * factor),
                spread: Spread::Bimodal { share, factor },
            },
        }
    }

    /// A step of that.
    pub(crate) fn compute(self, mean: f64) -> Op {
        Op::Compute(self.work(mean))
    }
}

/// As the guests' worker takes it: `lognormal:1.5`.
impl fmt::Display for Distribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Distribution::Constant => f.write_str("constant"),
            Distribution::Exponential => f.write_str("exponential"),
            Distribution::Lognormal { cv } => write!(f, "lognormal:{cv}"),
            Distribution::Bimodal { share, factor } => write!(f, "bimodal:{share}:{factor}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_has_its_mean() {
        assert_eq!(Distribution::Constant.work(7.0), Work::fixed(7.0));
        let bimodal = Distribution::Bimodal { share: 0.1, factor: 11.0 }.work(4.0);
        assert_eq!(bimodal.cycles, 2.0, "nine of 2 and one of 22 are ten of 4");
        let Work { cycles, spread: Spread::LogNormal(sigma) } =
            (Distribution::Lognormal { cv: 1.5 }).work(8.0)
        else {
            panic!("log-normal")
        };
        let variance = sigma * sigma;
        assert!((cycles * (variance / 2.0).exp() - 8.0).abs() < 1e-9);
        assert!((variance.exp() - 1.0 - 2.25).abs() < 1e-9, "cv^2 = exp(sigma^2) - 1");
    }
}
