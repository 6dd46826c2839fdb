//! `schedscape vm capture`.

use super::guest::Ready;
use crate::Failure;
use crate::args::CaptureArgs;
use crate::output::print;
use results::store;

pub fn capture(args: &CaptureArgs) -> Result<(), Failure> {
    store::check_new(&args.output)?;
    let machine = machine::resolve(&args.machine)?;
    let ready = Ready::new(&machine, args.plain, &args.guest)?;
    ready.announce()?;
    let name = args.output.file_name().map_or("capture".into(), |name| name.to_string_lossy());
    ready.capture(&name, &args.steps.0, args.trace, &args.output)?;
    let steps = std::iter::once("boot").chain(args.steps.0.iter().map(|s| s.name.as_str()));
    print(&steps.map(|step| format!("{}\n", args.output.join(step).display())).collect::<String>())
}
