use super::*;
use crate::page_testing::{HOSTILE, is_text, loads_nothing, parsed};
use definition::ExperimentFile;
use experiment::{Further, SimEngine, When};
use results::{
    Accel, Computer, Engine, Fact, MetricInfo, Results, Run, VariantRuns, WorkloadResults,
};
use stats::{Better, Confidence, Resampling};

const EXPERIMENT: &str = include_str!("../../../../experiments/power9-big-core.toml");

fn resampling() -> Resampling {
    Resampling::new(200, 1, Confidence::P95).expect("settings")
}

fn plan(change: impl Fn(String) -> String) -> Plan {
    let text = EXPERIMENT
        .replace("runs = 100", "runs = 3")
        .replace("seconds = 10", "seconds = 0.02")
        .replace("loops_run = 25000", "loops_run = 100");
    let file = ExperimentFile::parse(&change(text), "x.toml").expect("an experiment");
    Plan::new(file, "x.toml").expect("a plan")
}

fn results(plan: &Plan) -> Results {
    experiment::run(plan, &SimEngine, 1, &|_| {}).expect("runs")
}

fn report(plan: Result<&Plan, String>, results: &Results) -> Report {
    let reproduction =
        results::reproduce::reproduce(&results.experiment, results.engine).expect("a command");
    let analysis = Analysis::of(results, resampling()).expect("an analysis");
    let heat = match &plan {
        Ok(plan) => Heats::Of {
            workload: results.workloads[0].title.clone(),
            variants: vec![(
                results.experiment.variants[1].name.clone(),
                experiment::heat(plan, 0, 1, 0).map_err(|e| e.to_string()),
            )],
            changed: vec![],
        },
        Err(why) => Heats::None(why.clone()),
    };
    let source = Source {
        analysis: &analysis,
        schedscape: "1.2.3",
        damage: None,
        plan,
        beside: None,
        heat,
        reproduction: &reproduction,
    };
    Report::new(&source).expect("a report")
}

#[test]
fn a_page_holds_every_variant_verdict_and_section() {
    let plan = plan(|text| text);
    let mut results = results(&plan);
    results.counted = vec!["6.12.1-arm64".to_string()];
    let html = report(Ok(&plan), &results).html().expect("a page");
    let page = parsed(&html);
    for variant in &results.experiment.variants {
        assert!(html.contains(&variant.title), "{}", variant.title);
    }
    let rows = page.descendants().find(|n| n.attribute("class") == Some("verdicts"));
    let rows = rows.expect("verdicts").descendants().filter(|n| n.has_tag_name("tr")).count();
    assert_eq!(rows, 1 + 1 + 2, "a head, one variant of ebizzy, two of sched-pipe");
    for id in ["verdict", "compared", "domains", "results", "heat", "again"] {
        assert!(page.descendants().any(|n| n.attribute("id") == Some(id)), "{id}");
    }
    assert_eq!(page.descendants().filter(|n| n.has_tag_name("image")).count(), 1);
    assert!(page.descendants().any(|n| n.has_tag_name("mark")), "big-core changes domains");
    assert!(html.contains("schedscape run power9-big-core.toml --out out/power9-big-core"));
    assert!(html.contains("was counted on 6.12.1-arm64."));
    assert_eq!(html, report(Ok(&plan), &results).html().expect("the same page"));
}

/// The first two governors of the study on the machine that it used, one short run each.
fn governed() -> Plan {
    let text = include_str!("../../../../experiments/epyc-7742-frequency-invariance.toml");
    let head = text.split("[[workload]]").next().expect("a head");
    let variants: Vec<&str> = head.split("[[variant]]").take(3).collect();
    let head = variants.join("[[variant]]").replace("study = ", "# study = ");
    let workload = "[[workload]]\nname = \"tbench\"\ntitle = \"tbench\"\nruns = 2\n[workload.tbench]\n\
                    clients = [4]\nwarmup_s = 0.02\nseconds = 0.02\n";
    let file = ExperimentFile::parse(&format!("{head}{workload}"), "x.toml");
    Plan::new(file.expect("an experiment"), "x.toml").expect("a plan")
}

#[test]
fn clocks_and_power_are_shown_where_something_governs_them() {
    let plan = governed();
    let results = results(&plan);
    let report = report(Ok(&plan), &results);
    let html = report.html().expect("a page");
    let page = parsed(&html);
    let maps: Vec<_> = page.descendants().filter(|n| n.has_tag_name("image")).collect();
    let units: Vec<_> = maps.iter().filter_map(|m| m.attribute("data-unit")).collect();
    assert_eq!(units, ["% busy", "GHz"], "one variant is watched");
    assert_eq!(maps[0].attribute("data-cpus"), maps[1].attribute("data-cpus"));
    assert_eq!(maps[1].attribute("data-blank"), Some("ran no task"));
    assert_eq!(html.matches("<pre class=\"lines\">").count(), 1, "governors change no domains");
    for wanted in [
        "as the baseline's: <span class=\"v1\">perfgov",
        "mean clock, GHz",
        "ran no task",
        "governor=performance",
        "package 1 (W)",
    ] {
        assert!(html.contains(wanted), "{wanted}");
    }
    let names: Vec<String> = report.pictures().into_iter().map(|p| p.name).collect();
    for wanted in ["power", "clocks-perfgov", "heat-perfgov"] {
        assert!(names.iter().any(|n| n == wanted), "{wanted}: {names:?}");
    }

    let plan = self::plan(|text| text);
    let html = self::report(Ok(&plan), &self::results(&plan)).html().expect("a page");
    assert!(!html.contains("mean clock") && !html.contains("data-unit=\"GHz\""));
}

#[test]
fn runs_in_guests_are_not_called_predictions() {
    let plan = plan(|text| text);
    let mut results = results(&plan);
    results.engine = Engine::Vm(Accel::Counted { shift: 1 });
    let html = report(Ok(&plan), &results).html().expect("a page");
    for wanted in ["on real kernels in guests", "--engine vm --icount 1 --out", "vm-icount1"] {
        assert!(html.contains(wanted), "{wanted}");
    }
    for unwanted in ["are predictions", "The simulator gives the same bytes", "Constants of the"] {
        assert!(!html.contains(unwanted), "{unwanted}");
    }
}

#[test]
fn what_is_proven_is_seen_at_once() {
    let plan = plan(|text| text);
    let mut results = results(&plan);
    let base = results.workloads[1].clone();
    // Many metrics without a difference, then one with.
    for w in &mut results.workloads {
        w.metrics = vec![base.metrics[0].clone(); 20];
        for (at, v) in w.variants.iter_mut().enumerate() {
            let values = |run: u32| vec![100.0 + f64::from(run % 3); 19];
            let last = |run: u32| 100.0 * (at + 1) as f64 + f64::from(run % 3);
            let run = |run: u32| Run {
                run,
                seed: 1,
                metrics: [values(run), vec![last(run)]].concat(),
                single_times: vec![vec![]; 20],
                counters: vec![],
            };
            v.runs = (0..6).map(run).collect();
        }
    }
    let html = report(Ok(&plan), &results).html().expect("a page");
    let page = parsed(&html);
    let tables = page.descendants().filter(|n| n.attribute("class") == Some("verdicts"));
    let proven = |table: roxmltree::Node| {
        let rows = table.descendants().filter_map(|n| n.attribute("class"));
        rows.filter(|class| matches!(*class, "better" | "worse")).count()
    };
    assert_eq!(tables.map(proven).collect::<Vec<_>>(), [3, 0]);
    assert!(html.contains("60 comparisons: 3 worse, 57 not proven."), "{}", &html[..9000]);
}

#[test]
fn nothing_is_loaded() {
    let plan = plan(|text| text);
    let html = report(Ok(&plan), &results(&plan)).html().expect("a page");
    loads_nothing(&html);
}

#[test]
fn every_picture_stands_alone() {
    let plan = plan(|text| text);
    let pictures = report(Ok(&plan), &results(&plan)).pictures();
    let mut names: Vec<&str> = pictures.iter().map(|p| p.name.as_str()).collect();
    for wanted in ["machine-power9-big-core", "change-ebizzy", "heat-big-core", "waits-sched-pipe"]
    {
        assert!(names.contains(&wanted), "{wanted}: {names:?}");
    }
    let number = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), number);
    for picture in &pictures {
        let document = roxmltree::Document::parse(&picture.svg).expect(&picture.name);
        assert_eq!(document.root_element().tag_name().name(), "svg");
        assert!(document.descendants().any(|n| n.has_tag_name("title")), "{}", picture.name);
        assert!(picture.is_titled, "{}", picture.name);
    }
}

#[test]
fn hostile_names_are_text() {
    let plan = plan(|text| text);
    let mut results = results(&plan);
    results.experiment.title = HOSTILE.to_string();
    results.experiment.name = HOSTILE.to_string();
    for variant in &mut results.experiment.variants {
        variant.name = format!("{HOSTILE}{}", variant.name);
        variant.title = HOSTILE.to_string();
    }
    for w in &mut results.workloads {
        w.title = HOSTILE.to_string();
        w.name = format!("{HOSTILE}{}", w.name);
        w.metrics.iter_mut().for_each(|m| m.unit = HOSTILE.to_string());
        w.variants.iter_mut().for_each(|v| v.name = format!("{HOSTILE}{}", v.name));
    }
    let plan = Plan::new(results.experiment.clone(), "x.toml").expect("a plan");
    let report = report(Ok(&plan), &results);
    let html = report.html().expect("a page");
    is_text(&html);
    for picture in report.pictures() {
        assert!(picture.name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c)));
        roxmltree::Document::parse(&picture.svg).expect(&picture.name);
    }
}

#[test]
fn what_cannot_be_shown_says_why() {
    let plan = plan(|text| text);
    let mut results = results(&plan);
    for w in &mut results.workloads {
        w.variants.iter_mut().for_each(|v| v.runs.clear());
    }
    let html = report(Err("machine: found `gone`".to_string()), &results).html().expect("a page");
    for wanted in ["The machine cannot be drawn", "The domains cannot be built", "No heat map"] {
        assert!(html.contains(wanted), "{wanted}");
    }
    assert!(html.contains("did not run.") && html.contains("found `gone`"));
    parsed(&html);
}

/// A table of rows: one workload a row.
#[test]
fn tables_of_rows_are_drawn_as_lines() {
    let file = EXPERIMENT.replace("runs = 100", "runs = 3");
    let mut experiment = ExperimentFile::parse(&file, "x.toml").expect("an experiment");
    let entry = experiment.workloads[1].clone();
    experiment.workloads.clear();
    let mut workloads = Vec::new();
    for value in ["1", "2"] {
        let mut entry = entry.clone();
        entry.name = format!("pipe-{value}");
        let row = definition::file::RowEntry {
            of: "pipe".into(),
            varying: "pairs".into(),
            value: value.into(),
        };
        entry.row = Some(row);
        let run = |run: u32, value: f64| Run {
            run,
            seed: 1,
            metrics: vec![value],
            single_times: vec![vec![]],
            counters: vec![],
        };
        let variant = |name: &str, base: f64| VariantRuns {
            name: name.to_string(),
            runs: (0..3).map(|i| run(i, base + 0.01 * f64::from(i))).collect(),
        };
        workloads.push(WorkloadResults {
            name: entry.name.clone(),
            title: entry.title.clone(),
            metrics: vec![MetricInfo {
                name: "elapsed".into(),
                unit: "s".into(),
                better: Better::Lower,
            }],
            ignored: vec![],
            variants: vec![
                variant("vanilla", 4.0),
                variant("big-core", 3.0),
                variant("big-core-v5", 4.0),
            ],
        });
        experiment.workloads.push(entry);
    }
    let constants = machine::Constants::default();
    let results = Results {
        engine: Engine::Sim,
        experiment,
        constants,
        counted: vec![],
        computers: vec![],
        sensitivity: None,
        robustness: None,
        counters: vec![],
        workloads,
    };
    let analysis = Analysis::of(&results, resampling()).expect("an analysis");
    let reproduction =
        results::reproduce::reproduce(&results.experiment, Engine::Sim).expect("a command");
    let (here, there) = (std::path::Path::new("a"), std::path::Path::new("b"));
    let sides =
        results::sides::compare(&[(&analysis, here), (&analysis, there)]).expect("two sides");
    let source = Source {
        analysis: &analysis,
        schedscape: "1.2.3",
        damage: Some("runs.parquet: found half".to_string()),
        plan: Err("none".to_string()),
        beside: Some(&sides),
        heat: Heats::None("none".to_string()),
        reproduction: &reproduction,
    };
    let report = Report::new(&source).expect("a report");
    let names: Vec<String> = report.pictures().into_iter().map(|p| p.name).collect();
    for wanted in ["ratio-pipe", "change-pipe", "runs-pipe-1-pipe", "runs-pipe-2-pipe"] {
        assert!(names.iter().any(|n| n == wanted), "{wanted}: {names:?}");
    }
    let html = report.html().expect("a page");
    parsed(&html);
    assert!(html.contains("big-core is better than vanilla over all rows"), "the verdict");
    assert!(html.contains("Side by side: sim 1 and sim 2"), "the other engine");
    assert!(html.contains("found half"));
}

#[test]
fn computers_are_shown_with_what_may_have_spoilt_a_comparison() {
    let plan = plan(|text| text);
    let mut results = results(&plan);
    results.engine = Engine::Host;
    let computer = |variants: &[&str], kernel: &str, thp: &str| Computer {
        variants: variants.iter().map(|v| v.to_string()).collect(),
        facts: [("kernel", kernel), ("thp", thp), ("config", HOSTILE)]
            .map(|(name, value)| Fact { name: name.to_string(), value: value.to_string() })
            .to_vec(),
        warnings: vec!["it was <hot>".to_string()],
    };
    results.computers = vec![
        computer(&["vanilla"], "6.12", "always"),
        computer(&["big-core", "big-core-v5"], "7.2", "never"),
    ];
    let html = report(Ok(&plan), &results).html().expect("a page");
    let page = parsed(&html);
    let section = page.descendants().find(|n| n.attribute("id") == Some("computer"));
    let rows = section.expect("the section").descendants().filter(|n| n.has_tag_name("td"));
    let rows: Vec<_> = rows.filter_map(|n| n.text()).collect();
    let thp = "always (vanilla), never (big-core, big-core-v5)";
    assert_eq!(
        (rows.len(), rows[0], rows[1]),
        (3, "6.12 (vanilla), 7.2 (big-core, big-core-v5)", thp)
    );
    let alerts: Vec<_> = (page.descendants())
        .filter(|n| n.has_tag_name("strong") && n.text().is_some_and(|t| t.starts_with("warning")))
        .collect();
    assert_eq!(alerts.len(), 1, "kernels are what is compared");
    assert!(html.contains("own kernels (engine <code>host</code>)"));
    assert!(!html.contains("guests"), "no guest ran");
}

#[test]
fn what_holds_over_the_ranges_of_constants_has_a_section() {
    let plan = plan(|text| text);
    let mut results = results(&plan);
    let none = report(Ok(&plan), &results).html().expect("a page");
    assert!(!none.contains("id=\"ranges\""));
    let found = experiment::robustness(&plan, &results, Further::new(1));
    results.robustness = Some(found.expect("runs"));
    let html = report(Ok(&plan), &results).html().expect("a page");
    let page = parsed(&html);
    let section = page.descendants().find(|n| n.attribute("id") == Some("ranges"));
    let text = |n: roxmltree::Node| {
        n.descendants().filter(|d| d.is_text()).filter_map(|d| d.text()).collect::<String>()
    };
    let heads = section.expect("the section").descendants().filter(|n| n.has_tag_name("h3"));
    let heads: Vec<String> = heads.map(text).collect();
    let analysis = Analysis::of(&results, resampling()).expect("an analysis");
    assert_eq!((heads.len(), analysis.robust.len()), (3, 3), "a heading a comparison");
    let shown = crate::text::results(&analysis, crate::Layout::Whole, false).expect("text");
    let flowing: Vec<&str> = shown.split_whitespace().collect();
    for head in heads {
        assert!(flowing.join(" ").contains(&head), "{head}");
    }
    assert!(shown.lines().all(|line| line.chars().count() <= 100));
}

#[test]
fn constants_on_which_verdicts_hang_have_a_section() {
    let plan = plan(|text| text);
    let mut results = results(&plan);
    let none = report(Ok(&plan), &results).html().expect("a page");
    assert!(!none.contains("id=\"constants\""));
    let moved = experiment::sensitivity(&plan, &results, When::Always, Further::new(1));
    let mut moved = moved.expect("runs");
    moved.left_out.push(results::sensitivity::LeftOut {
        workload: "kept <apart>".to_string(),
        reason: "why & how".to_string(),
    });
    results.sensitivity = Some(moved);
    let html = report(Ok(&plan), &results).html().expect("a page");
    let page = parsed(&html);
    let section = page.descendants().find(|n| n.attribute("id") == Some("constants"));
    let section = section.expect("the section");
    let heads = section.descendants().filter(|n| n.has_tag_name("h3")).count();
    assert_eq!(heads, 3, "a heading a comparison");
    let analysis = Analysis::of(&results, resampling()).expect("an analysis");
    let listed: usize = analysis.hangs.iter().map(|h| h.constants.len()).sum();
    assert!(listed > 0);
    assert_eq!(section.descendants().filter(|n| n.has_tag_name("li")).count(), listed);
    let text = crate::text::results(&analysis, crate::Layout::Whole, false).expect("text");
    for hangs in analysis.hangs.iter().flat_map(|h| &h.constants) {
        assert!(text.contains(&format!("  {} = ", hangs.constant)));
        assert!(text.contains(&format!("  {}: ", hangs.constant)), "its source");
    }
    assert!(text.contains("No constants moved for kept <apart>: why & how."));
    assert!(text.lines().all(|line| line.chars().count() <= 100));
}
