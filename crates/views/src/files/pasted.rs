//! Files as other tools list them (filetop, opensnoop, fileslower), for the same table. filetop shows names without
//! directories: where opensnoop beside it shows one path of that name and process, that is its.

use super::row::Row;
use std::collections::HashMap;
use whyslow_facts::Facts;
use whyslow_facts::host::Thing;
use whyslow_facts::pattern::pattern_of;
use whyslow_facts::who::{Who, process_of};
use whyslow_model::event::Tid;
use whyslow_model::{Entity, Metric, Trait};

/// The rows, each of one file, or of one file and user; several tools that tell of the same are one.
pub(super) fn rows(facts: &Facts, by_user: bool) -> Vec<Row> {
    let things = facts.host.things_that(|of| matches!(of, Entity::File { .. }));
    let mut whole = Paths::default();
    for (of, _) in things.iter().copied() {
        if let Entity::File { pid, path } = of {
            whole.see(pid.map(|number| process_of(facts, number).unwrap_or(number)), path);
        }
    }
    let mut rows: HashMap<(String, Who), Row> = HashMap::new();
    for (of, thing) in things {
        let Entity::File { pid, path } = of else { continue };
        let who = pid.map(|number| Who::numbered(facts, number, thing.told(Trait::Name))).unwrap_or_default();
        let process = pid.map(|number| process_of(facts, number).unwrap_or(number));
        let path = whole.of(process, path).unwrap_or(path).to_string();
        let row = row(path.clone(), who.clone(), thing);
        let same_file = |known: &mut Row| {
            known.add(&row);
            known.files = 1;
        };
        let key = (path, if by_user { who } else { Who::default() });
        rows.entry(key).and_modify(same_file).or_insert_with(|| row.clone());
    }
    let mut rows: Vec<_> = rows.into_iter().collect();
    rows.sort_by(|(a, _), (b, _)| a.cmp(b));
    rows.into_iter().map(|(_, row)| row).collect()
}

fn row(path: String, who: Who, thing: &Thing) -> Row {
    let sum = |metric: Metric| thing.reading(metric).map(|reading| reading.sum().max(0.0) as u64);
    let calls = sum(Metric::CallCount);
    let (read, written) = (sum(Metric::ReadTotal), sum(Metric::WriteTotal));
    let tool = thing.readings.first().map(|reading| reading.tool);
    let opens = tool.filter(|tool| *tool == "opensnoop").and(calls);
    let mut row = Row::new(path);
    row.files = 1;
    row.calls = calls.unwrap_or(0);
    row.opens = opens;
    (row.read, row.written) = (read.unwrap_or(0), written.unwrap_or(0));
    row.ns = sum(Metric::CallTotal);
    row.longest = thing.reading(Metric::CallMax).map(|reading| reading.max as u64);
    row.tools.extend(tool);
    row.users.push((who, row.moved()));
    row
}

/// Whole paths by process and last name; `None` where there are several of different patterns.
#[derive(Default)]
struct Paths<'a> {
    whole: HashMap<(Option<Tid>, &'a str), Option<String>>,
}

impl<'a> Paths<'a> {
    fn see(&mut self, process: Option<Tid>, path: &'a str) {
        let Some((directory, name)) = path.rsplit_once('/').filter(|_| path.starts_with('/')) else { return };
        let known = self.whole.entry((process, name)).or_insert_with(|| Some(path.to_string()));
        if known.as_deref().is_some_and(|known| known != path) {
            // The same name in one directory after the other: `/tmp/{uuid}/17.txt`.
            let pattern = format!("{}/{name}", pattern_of(directory));
            let of_known = known.as_deref().and_then(|known| known.rsplit_once('/'));
            let fits =
                of_known.is_some_and(|(directory, _)| format!("{}/{name}", pattern_of(directory)) == pattern);
            *known = fits.then_some(pattern);
        }
    }

    fn of(&self, process: Option<Tid>, name: &'a str) -> Option<&str> {
        let bare = !name.contains('/');
        bare.then(|| self.whole.get(&(process, name))).flatten()?.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_find_their_whole_paths() {
        let mut paths = Paths::default();
        let uuids = ["9046db9e-fe25-11e8-b13f-0242ac110002", "a6a0bd5e-fe25-11e8-b13f-0242ac110002"];
        let in_tmp: Vec<String> = uuids.iter().map(|uuid| format!("/tmp/{uuid}/17.txt")).collect();
        for path in
            in_tmp.iter().map(String::as_str).chain(["/etc/hosts", "/a/x", "/b/x", "/c/x", "relative"])
        {
            paths.see(Some(7), path);
        }
        assert_eq!(paths.of(Some(7), "17.txt"), Some("/tmp/{uuid}/17.txt"));
        assert_eq!(paths.of(Some(7), "hosts"), Some("/etc/hosts"));
        for (process, name) in [(Some(7), "x"), (Some(8), "hosts"), (None, "hosts"), (Some(7), "/etc/hosts")]
        {
            assert_eq!(paths.of(process, name), None, "{name}");
        }
    }
}
