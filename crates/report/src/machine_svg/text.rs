//! How wide text is at most, as no font is known here.

/// Fonts to take, the likeliest and widest first: what follows is drawn no wider than the first.
pub(crate) const FONTS: &str = "'DejaVu Sans', Verdana, 'Liberation Sans', Arial, sans-serif";

/// Widest that `text` gets at `size` pixels.
pub(crate) fn width(text: &str, size: f64) -> f64 {
    text.chars().map(em).sum::<f64>() * size
}

/// Width of a character in DejaVu Sans or Verdana, whichever is wider, rounded up, in ems; by class.
fn em(c: char) -> f64 {
    match c {
        'i' | 'j' | 'l' | '\'' => 0.35,
        ' ' | '.' | ',' | 't' | 'f' | 'I' | '(' | ')' | '[' | ']' | '!' | '|' | '/' | ':' | ';'
        | '-' | '\u{b7}' => 0.46,
        'r' | 'J' | '"' => 0.5,
        'm' | 'M' | 'W' | '@' | '%' | '\u{2026}' => 1.08,
        'w' | '#' | '+' | '<' | '=' | '>' | '~' | '^' => 0.85,
        'A'..='Z' | '&' => 0.8,
        _ if c.is_ascii() => 0.65,
        _ if u32::from(c) < 0x2000 => 1.0,
        _ => 1.4,
    }
}

/// `text` in lines of at most `room` pixels; control characters become spaces, and a word that is too long is
/// broken.
pub(crate) fn wrap(text: &str, size: f64, room: f64) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    for word in text.split_whitespace() {
        let joined = if line.is_empty() { word.to_string() } else { format!("{line} {word}") };
        if width(&joined, size) <= room {
            line = joined;
            continue;
        }
        lines.extend((!line.is_empty()).then(|| std::mem::take(&mut line)));
        for c in word.chars() {
            line.push(c);
            if width(&line, size) > room && line.chars().count() > 1 {
                line.pop();
                lines.push(std::mem::replace(&mut line, c.to_string()));
            }
        }
    }
    lines.extend((!line.is_empty()).then_some(line));
    lines
}
