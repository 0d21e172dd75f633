//! Temporary files as tools over the host tell of them: `filetop` how much was written and read back by name, `opensnoop`
//! the paths. Neither shows who removed them, so the finding is a hint; a trace proves it.

use super::temp_files::{Churn, PLACES, is_known_spill, report};
use crate::engine::{Findings, Need};
use crate::gate::gated;
use std::collections::BTreeMap;
use whyslow_facts::Facts;
use whyslow_facts::pattern::pattern_of;
use whyslow_model::{Entity, Measurement, Metric, Trait};

/// What is needed where there is no trace.
pub(super) const FIGURES: Need = Need::Figures(
    &[Metric::WriteTotal, Metric::CallCount],
    "which files are written, and by which paths they are opened",
    "filetop -C 5 1 > filetop.txt & opensnoop -d 5 > opensnoop.txt",
);

/// Files of each kind: fewer are no habit.
const MIN_FILES: usize = 3;
/// Bytes written: less is not felt.
const MUCH: f64 = 1e6;

/// Files of one pattern and program.
#[derive(Default)]
struct Group<'a> {
    opened: Vec<&'a Entity>,
    written: Vec<(&'a Entity, f64)>,
    read: Vec<(&'a Entity, f64)>,
    pattern: String,
    pid: Option<u32>,
}

#[gated]
pub(super) fn check(facts: &Facts, out: &mut Findings<'_>) {
    // By the program's name and the pattern of the file's own: filetop shows no directories.
    let mut groups: BTreeMap<(String, String), Group<'_>> = BTreeMap::new();
    for (of, thing) in facts.host.things_that(|of| matches!(of, Entity::File { .. })) {
        let (Some(comm), path) = (thing.told(Trait::Name), of.name()) else { continue };
        let pattern = pattern_of(path);
        let name = pattern.rsplit('/').next().unwrap_or(&pattern);
        if is_known_spill(path) || pattern == path {
            continue;
        }
        let group = groups.entry((comm.to_string(), name.to_string())).or_default();
        if PLACES.iter().any(|place| path.starts_with(place)) {
            group.opened.push(of);
            group.pattern = pattern.to_string();
            group.pid = of.pid();
        } else if !path.contains('/') {
            let bytes = |metric| thing.current(metric).filter(|bytes| *bytes > 0.0);
            group.written.extend(bytes(Metric::WriteTotal).map(|bytes| (of, bytes)));
            group.read.extend(bytes(Metric::ReadTotal).map(|bytes| (of, bytes)));
        }
    }
    for ((comm, _), group) in &groups {
        let sum = |files: &[(&Entity, f64)]| files.iter().map(|(_, bytes)| bytes).sum::<f64>();
        let (written, read) = (sum(&group.written), sum(&group.read));
        let each = [group.opened.len(), group.written.len(), group.read.len()];
        if written >= MUCH && each.iter().all(|files| *files >= MIN_FILES) {
            report(out, group.churn(facts, comm, written, read));
        }
    }
}

impl Group<'_> {
    #[gated]
    fn churn(&self, facts: &Facts, comm: &str, written: f64, read: f64) -> Churn {
        let lines = [
            (self.written.first().map(|(of, _)| *of), Metric::WriteTotal),
            (self.read.first().map(|(of, _)| *of), Metric::ReadTotal),
            (self.opened.first().copied(), Metric::CallCount),
        ];
        let lines = lines.into_iter().filter_map(|(of, metric)| Some(facts.host_lines(of?, &[metric])));
        let paths = Measurement::count("paths_opened", self.opened.len() as u64).at_least(MIN_FILES as f64);
        let files = |name, files: &[(&Entity, f64)]| {
            Measurement::count(name, files.len() as u64).at_least(MIN_FILES as f64)
        };
        Churn {
            pattern: self.pattern.clone(),
            who: comm.to_string(),
            pid: self.pid,
            comm: Some(comm.to_string()),
            written: (
                Measurement::bytes("bytes_written", written as u64).at_least(MUCH),
                files("files_written", &self.written),
            ),
            read: (Measurement::bytes("bytes_read_back", read as u64), files("files_read_back", &self.read)),
            shown: " shown",
            how: format!(
                "The tool that tells the bytes shows names alone, the one that tells the paths no bytes: they are joined by the pattern of the \
                 names and the program ({paths} paths opened).",
            ),
            figures: vec![paths],
            evidence: lines.flatten().collect(),
        }
    }
}
