//! What follows from the average power of a run: watts, and what the first metric gives for them.

use crate::runs::MetricInfo;
use stats::Better;

/// Name of the metric of average power.
pub const POWER: &str = "power";
/// Name of the metric of performance for power.
pub const PER_WATT: &str = "performance per watt";

/// The metrics of power beside `first`, a workload's first one.
pub fn metrics(first: Option<&MetricInfo>) -> Vec<MetricInfo> {
    let power =
        MetricInfo { name: POWER.to_string(), unit: "W".to_string(), better: Better::Lower };
    let per_watt = first.map(|m| MetricInfo {
        name: PER_WATT.to_string(),
        unit: match m.better {
            Better::Higher => format!("{}/W", m.unit),
            Better::Lower => format!("1/({} W)", m.unit),
        },
        better: Better::Higher,
    });
    [Some(power), per_watt].into_iter().flatten().collect()
}

/// Their values for a run of so many watts. Where less is better, performance is the inverse.
pub fn values(infos: &[MetricInfo], measured: &[f64], watts: f64) -> Vec<f64> {
    let per_watt = infos.first().zip(measured.first()).map(|(info, &value)| match info.better {
        Better::Higher => value / watts,
        Better::Lower => 1.0 / (value * watts),
    });
    [Some(watts), per_watt].into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn performance_for_power_grows_with_either() {
        let info = |better| MetricInfo { name: "m".into(), unit: "s".into(), better };
        assert_eq!(values(&[info(Better::Higher)], &[10.0], 5.0), [5.0, 2.0]);
        assert_eq!(values(&[info(Better::Lower)], &[10.0], 5.0), [5.0, 0.02]);
        assert_eq!(metrics(Some(&info(Better::Lower)))[1].unit, "1/(s W)");
    }
}
