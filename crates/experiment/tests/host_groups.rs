//! Experiments of commands, which no model runs.

use definition::{ExperimentFile, Plan};

fn checked(pattern: &str) -> Result<(), String> {
    let text = format!(
        "name = 'x'\nmachine = 'epyc-7742-1s-nps1'\n[[variant]]\nname = 'a'\nkernel = '6.12'\n\
         [variant.groups.web]\n'cpu.weight' = 50\ntasks = ['{pattern}']\n\
         [[workload]]\nname = 'w'\nruns = 1\ncommand = {{ argv = ['./bin/serve', '-v'] }}\n"
    );
    let file = ExperimentFile::parse(&text, "x.toml").map_err(|e| e.to_string())?;
    let plan = Plan::new(file, "x.toml").map_err(|e| e.to_string())?;
    experiment::check_groups(&plan).map_err(|e| e.to_string())
}

#[test]
fn a_command_begins_in_the_group_of_its_name() {
    assert_eq!(checked("serve"), Ok(()));
    let error = checked("make").unwrap_err();
    assert!(
        error.ends_with("found `make`, expected a pattern for one of the tasks serve"),
        "{error}"
    );
}
