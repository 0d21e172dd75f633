//! Functions of the kernel that were counted, by `--probe` or by another tool whose table was pasted (funccount, vfscount,
//! funclatency): the same rows for both.

use super::Figures;
use crate::rows::nothing_because;
use crate::words;
use whyslow_facts::Facts;
use whyslow_facts::host::Thing;
use whyslow_model::{Cell, Entity, Metric, Nanos, Trait};

/// Functions whose callers are told, and ways to each.
const TOLD: usize = 8;
const WAYS: usize = 5;
/// From this part of the calls on a stretch of time is one in which most calls lie.
const MOST: f64 = 0.5;

/// A row a function, of all processes or by process.
pub(super) fn rows(facts: &Facts, by: &str) -> Vec<Figures> {
    let by_process = by != "function";
    let wanted = |of: &Entity| of.pid().is_some() == by_process;
    counted(facts)
        .into_iter()
        .filter(|(of, _)| wanted(of))
        .map(|(of, thing)| {
            let who = of.pid().map(|pid| Cell::Text(facts.host.name_of(&Entity::Process(pid))));
            let key = who.into_iter().chain([Cell::Text(of.name().to_string())]).collect();
            figures(key, thing)
        })
        .collect()
}

/// What tools counted or timed, by name.
fn counted(facts: &Facts) -> Vec<(&Entity, &Thing)> {
    let mut counted = facts.host.functions();
    counted.retain(|(_, thing)| thing.reading(Metric::CallCount).is_some());
    counted.sort_by(|a, b| a.0.cmp(b.0));
    counted
}

/// A number over all tables of the tool that is gone by.
fn in_all(thing: &Thing, metric: Metric) -> Option<f64> {
    thing.reading(metric).map(|reading| reading.sum())
}

fn figures(key: Vec<Cell>, thing: &Thing) -> Figures {
    let count = |metric| in_all(thing, metric).map(|value| value.max(0.0) as u64);
    let time = |value: Option<f64>| value.map_or(Nanos::UNKNOWN, |ns| Nanos::new(ns.max(0.0) as u64));
    Figures {
        key,
        calls: count(Metric::CallCount),
        errors: count(Metric::CallErrorCount),
        total: time(in_all(thing, Metric::CallTotal)),
        mean: time(thing.current(Metric::Latency)),
        min: time(thing.reading(Metric::CallMin).map(|reading| reading.min)),
        max: time(thing.reading(Metric::CallMax).map(|reading| reading.max)),
        p50: time(thing.current(Metric::CallP50)),
        p99: time(thing.current(Metric::CallP99)),
        ..Figures::default()
    }
}

/// Who calls the functions, and in which stretch of time most calls lie.
pub(super) fn notes(facts: &Facts) -> Vec<String> {
    let functions = counted(facts);
    if functions.is_empty() {
        let mut notes: Vec<String> = nothing_because(facts, "functions of the kernel").into_iter().collect();
        notes.push("Functions of the kernel are counted by --probe FN, or told by tables of funccount, vfscount or funclatency.".to_string());
        return notes;
    }
    let mut notes = Vec::new();
    for (of, thing) in functions.into_iter().filter(|(of, _)| of.pid().is_none()).take(TOLD) {
        notes.extend(thing.told(Trait::Times).and_then(|times| stretch(of.name(), times)));
        notes.extend(
            thing.told(Trait::Callers).map(|callers| called_by(of.name(), callers)).into_iter().flatten(),
        );
    }
    notes
}

/// No bucket begins later, ns: 146 years.
const LONGEST: u64 = 1 << 62;

/// `vfs_statx: 81.0 % of the calls take 2.05 us to 4.1 us.`: one bucket, or two beside each other.
fn stretch(function: &str, times: &str) -> Option<String> {
    let parse = |pair: &str| {
        let (ns, calls) = pair.split_once(':')?;
        let ns = ns.parse::<u64>().ok().filter(|ns| *ns <= LONGEST)?;
        Some((ns, calls.parse::<u64>().ok()?))
    };
    let buckets: Vec<(u64, u64)> = times.split(' ').filter_map(parse).collect();
    let all = buckets.iter().fold(0u64, |all, (_, calls)| all.saturating_add(*calls));
    let end = |ns: u64| ns.max(1) * 2;
    let one = buckets.iter().map(|(ns, calls)| (*calls, *ns, end(*ns))).max()?;
    let two = buckets.windows(2).filter(|pair| end(pair[0].0) == pair[1].0);
    let two = two.map(|pair| (pair[0].1.saturating_add(pair[1].1), pair[0].0, end(pair[1].0))).max();
    let (calls, from, to) =
        [Some(one), two].into_iter().flatten().find(|(calls, ..)| *calls as f64 >= MOST * all as f64)?;
    let share = words::percent(calls as f64 / all as f64);
    Some(format!("{function}: {share} of the calls take {} to {}.", Nanos::new(from), Nanos::new(to)))
}

/// A line a way, with its part of the calls whose way is known.
fn called_by(function: &str, callers: &str) -> Vec<String> {
    let ways: Vec<(u64, &str)> = callers
        .lines()
        .filter_map(|line| line.split_once(' ').and_then(|(calls, way)| Some((calls.parse().ok()?, way))))
        .collect();
    let all = ways.iter().fold(0u64, |all, (calls, _)| all.saturating_add(*calls));
    let told = ways.into_iter().filter(|_| all > 0).take(WAYS);
    told.map(|(calls, way)| {
        let share = words::percent(calls as f64 / all as f64);
        format!("{function}: {share} ({}) by {way}.", words::plural(calls, "call"))
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Ask, find};
    use whyslow_model::{Event, FigureRow, FigureTable, Over, Sink, SourceId};

    fn probed(tool: &'static str, pid: Option<u32>) -> Facts {
        let mut facts = Facts::default();
        let mut table = FigureTable::new(SourceId(0), tool);
        table.over = Over::Interval(Nanos::from_secs(2));
        let mut row = FigureRow::new(Entity::Function { pid, name: "vfs_fstatat".into() });
        row.set(Metric::CallCount, 1000.0);
        if tool == "whyslow --probe" {
            row.set(Metric::CallTotal, 2_716_000.0);
            row.set(Metric::Latency, 2716.0);
            row.set(Metric::CallErrorCount, 3.0);
            row.say(Trait::Times, "1024:100 2048:850 4096:50");
            row.say(Trait::Callers, "998 vfs_lstat < __do_sys_newlstat\n2 vfs_stat < __do_sys_newstat");
        }
        table.rows.push(row);
        facts.push(Event::Figures(Box::new(table)));
        facts.finish();
        facts
    }

    fn shown(facts: &Facts, by: &str) -> whyslow_model::Table {
        let ask = Ask { by: Some(by.to_string()), ..Ask::default() };
        (find("summary").unwrap().table)(facts, &ask).unwrap()
    }

    #[test]
    fn a_probed_function_has_count_time_errors_and_callers() {
        let table = shown(&probed("whyslow --probe", None), "function");
        let at = |key: &str| table.columns.iter().position(|column| column.key == key).unwrap();
        let row = &table.rows[0];
        assert_eq!(row[at("calls")], Cell::count(Some(1000)));
        assert_eq!(row[at("errors")], Cell::count(Some(3)));
        assert_eq!(row[at("mean")], Cell::duration(Nanos::new(2716)));
        assert_eq!(row[at("function")], Cell::Text("vfs_fstatat".to_string()));
        assert_eq!(
            table.notes,
            [
                "vfs_fstatat: 85.0 % of the calls take 2.05 us to 4.10 us.",
                "vfs_fstatat: 99.8 % (998 calls) by vfs_lstat < __do_sys_newlstat.",
                "vfs_fstatat: 0.2 % (2 calls) by vfs_stat < __do_sys_newstat.",
            ]
        );
    }

    #[test]
    fn a_pasted_table_has_the_same_rows_without_what_it_does_not_tell() {
        let table = shown(&probed("vfscount", None), "function");
        let at = |key: &str| table.columns.iter().position(|column| column.key == key).unwrap();
        assert_eq!(table.rows[0][at("calls")], Cell::count(Some(1000)));
        assert_eq!(table.rows[0][at("total")], Cell::Unknown);
        assert_eq!(table.rows[0][at("errors")], Cell::Unknown);
        assert!(table.notes.is_empty());
    }

    #[test]
    fn of_a_process_it_stands_by_process() {
        let facts = probed("whyslow --probe", Some(7));
        assert!(shown(&facts, "function").rows.is_empty());
        assert_eq!(shown(&facts, "process,function").rows.len(), 1);
    }

    #[test]
    fn damaged_words_of_a_recording_are_passed_over() {
        assert_eq!(stretch("f", "x:1 :: 18446744073709551615:2"), None);
        let most = format!("1024:{} 2048:{}", u64::MAX, u64::MAX);
        assert!(stretch("f", &most).is_some());
        assert_eq!(called_by("f", &format!("{} a < b\n{} c", u64::MAX, u64::MAX)).len(), 2);
        assert_eq!(stretch("f", ""), None);
        assert_eq!(called_by("f", "many a < b\n\n-1 c"), Vec::<String>::new());
    }
}
