//! Colours and marks of variants, and colours of scales.

use plotters::style::RGBColor;

/// Of variants, in their order: those of Okabe and Ito, which people with any colour vision tell apart; black is left to
/// text, yellow is the last as it is pale on white.
pub const VARIANTS: [RGBColor; 8] = [
    RGBColor(0x00, 0x72, 0xb2),
    RGBColor(0xe6, 0x9f, 0x00),
    RGBColor(0x00, 0x9e, 0x73),
    RGBColor(0xcc, 0x79, 0xa7),
    RGBColor(0xd5, 0x5e, 0x00),
    RGBColor(0x56, 0xb4, 0xe9),
    RGBColor(0x7f, 0x7f, 0x7f),
    RGBColor(0xf0, 0xe4, 0x42),
];

/// The colour of variant `at`; they start over after the last.
pub fn variant(at: usize) -> RGBColor {
    VARIANTS[at % VARIANTS.len()]
}

/// As `#0072B2`, which is how pictures have it.
pub fn hex(RGBColor(r, g, b): RGBColor) -> String {
    format!("#{r:02X}{g:02X}{b:02X}")
}

/// Points of cividis (Nuñez and others 2018), evenly spaced: even in lightness, and the same to colour-blind readers.
const CIVIDIS: [[u8; 3]; 9] = [
    [0x00, 0x22, 0x4e],
    [0x12, 0x35, 0x70],
    [0x3b, 0x49, 0x6c],
    [0x57, 0x5d, 0x6d],
    [0x70, 0x71, 0x73],
    [0x8a, 0x86, 0x79],
    [0xa5, 0x9c, 0x74],
    [0xc3, 0xb3, 0x69],
    [0xfe, 0xe8, 0x38],
];

/// The colour of `part` (0 to 1) of a scale.
pub fn scale(part: f64) -> RGBColor {
    let last = CIVIDIS.len() - 1;
    let at = part.clamp(0.0, 1.0) * last as f64;
    let from = (at as usize).min(last - 1);
    let mix = |channel: usize| {
        let (a, b) = (f64::from(CIVIDIS[from][channel]), f64::from(CIVIDIS[from + 1][channel]));
        (a + (b - a) * (at - from as f64)).round() as u8
    };
    RGBColor(mix(0), mix(1), mix(2))
}

/// Black or white, whichever is read better on `ground`.
pub fn ink_on(RGBColor(r, g, b): RGBColor) -> RGBColor {
    let light = 0.299 * f64::from(r) + 0.587 * f64::from(g) + 0.114 * f64::from(b);
    // Off black and off white, so that a dark page does not turn them as it turns other text.
    if light > 140.0 { RGBColor(0x11, 0x11, 0x11) } else { RGBColor(0xfd, 0xfd, 0xfd) }
}
