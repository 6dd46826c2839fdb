//! `global` and `resources`.

use super::RtAppError;
use super::ast::{Calibration, Ftrace, Global, LogSize, Policy, Resource, ResourceKind};
use super::fields::{Fields, Item};

const FTRACE: [(&str, Ftrace); 5] = [
    ("main", Ftrace::Main),
    ("task", Ftrace::Task),
    ("loop", Ftrace::Loop),
    ("event", Ftrace::Event),
    ("stats", Ftrace::Stats),
];

const RESOURCES: [(&str, ResourceKind); 8] = [
    ("mutex", ResourceKind::Mutex),
    ("wait", ResourceKind::Wait),
    ("signal", ResourceKind::Signal),
    ("broadcast", ResourceKind::Broadcast),
    ("sync", ResourceKind::Sync),
    ("sleep", ResourceKind::Sleep),
    ("run", ResourceKind::Run),
    ("timer", ResourceKind::Timer),
];

/// `global` of the root, or the defaults.
pub(super) fn read(root: &mut Fields<'_>) -> Result<Global, RtAppError> {
    let mut global = Global::default();
    let Some(item) = root.take("global")? else { return Ok(global) };
    let mut fields = item.fields("an object of global properties")?;
    let f = &mut fields;
    if let Some(seconds) = f.get("duration", duration)? {
        global.duration_s = seconds;
    }
    set(&mut global.calibration, f.get("calibration", calibration)?);
    set(&mut global.default_policy, f.get("default_policy", |i| i.one_of(&Policy::NAMES))?);
    set(&mut global.pi_enabled, f.get("pi_enabled", Item::boolean)?);
    set(&mut global.lock_pages, f.get("lock_pages", Item::boolean)?);
    set(&mut global.logdir, f.get("logdir", |i| i.string("a directory"))?);
    set(&mut global.log_basename, f.get("log_basename", |i| i.string("a prefix of file names"))?);
    set(&mut global.log_size, f.get("log_size", log_size)?);
    set(&mut global.ftrace, f.get("ftrace", ftrace)?);
    set(&mut global.gnuplot, f.get("gnuplot", Item::boolean)?);
    set(&mut global.io_device, f.get("io_device", |i| i.string("a path"))?);
    let size = f.get("mem_buffer_size", |i| i.count(1, "a size of at least 1 byte"))?;
    set(&mut global.mem_buffer_size, size);
    set(&mut global.cumulative_slack, f.get("cumulative_slack", Item::boolean)?);
    global.frag = f.get("frag", |i| i.integer(i32::MIN..=i32::MAX, "an integer"))?;
    fields.finish("a global property")?;
    Ok(global)
}

fn set<T>(field: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *field = value;
    }
}

/// rt-app sleeps so long if it is above 0, and otherwise waits for its threads.
fn duration(item: &Item<'_>) -> Result<Option<u32>, RtAppError> {
    let seconds = item.integer(-1..=i32::MAX, "seconds, or -1 for no end")?;
    Ok((seconds > 0).then_some(seconds.unsigned_abs()))
}

fn calibration(item: &Item<'_>) -> Result<Calibration, RtAppError> {
    let expected = "`CPU` with a number, or the ns of a loop";
    if item.is_number() {
        return Ok(Calibration::NsPerLoop(item.count(1, expected)?));
    }
    let text = item.string(expected)?;
    let cpu = text.strip_prefix("CPU").and_then(|number| number.parse().ok());
    cpu.map(Calibration::Cpu).ok_or_else(|| item.error(&format!("\"{text}\""), expected))
}

fn log_size(item: &Item<'_>) -> Result<LogSize, RtAppError> {
    let expected = "MB, or file, disable or auto";
    if item.is_number() {
        return Ok(LogSize::Megabytes(item.count(0, expected)?));
    }
    // The tutorial begins two of the words with a capital, rt-app none.
    let text = item.string(expected)?;
    match text.to_ascii_lowercase().as_str() {
        "file" => Ok(LogSize::File),
        "disable" => Ok(LogSize::Disable),
        "auto" => Ok(LogSize::Auto),
        _ => Err(item.error(&format!("\"{text}\""), expected)),
    }
}

fn ftrace(item: &Item<'_>) -> Result<Vec<Ftrace>, RtAppError> {
    let all = FTRACE.iter().map(|&(_, category)| category);
    if let Some(on) = item.as_boolean() {
        return Ok(all.filter(|_| on).collect());
    }
    let expected = "none, or main, task, loop, event, stats with commas between them";
    let text = item.string(expected)?;
    let mut categories = Vec::new();
    for word in text.split(',').filter(|word| !word.is_empty()) {
        match FTRACE.iter().find(|(name, _)| name.eq_ignore_ascii_case(word)) {
            Some(&(_, category)) if !categories.contains(&category) => categories.push(category),
            Some(_) => {}
            None if word.eq_ignore_ascii_case("none") => categories.clear(),
            None => return Err(item.error(&format!("\"{text}\""), expected)),
        }
    }
    Ok(categories)
}

/// `resources` of the root.
pub(super) fn resources(root: &mut Fields<'_>) -> Result<Vec<Resource>, RtAppError> {
    let Some(item) = root.take("resources")? else { return Ok(Vec::new()) };
    let declared = item.fields("an object of resources")?.take_all(|_| true);
    declared.iter().map(resource).collect()
}

fn resource(item: &Item<'_>) -> Result<Resource, RtAppError> {
    let mut fields = item.fields("an object with a `type`")?;
    let kind = fields.get("type", |i| i.one_of(&RESOURCES))?;
    let kind = kind.ok_or_else(|| item.error("no `type`", "an object with a `type`"))?;
    let target = fields.get("target", |i| i.string("a resource"))?;
    fields.finish("`type`")?;
    Ok(Resource { name: item.key.to_string(), kind, target })
}
