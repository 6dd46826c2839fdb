//! Sizes and colours.

/// How large things are drawn: small where there are many. Lengths in pixels.
pub(super) struct Scale {
    /// Size of most text.
    pub(super) font: f64,
    /// From a box's edge to what is in it.
    pub(super) pad: f64,
    /// Between boxes.
    pub(super) gap: f64,
    /// Width of a CPU's box, unless its label needs more.
    pub(super) cpu_width: f64,
}

impl Scale {
    /// The scale for a machine of `cpus` CPUs.
    pub(super) fn of(cpus: usize) -> Scale {
        match cpus {
            0..=16 => Scale { font: 14.0, pad: 9.0, gap: 7.0, cpu_width: 44.0 },
            17..=64 => Scale { font: 12.0, pad: 7.0, gap: 6.0, cpu_width: 34.0 },
            65..=256 => Scale { font: 10.0, pad: 5.0, gap: 4.0, cpu_width: 28.0 },
            _ => Scale { font: 9.0, pad: 4.0, gap: 3.0, cpu_width: 24.0 },
        }
    }

    /// Height of a line of text and of what holds just one.
    pub(super) fn line(&self) -> f64 {
        (self.font * 1.4).ceil()
    }

    /// Height of a bar or a CPU.
    pub(super) fn bar(&self) -> f64 {
        (self.font * 1.7).ceil()
    }
}

/// What a rectangle stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Machine,
    Package,
    Node,
    Memory,
    Die,
    Cluster,
    /// CPUs that share a cache.
    Sharers,
    /// A cache of this level.
    Cache(u8),
    /// A cache that only the catalog knows of.
    Published(u8),
    Core,
    SmallCore,
    Cpu,
    Offline,
}

impl Kind {
    /// Name in the document (`data-kind`).
    pub(super) fn name(self) -> &'static str {
        match self {
            Kind::Machine => "machine",
            Kind::Package => "package",
            Kind::Node => "node",
            Kind::Memory => "memory",
            Kind::Die => "die",
            Kind::Cluster => "cluster",
            Kind::Sharers => "sharers",
            Kind::Cache(_) => "cache",
            Kind::Published(_) => "published-cache",
            Kind::Core => "core",
            Kind::SmallCore => "small-core",
            Kind::Cpu => "cpu",
            Kind::Offline => "offline-cpu",
        }
    }

    /// Fill and outline. Hues are those that people with any colour vision tell apart (blue against orange), and
    /// fills differ in lightness, for grey print.
    pub(super) fn colours(self) -> (&'static str, &'static str) {
        match self {
            Kind::Machine => ("#ffffff", "#6f6f6f"),
            Kind::Package => ("#f1f1ee", "#6f6f6a"),
            Kind::Node => ("#e4ecf4", "#5f7b96"),
            Kind::Memory => ("#b5cde3", "#5f7b96"),
            Kind::Die => ("#e9e6f0", "#7c7294"),
            Kind::Cluster => ("#dfebe6", "#5f8576"),
            Kind::Sharers => ("#fcf6ea", "#a3864f"),
            Kind::Cache(level) | Kind::Published(level) => (cache_fill(level), "#a3864f"),
            Kind::Core => ("#fafafa", "#7d7d7d"),
            Kind::SmallCore => ("#eaf1f8", "#5f7b96"),
            Kind::Cpu => ("#ffffff", "#4a4a4a"),
            Kind::Offline => ("#dadada", "#8a8a8a"),
        }
    }

    /// Whether the outline is dashed: what does not run, and what the kernel does not see.
    pub(super) fn is_dashed(self) -> bool {
        matches!(self, Kind::Offline | Kind::Published(_))
    }

    /// Colour of the label.
    pub(super) fn text_colour(self) -> &'static str {
        match self {
            Kind::Offline => "#5a5a5a",
            _ => TEXT,
        }
    }
}

/// Colour of most text.
pub(super) const TEXT: &str = "#1c1c1c";

/// Far caches are darker.
fn cache_fill(level: u8) -> &'static str {
    match level {
        0 | 1 => "#fbeacb",
        2 => "#f6d9a6",
        3 => "#efc682",
        _ => "#e5b263",
    }
}
