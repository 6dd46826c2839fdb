//! A recording of a real kernel, and an inspection by hand that has something of everything.

use super::*;
use crate::page_testing::{HOSTILE, is_text, loads_nothing, parsed};
use bytes::Bytes;
use machine::distance::Distance;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use results::columns;
use std::collections::BTreeMap;
use trace::Recording;
use trace::inspect::{
    Clocks, Conservation, Edge, Group, IdleStates, Inspector, Level, Moves, PingPong, Reason,
    Spread, TaskFigures, Violation,
};

const RECORDED: &[u8] = include_bytes!("../../../trace/tests/recordings/trace-7.2.dat");

fn machine() -> Machine {
    machine::resolve("synthetic:l3:2 core:2 pu:1").expect("a machine")
}

fn recorded() -> (Read, Inspection) {
    let mut inspector = Inspector::new(&machine());
    let recording = Recording::new(std::io::Cursor::new(RECORDED)).expect("a recording");
    let read = recording.read(&mut inspector).expect("records");
    (read, inspector.finish())
}

/// Figures that all differ.
fn spread(count: u64) -> Spread {
    Spread {
        count,
        total_ns: 7 * count,
        mean_ns: 7.0 + 1.0 / 3.0,
        p50_ns: 4 + count,
        p90_ns: 9_000 + count,
        p99_ns: 99_000 + count,
        p999_ns: 999_000 + count,
        max_ns: 1_000_000_000 + count,
    }
}

fn by_hand() -> Inspection {
    let pair = |waker: &str, count, distances| Edge {
        waker: waker.to_string(),
        woken: HOSTILE.to_string(),
        count,
        distances,
    };
    Inspection {
        waited_ns: 5,
        from_ns: 1 << 60,
        to_ns: (1 << 60) + 4_000_000,
        events: 12,
        cpus: 3,
        repairs: 2,
        groups: vec![
            Group {
                name: HOSTILE.to_string(),
                tasks: 2,
                run: spread(3),
                delay: spread(4),
                latency: spread(0),
            },
            Group {
                name: "b".to_string(),
                tasks: 1,
                run: spread(5),
                delay: spread(6),
                latency: spread(7),
            },
        ],
        tasks: vec![TaskFigures {
            name: HOSTILE.to_string(),
            pid: u32::MAX,
            runs: 1,
            run_ns: 2,
            delay_ns: 3,
            longest_delay_ns: 4,
            wakeups: 5,
        }],
        wakeups: vec![("smt", spread(8)), ("node", spread(9))],
        conservation: Conservation {
            violated_ns: 11,
            percent: 0.1 + 0.2,
            lost_cpu_ns: 13,
            intervals: [1, 2, 3, 4, 5],
            worst: vec![Violation {
                from_ns: (1 << 60) + 5,
                length_ns: 6,
                idle_cpus: 7,
                waiting: 8,
                task: 9,
                queue: 3,
            }],
        },
        moves: Moves {
            forks: 14,
            by_reason: [
                (Reason::WakeUp, [("llc", 1), ("smt", 2)].into()),
                (Reason::Pulled, [("node", 3)].into()),
                (Reason::Stopper, [("node", 4)].into()),
                (Reason::Other, [("remote", 5)].into()),
            ]
            .into(),
            ping_pong: vec![PingPong {
                name: HOSTILE.to_string(),
                pid: 3,
                crossings: 4,
                returns: 5,
            }],
        },
        levels: (0..3)
            .map(|at| Level {
                from_ns: (1 << 60) + at * 1_000_000,
                length_ns: 1_000_000,
                runnable: 1.5 + at as f64,
                idle_cpus: 0.25,
                imbalance: 0.0,
            })
            .collect(),
        wakers: vec![
            pair("idle", 6, [("same_cpu", 1), ("remote", 4)].into()),
            pair("hardirq", 2, BTreeMap::new()),
        ],
        clocks: (0..2)
            .map(|cpu| Clocks {
                cpu,
                time_ns: (1..13).map(|n| (n * 123_457, 1_000 + u64::from(n))).collect(),
            })
            .collect(),
        idle_states: vec![IdleStates {
            cpu: 1,
            time_ns: [(0, 5)].into(),
            entries: [(0, 6), (2, 1)].into(),
        }],
    }
}

fn source<'a>(machine: &'a Machine, read: &'a Read, inspection: &'a Inspection) -> Source<'a> {
    Source { trace: Path::new("dir/trace.dat"), machine, read, inspection, judged: None }
}

/// A row that was read, by column.
struct Row(BTreeMap<String, Field>);

impl Row {
    fn text(&self, column: &str) -> String {
        match &self.0[column] {
            Field::Str(text) => text.clone(),
            other => panic!("{column}: {other:?}"),
        }
    }

    fn whole(&self, column: &str) -> u64 {
        match &self.0[column] {
            Field::ULong(n) => *n,
            other => panic!("{column}: {other:?}"),
        }
    }

    fn real(&self, column: &str) -> f64 {
        match &self.0[column] {
            Field::Double(n) => *n,
            other => panic!("{column}: {other:?}"),
        }
    }

    fn distance(&self) -> &'static str {
        let name = self.text("distance");
        Distance::ALL.iter().map(|d| d.name()).find(|n| *n == name).expect("a distance")
    }

    fn spread(&self) -> Spread {
        Spread {
            count: self.whole("count"),
            total_ns: self.whole("total_ns"),
            mean_ns: self.real("mean_ns"),
            p50_ns: self.whole("p50_ns"),
            p90_ns: self.whole("p90_ns"),
            p99_ns: self.whole("p99_ns"),
            p999_ns: self.whole("p999_ns"),
            max_ns: self.whole("max_ns"),
        }
    }
}

fn rows(dir: &Path, table: &str) -> Vec<Row> {
    let bytes = std::fs::read(dir.join(format!("{table}.parquet"))).expect("a file");
    let reader = SerializedFileReader::new(Bytes::from(bytes)).expect("Parquet");
    let rows = reader.get_row_iter(None).expect("rows");
    rows.map(|row| Row(row.expect("a row").into_columns().into_iter().collect())).collect()
}

/// The inspection that the tables in `dir` are of.
fn read_back(dir: &Path) -> Inspection {
    let of = |table: &str| rows(dir, table);
    let trace = &of("trace")[0];
    let mut by_reason: BTreeMap<Reason, BTreeMap<&'static str, u64>> = BTreeMap::new();
    for row in of("moves") {
        let reason = match row.text("reason").as_str() {
            "wake-up" => Reason::WakeUp,
            "pulled" => Reason::Pulled,
            "stopper" => Reason::Stopper,
            _ => Reason::Other,
        };
        by_reason.entry(reason).or_default().insert(row.distance(), row.whole("moves"));
    }
    let mut wakers: Vec<Edge> = (of("wakers").iter())
        .map(|row| Edge {
            waker: row.text("waker"),
            woken: row.text("woken"),
            count: row.whole("wakeups"),
            distances: BTreeMap::new(),
        })
        .collect();
    for row in of("waker_distances") {
        let names = (row.text("waker"), row.text("woken"));
        let edge = wakers.iter_mut().find(|e| (&e.waker, &e.woken) == (&names.0, &names.1));
        edge.expect("a pair").distances.insert(row.distance(), row.whole("wakeups"));
    }
    let mut clocks: BTreeMap<usize, BTreeMap<u32, u64>> = BTreeMap::new();
    for row in of("clocks") {
        let times = clocks.entry(row.whole("cpu") as usize).or_default();
        times.insert(row.whole("khz") as u32, row.whole("time_ns"));
    }
    let mut idle_states: BTreeMap<usize, IdleStates> = BTreeMap::new();
    for row in of("idle_states") {
        let cpu = row.whole("cpu") as usize;
        let new = IdleStates { cpu, time_ns: BTreeMap::new(), entries: BTreeMap::new() };
        let states = idle_states.entry(cpu).or_insert(new);
        let state = row.whole("state") as u32;
        states.entries.insert(state, row.whole("entries"));
        if row.whole("time_ns") > 0 {
            states.time_ns.insert(state, row.whole("time_ns"));
        }
    }
    let intervals: Vec<u64> = of("intervals").iter().map(|row| row.whole("intervals")).collect();
    Inspection {
        waited_ns: trace.whole("waited_ns"),
        from_ns: trace.whole("from_ns"),
        to_ns: trace.whole("to_ns"),
        events: trace.whole("events"),
        cpus: trace.whole("cpus") as usize,
        repairs: trace.whole("repairs"),
        groups: (of("names").chunks(3))
            .map(|three| Group {
                name: three[0].text("name"),
                tasks: three[0].whole("tasks") as usize,
                run: three[0].spread(),
                delay: three[1].spread(),
                latency: three[2].spread(),
            })
            .collect(),
        tasks: (of("tasks").iter())
            .map(|row| TaskFigures {
                name: row.text("name"),
                pid: row.whole("pid") as u32,
                runs: row.whole("runs"),
                run_ns: row.whole("run_ns"),
                delay_ns: row.whole("delay_ns"),
                longest_delay_ns: row.whole("longest_delay_ns"),
                wakeups: row.whole("wakeups"),
            })
            .collect(),
        wakeups: of("wakeups").iter().map(|row| (row.distance(), row.spread())).collect(),
        conservation: Conservation {
            violated_ns: trace.whole("violated_ns"),
            percent: trace.real("violated_percent"),
            lost_cpu_ns: trace.whole("lost_cpu_ns"),
            intervals: intervals.try_into().expect("five classes"),
            worst: (of("violations").iter())
                .map(|row| Violation {
                    from_ns: row.whole("from_ns"),
                    length_ns: row.whole("length_ns"),
                    idle_cpus: row.whole("idle_cpus") as usize,
                    waiting: row.whole("waiting") as usize,
                    task: row.whole("pid") as u32,
                    queue: row.whole("queue") as usize,
                })
                .collect(),
        },
        moves: Moves {
            forks: trace.whole("new_tasks"),
            by_reason,
            ping_pong: (of("ping_pong").iter())
                .map(|row| PingPong {
                    name: row.text("name"),
                    pid: row.whole("pid") as u32,
                    crossings: row.whole("crossings"),
                    returns: row.whole("returns"),
                })
                .collect(),
        },
        levels: (of("levels").iter())
            .map(|row| Level {
                from_ns: row.whole("from_ns"),
                length_ns: row.whole("length_ns"),
                runnable: row.real("runnable"),
                idle_cpus: row.real("idle_cpus"),
                imbalance: row.real("imbalance"),
            })
            .collect(),
        wakers,
        clocks: clocks.into_iter().map(|(cpu, time_ns)| Clocks { cpu, time_ns }).collect(),
        idle_states: idle_states.into_values().collect(),
    }
}

#[test]
fn tables_hold_the_whole_inspection() {
    let machine = machine();
    let (read, inspection) = recorded();
    assert!(!inspection.idle_states.is_empty() && inspection.tasks.len() > 20);
    for inspection in [inspection, by_hand()] {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let out = dir.path().join("out");
        let tables = tables(&source(&machine, &read, &inspection));
        columns::write(&tables, &out).expect("a new directory");
        assert_eq!(read_back(&out), inspection);
        let trace = &rows(&out, "trace")[0];
        assert_eq!(
            (trace.text("trace"), trace.text("machine")),
            ("trace.dat".into(), "synthetic".into())
        );
        // Every column of every table is described.
        let described = rows(&out, "columns");
        assert_eq!(described.len(), tables.iter().map(|t| t.columns.len()).sum::<usize>());
        for row in described {
            let is_time = row.text("column").ends_with("_ns");
            assert_eq!(is_time, row.text("unit") == "ns", "{}", row.text("column"));
            assert!(!row.text("holds").is_empty());
        }
    }
}

#[test]
fn a_page_has_every_part_and_loads_nothing() {
    let machine = machine();
    let (read, mut inspection) = recorded();
    inspection.shorten(5);
    let judged = Part {
        id: "judged",
        title: "Beside a model".to_string(),
        note: String::new(),
        blocks: vec![
            Block::Lines("a line <here>\n".to_string()),
            Block::Cells(Cells { columns: vec!["a", "b"], names: 1, rows: vec![] }),
        ],
    };
    let source = Source { judged: Some(judged), ..source(&machine, &read, &inspection) };
    let html = html(&source).expect("a page");
    loads_nothing(&html);
    let page = parsed(&html);
    let section = |id: &str| page.descendants().find(|n| n.attribute("id") == Some(id));
    for (id, pictures, tables) in [
        ("trace", 1, 1),
        ("names", 1, 1),
        ("wakeups", 2, 1),
        ("conservation", 1, 1),
        ("moves", 1, 1),
        ("levels", 1, 1),
        ("wakers", 1, 1),
        ("residency", 1, 1),
        ("judged", 0, 0),
    ] {
        let section = section(id).expect(id);
        let count = |tag: &str| section.descendants().filter(|n| n.has_tag_name(tag)).count();
        assert_eq!((count("figure"), count("table")), (pictures, tables), "{id}");
        let link = format!("#{id}");
        assert!(page.descendants().any(|n| n.attribute("href") == Some(&link)), "{id}");
    }
    assert!(html.contains("digraph wakeups") && html.contains("a line &#60;here&#62;"));
    assert_eq!(html, super::html(&source).expect("the same page"));
    let text = text(&source);
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    for part in parts::parts(&inspection) {
        assert!(text.contains(&format!("\n{}\n", part.title)) && html.contains(&part.title));
    }
}

#[test]
fn names_are_text_and_many_clocks_are_taken_together() {
    let machine = machine();
    let inspection = by_hand();
    let read = Read { lost: 3, cut: true, ..Read::default() };
    let source = source(&machine, &read, &inspection);
    let html = html(&source).expect("a page");
    is_text(&html);
    loads_nothing(&html.replace('\u{1}', " "));
    let warning = "3 records lost by the kernel, which had no room for them, the file is cut, and its end is missing, \
                   2 switches from a task that was not known to run; figures are too low";
    assert!(html.contains(warning), "{html}");
    assert!(text(&source).replace('\n', " ").contains(warning));
    assert!(html.contains("0.2 to 0.4 GHz") && html.contains("never ran"), "{html}");
}

#[test]
fn pictures_have_the_first_of_many_and_say_so() {
    let machine = machine();
    let mut inspection = by_hand();
    let (group, pair) = (inspection.groups[1].clone(), inspection.wakers[0].clone());
    inspection.groups = (0..50).map(|n| Group { name: format!("n{n}"), ..group.clone() }).collect();
    inspection.wakers = (0..50).map(|n| Edge { waker: format!("w{n}"), ..pair.clone() }).collect();
    let read = Read::default();
    let html = html(&source(&machine, &read, &inspection)).expect("a page");
    for wanted in ["the first 40 of 50 names", "the first 40 of 50 pairs"] {
        assert!(html.contains(wanted), "{wanted}");
    }
    assert!(html.contains("n39: run") && !html.contains("n40: run"));
}

/// A trace in which nothing happens.
#[test]
fn a_trace_without_anything_has_a_page() {
    let machine = machine();
    let inspection = Inspector::new(&machine).finish();
    let read = Read::default();
    let source = source(&machine, &read, &inspection);
    let html = html(&source).expect("a page");
    parsed(&html);
    assert!(html.contains("There is nothing to list.") && !html.contains("id=\"levels\""));
    assert!(
        text(&source).starts_with("dir/trace.dat: 0.000000 s, 0 events of 0 CPUs, on synthetic\n")
    );
    let tables = tables(&source);
    assert!(tables.iter().all(|table| columns::bytes(table).is_ok()));
}
