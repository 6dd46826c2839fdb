//! Bandwidth of memory among the hardware threads and engines that use it, by what they moved lately.

use super::costs::Costs;
use crate::engine::bandwidth::fair_level;

/// Whoever got this much of the most it could get wanted more.
const HELD_BACK: f64 = 0.95;

/// One that uses memory.
#[derive(Debug, Clone, Copy)]
pub(super) struct User {
    pub(super) core: usize,
    pub(super) package: usize,
    /// Bytes a ns that it moved.
    pub(super) moved: f64,
    /// What memory takes for a line of its, in ns: what it was held to, and what it is held to from now on.
    pub(super) line_ns: f64,
}

/// Max-min fair shares: of a core's bandwidth among its users, of a package's among all of its cores.
pub(super) fn share_out(users: &mut [User], cores: usize, costs: &Costs) {
    let line = costs.line_bytes;
    let wants = |u: &User| {
        let held = u.moved * u.line_ns >= HELD_BACK * line;
        if held { costs.core_bandwidth } else { u.moved }
    };
    let level = |users: &[User], supply: f64, of: &dyn Fn(&User) -> bool| {
        fair_level(users.iter().filter(|u| of(u)).map(wants), supply)
    };
    // What users want is known before any of them is held to something else.
    let by_core: Vec<f64> =
        (0..cores).map(|c| level(users, costs.core_bandwidth, &|u| u.core == c)).collect();
    let by_package: Vec<f64> =
        (0..cores).map(|p| level(users, costs.package_bandwidth, &|u| u.package == p)).collect();
    for user in users {
        let least = by_core[user.core].min(by_package[user.package]);
        user.line_ns = line / least.min(costs.core_bandwidth);
    }
}
