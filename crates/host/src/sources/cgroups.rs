//! Control groups of both versions: CPU time, quota and throttling, memory and its limits, limits and bytes of disks, PSI.
//! Hosts with many groups are looked at less often; rates are over the time since the look before.

use super::{HostSource, Look};
use crate::context::Context;
use crate::files::{Reader, open_dir};
use crate::mounts;
use crate::options::SamplerOptions;
use crate::out::{Out, Row};
use crate::pace::{Pace, cpu_time};
use hashbrown::HashMap;
use rustix::fs::CWD;
use std::os::fd::OwnedFd;
use whyslow_counters::groups::ITEMS;
use whyslow_counters::{Figures, Span, text};
use whyslow_model::text::bounded;
use whyslow_model::{Entity, Nanos, Over};

pub(super) const SOURCE: HostSource = HostSource {
    name: "cgroups",
    reads: "/sys/fs/cgroup, both versions: cpu.stat, cpu.max, memory.*, io.max, io.stat, *.pressure and their older names",
    open: |_: &SamplerOptions| Box::new(Groups::default()),
};

/// Most groups looked at; the rest is a gap.
const MOST: usize = 2048;
/// Levels below the root.
const DEEPEST: usize = 12;
/// Share of a CPU that looks at groups may cost in the long run.
const SHARE: f64 = 0.001;
/// One hierarchy.
struct Hierarchy {
    /// Its controllers; empty for version 2.
    controllers: Vec<String>,
    /// Where it is mounted.
    at: String,
}

/// What was read of a group last.
struct Known {
    figures: Figures,
    at: f64,
}

struct Groups {
    known: HashMap<Box<str>, Known>,
    hierarchies: Option<Vec<Hierarchy>>,
    pace: Pace,
}

impl Default for Groups {
    fn default() -> Groups {
        Groups { known: HashMap::new(), hierarchies: None, pace: Pace::new(SHARE) }
    }
}

impl Look for Groups {
    fn look(&mut self, context: &mut Context<'_>, out: &mut Out) {
        if !self.pace.is_due(context.uptime) {
            return;
        }
        let began = cpu_time();
        let hierarchies = self.hierarchies.get_or_insert_with(|| hierarchies(context.reader));
        if hierarchies.is_empty() {
            return out.gap(
                SOURCE.name,
                "control groups",
                "none are mounted",
                "mount -t cgroup2 none /sys/fs/cgroup; in a container: docker run --cgroupns=host -v /sys/fs/cgroup:/sys/fs/cgroup:ro",
            );
        }
        let mut found: HashMap<Box<str>, Figures> = HashMap::new();
        let mut left_out = 0;
        for hierarchy in hierarchies.iter() {
            let Ok(root) = open_dir(CWD, context.options.root.path(&hierarchy.at)) else { continue };
            let mut walk =
                Walk { hierarchy, ticks: context.ticks, found: &mut found, left_out: &mut left_out };
            walk.group(context.reader, &root, "/", 0);
        }
        if left_out > 0 {
            out.gap(
                SOURCE.name,
                format!("{left_out} control groups"),
                format!("more than {MOST} are there"),
                "",
            );
        }
        let mut rows = Vec::with_capacity(found.len());
        let mut length: Option<f64> = None;
        for (path, figures) in &found {
            let before = self.known.get(path);
            let span = match before {
                Some(before) => Span::since_last(context.uptime - before.at),
                None if context.span.is_first() => context.span,
                // It is new: nothing to compare with.
                None => Span::since_last(0.0),
            };
            if let Some(before) = before {
                length = Some(length.unwrap_or(0.0).max(context.uptime - before.at));
            }
            let mut row = Row::new(Entity::Cgroup(path.clone()));
            row.take(figures, before.map(|before| &before.figures), &span);
            rows.push(row);
        }
        self.known =
            found.into_iter().map(|(path, figures)| (path, Known { figures, at: context.uptime })).collect();
        out.table_of(rows, Over::SinceBoot, true, length.map(|seconds| Nanos::new((seconds * 1e9) as u64)));
        self.pace.took(context.uptime, cpu_time() - began);
    }
}

/// A walk through the groups of one hierarchy.
struct Walk<'a> {
    hierarchy: &'a Hierarchy,
    ticks: f64,
    found: &'a mut HashMap<Box<str>, Figures>,
    left_out: &'a mut u64,
}

impl Walk<'_> {
    fn group(&mut self, reader: &mut Reader, dir: &OwnedFd, path: &str, depth: usize) {
        if !self.found.contains_key(path) && self.found.len() >= MOST {
            *self.left_out += 1;
            return;
        }
        let figures = self.found.entry_ref(path).or_default();
        let controllers = &self.hierarchy.controllers;
        for item in &ITEMS {
            let is_here = match item.controller {
                "" => controllers.is_empty(),
                wanted => controllers.iter().any(|name| name == wanted),
            };
            // Files of controllers that are not on for this group are not there.
            if is_here && let Ok(text) = reader.at(dir, item.file) {
                (item.read)(text, figures, self.ticks);
            }
        }
        if depth >= DEEPEST {
            return;
        }
        for name in reader.folders(dir) {
            if let Ok(below) = open_dir(dir, &name) {
                let path = format!("{}/{}", path.trim_end_matches('/'), bounded(name.as_encoded_bytes()));
                self.group(reader, &below, &path, depth + 1);
            }
        }
    }
}

/// The hierarchies that are mounted, of /proc/self/mounts.
fn hierarchies(reader: &mut Reader) -> Vec<Hierarchy> {
    let mut found: Vec<Hierarchy> = Vec::new();
    for line in text::lines(reader.proc("self/mounts").unwrap_or_default()) {
        let mut words = text::words(line).skip(1);
        let (Some(at), Some(kind), Some(options)) = (words.next(), words.next(), words.next()) else {
            continue;
        };
        let known: Vec<&str> =
            ITEMS.iter().map(|item| item.controller).filter(|name| !name.is_empty()).collect();
        let controllers: Vec<String> = match kind {
            b"cgroup2" => Vec::new(),
            b"cgroup" => options
                .split(|byte| *byte == b',')
                .map(bounded)
                .filter(|option| known.contains(&option.as_str()))
                .collect(),
            _ => continue,
        };
        let has = kind == b"cgroup2" || !controllers.is_empty();
        if has && !found.iter().any(|other| other.controllers == controllers) {
            found.push(Hierarchy { controllers, at: mounts::plain(at).into() });
        }
    }
    found
}
