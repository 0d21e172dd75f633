//! Figures of two captures side by side: time, work done, calls, calls per unit of work.

use super::change::{NO_CHANGE, change_words, counted, sentence, timed, times, unchanged};
use super::noise;
use super::outcome::{Change, Telling};
use super::windows::Windows;
use crate::words;
use std::cmp::Reverse;
use whyslow_facts::folds::peers::Role;
use whyslow_facts::folds::requests::Side;
use whyslow_facts::{Facts, Work};
use whyslow_model::{CallStats, FigureChange, Nanos};

/// The figures, and what of them belongs into the verdict.
#[derive(Default)]
pub(super) struct Figures {
    pub(super) list: Vec<FigureChange>,
    /// What changed, a sentence each without its full stop.
    pub(super) headline: Vec<String>,
    /// Of whole runs whose time did not change: said where something else did.
    pub(super) same_time: Option<String>,
    /// Logs or tables tell of requests on both sides.
    pub(super) of_requests: bool,
    /// What the figures do not prove.
    pub(super) caveats: Vec<String>,
    /// By which the outcome is judged.
    pub(super) telling: Telling,
    /// The first sentence of the headline is of all answers together.
    of_all_answers: bool,
    /// The second run did no work, or gave fewer results in a whole run.
    pub(super) less_work: bool,
}

/// Servers listed: those whose answers took most of the time.
const MAX_SERVERS: usize = 5;
/// Syscalls listed: those that changed most.
const MAX_SYSCALLS: usize = 8;

pub(super) fn compare(before: &Facts, after: &Facts, windows: &Windows) -> Figures {
    let (work_before, work_after) = (before.work_done(), after.work_done());
    let units = units(&work_before, &work_after);
    let mut figures = Figures::default();
    figures.time(&units, windows);
    figures.answers(before, after);
    figures.requests(before, after, windows);
    figures.work(&units, windows);
    if work_before.bytes_written > 0 || work_after.bytes_written > 0 {
        let (a, b) = (work_before.bytes_written, work_after.bytes_written);
        figures.list.push(FigureChange { unit: "bytes", ..counted("bytes written", a, b, windows) });
    }
    if before.total_calls() > 0 || after.total_calls() > 0 {
        figures.list.push(counted("calls", before.total_calls(), after.total_calls(), windows));
    }
    figures.syscalls(before, after, &units, windows);
    figures.doubt(&units, windows);
    figures
}

/// What doing more or less of a unit says.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Meaning {
    /// What the program is there for.
    Result,
    /// Mostly a result; but a cure may be to do less of it.
    Work,
    /// Done on the way, more often or less for the same result.
    Means,
}

/// A unit of work with how often it was done.
struct Unit {
    /// In the singular: `write`.
    name: &'static str,
    /// The figure's name.
    figure: &'static str,
    /// What the reader gets of it, in the plural.
    result: &'static str,
    meaning: Meaning,
    before: u64,
    after: u64,
}

impl Unit {
    /// `renames 5 -> 25`.
    fn change(&self) -> String {
        format!("{} {} -> {}", self.figure, words::count(self.before), words::count(self.after))
    }
}

/// The units that either side did, the most telling first.
fn units(before: &Work, after: &Work) -> Vec<Unit> {
    let unit = |name, figure, result, meaning, of: fn(&Work) -> u64| Unit {
        name,
        figure,
        result,
        meaning,
        before: of(before),
        after: of(after),
    };
    let all = [
        unit("request", "requests", "requests", Meaning::Result, |work| work.requests),
        unit("rename", "renames", "files", Meaning::Result, |work| work.renames),
        unit("write", "write calls", "writes", Meaning::Work, |work| work.writes),
        unit("read", "read calls", "reads", Meaning::Means, |work| work.reads),
        unit("program", "programs started", "programs", Meaning::Means, |work| work.execs),
    ];
    all.into_iter().filter(|unit| unit.before > 0 || unit.after > 0).collect()
}

impl Figures {
    fn time(&mut self, units: &[Unit], windows: &Windows) {
        let Some((before, after)) = windows.lengths() else { return };
        if windows.whole_runs {
            let figure = timed("total time", before, after);
            if figure.beyond_noise == Some(true) {
                self.headline.push(sentence(&figure));
            } else {
                self.same_time =
                    Some(sentence(&FigureChange { change: format!("shows {NO_CHANGE}"), ..figure.clone() }));
            }
            self.telling.run.extend(Change::of(&figure));
            self.list.push(figure);
        }
        let done = |unit: &&Unit| match unit.meaning {
            _ if unit.before == 0 || unit.after == 0 => false,
            Meaning::Result => true,
            // Of whole runs, one that writes less takes longer a write: that says nothing.
            Meaning::Work => !(windows.whole_runs && noise::counts_differ(unit.before, unit.after, 1.0)),
            Meaning::Means => false,
        };
        for unit in units.iter().filter(done) {
            let name = format!("time per {}", unit.name);
            let figure = timed(&name, before / unit.before as f64, after / unit.after as f64);
            // With few units, chance decides how many fall into a window.
            let chance =
                !windows.whole_runs && !noise::counts_differ(unit.before, unit.after, after / before);
            let figure = if chance { unchanged(figure) } else { figure };
            let changed = figure.beyond_noise == Some(true);
            if changed && self.headline.is_empty() && unit.meaning == Meaning::Result && !windows.whole_runs {
                self.headline.push(sentence(&figure));
            }
            match unit.meaning {
                Meaning::Result => self.telling.results.extend(Change::of(&figure)),
                _ => self.telling.work.extend(Change::of(&figure)),
            }
            self.list.push(figure);
        }
    }

    /// How long clients waited for our answers, and we for those of each server.
    fn answers(&mut self, before: &Facts, after: &Facts) {
        let of_clients = |facts: &Facts| {
            let mut all = CallStats::default();
            facts
                .peers
                .iter()
                .filter(|peer| peer.role == Role::Client)
                .for_each(|peer| all.merge(&peer.answers));
            all
        };
        let first = self.list.len();
        let ours = self.percentiles("our answers", &of_clients(before), &of_clients(after));
        self.telling.requests.extend(ours);
        // Where no endpoint is known, this is what users get.
        let changed = self.list[first..].iter().find(|figure| figure.beyond_noise == Some(true));
        if let Some(figure) = changed {
            self.headline.insert(0, sentence(figure));
            self.of_all_answers = true;
        }
        let mut servers: Vec<_> = before.peers.servers().collect();
        servers.sort_by_key(|peer| Reverse(peer.answers.total_ns));
        for old in servers.into_iter().take(MAX_SERVERS) {
            if let Some(new) = after.peers.servers().find(|peer| peer.name == old.name) {
                self.percentiles(&format!("answers of {}", old.name), &old.answers, &new.answers);
            }
        }
    }

    /// Requests by endpoint; of logs and tables of percentiles, what changed there is the verdict.
    fn requests(&mut self, before: &Facts, after: &Facts, windows: &Windows) {
        let endpoints = super::requests::compare(before, after);
        let (old, new) = (before.requests.of_logs(), after.requests.of_logs());
        let of_logs = old.count > 0 && new.count > 0;
        // What users get is what is served.
        let served = || {
            endpoints.iter().filter(|(side, _)| of_logs || *side == Side::Server).map(|(_, figure)| figure)
        };
        self.telling.requests.extend(served().filter_map(Change::of));
        let changed = || served().filter(|figure| figure.beyond_noise == Some(true));
        // That on which most time goes, and that which changed most.
        let extent = |figure: &FigureChange| figure.ratio.map_or(0.0, |ratio| ratio.max(1e-12).ln().abs());
        let most = changed().max_by(|a, b| extent(a).total_cmp(&extent(b)));
        let mut told: Vec<&FigureChange> = changed().take(1).chain(most).collect();
        told.dedup_by_key(|figure| &figure.name);
        if !told.is_empty() && std::mem::take(&mut self.of_all_answers) {
            self.headline.remove(0);
        }
        for (at, figure) in told.into_iter().enumerate() {
            if let (Some(a), Some(b)) = (figure.before, figure.after) {
                let told = sentence(&FigureChange { change: change_words(a, b), ..figure.clone() });
                self.headline.insert(at, told);
            }
        }
        if of_logs {
            self.of_requests = true;
            let failed = |facts: &Facts| super::requests::failed(facts);
            self.list.push(counted("requests logged", old.count, new.count, windows));
            self.list.push(counted("failed requests logged", failed(before), failed(after), windows));
        }
        self.list.extend(endpoints.into_iter().map(|(_, figure)| figure));
        let tables = super::percentiles::compare(before, after);
        self.telling.requests.extend(tables.list.iter().filter_map(Change::of_uncounted));
        self.of_requests |= !tables.list.is_empty();
        self.list.extend(tables.list);
        self.headline.extend(tables.headline);
        self.caveats.extend(tables.refusal);
    }

    /// Adds the percentiles of both; how they changed.
    fn percentiles(&mut self, what: &str, before: &CallStats, after: &CallStats) -> Vec<Change> {
        let mut changes = Vec::new();
        for (name, q) in [("median", 0.5), ("p99", 0.99)] {
            // A percentile of fewer than a few times 1 / (1 - q) is one of the largest values: chance.
            let enough = 3.0 / (1.0 - q);
            if before.timed as f64 >= enough
                && after.timed as f64 >= enough
                && let (Some(a), Some(b)) = (before.percentile(q).get(), after.percentile(q).get())
            {
                let figure = timed(&format!("{name} of {what}"), a as f64, b as f64);
                changes.extend(Change::of(&figure));
                self.list.push(figure);
            }
        }
        changes
    }

    fn work(&mut self, units: &[Unit], windows: &Windows) {
        let mut told = Vec::new();
        for unit in units {
            let figure = counted(unit.figure, unit.before, unit.after, windows);
            let telling = match windows.whole_runs {
                false => unit.meaning != Meaning::Means,
                // How much a whole run does is its own affair (see `doubt`), but more results in the same time stand.
                true => {
                    self.same_time.is_some() && unit.meaning == Meaning::Result && unit.after > unit.before
                }
            };
            let telling = telling && figure.beyond_noise == Some(true);
            if let Some(ratio) = figure.ratio.filter(|ratio| telling && *ratio > 0.0) {
                // Fewer in a shorter time may be more a second.
                let ratio = ratio / windows.exposure();
                let rate = if noise::times_differ(1.0, windows.exposure()) { " a second" } else { "" };
                let much = if ratio >= 1.0 {
                    format!("{} the {}{rate}", times(ratio), unit.result)
                } else {
                    format!("{} fewer {}{rate}", times(1.0 / ratio), unit.result)
                };
                told.push(format!("{much} ({})", unit.change()));
            }
            self.list.push(figure);
        }
        let when = match windows.lengths() {
            None => " in an unknown time".to_string(),
            Some(_) if windows.whole_runs => " in the same time".to_string(),
            Some((before, after)) => {
                format!(" in {} instead of {}", Nanos::new(after as u64), Nanos::new(before as u64))
            }
        };
        if let Some((last, rest)) = told.split_last() {
            let list = if rest.is_empty() { last.clone() } else { format!("{} and {last}", rest.join(", ")) };
            self.headline.push(format!("Work done: {list}{when}"));
            self.same_time = None;
        }
    }

    /// Less time is no proof where less was done.
    fn doubt(&mut self, units: &[Unit], windows: &Windows) {
        let work: Vec<&Unit> = units.iter().filter(|unit| unit.meaning != Meaning::Means).collect();
        if work.iter().any(|unit| unit.before > 0) && work.iter().all(|unit| unit.after == 0) {
            self.caveats.push(
                "The second capture shows no work done: what is gone may only be gone because nothing ran."
                    .to_string(),
            );
            self.less_work = true;
            return;
        }
        let differ: Vec<String> = work
            .iter()
            .filter(|unit| windows.whole_runs && noise::counts_differ(unit.before, unit.after, 1.0))
            .map(|unit| unit.change())
            .collect();
        self.less_work = windows.whole_runs
            && work.iter().any(|unit| {
                unit.meaning == Meaning::Result
                    && unit.after < unit.before
                    && noise::counts_differ(unit.before, unit.after, 1.0)
            });
        if !differ.is_empty() {
            self.caveats.push(format!(
                "That both runs did the same work is not shown: {}. Compare their results.",
                differ.join(", ")
            ));
        }
    }

    /// The calls that changed most, and the same per unit of work.
    fn syscalls(&mut self, before: &Facts, after: &Facts, units: &[Unit], windows: &Windows) {
        let (old, new) = (&before.syscalls(), &after.syscalls());
        let count = |list: &[(String, CallStats)], name: &str| {
            list.iter().find(|(known, _)| known == name).map_or(0, |(_, stats)| stats.count)
        };
        let names =
            old.iter().chain(new.iter().filter(|(name, _)| count(old, name) == 0)).map(|(name, _)| name);
        let mut changed: Vec<(&str, u64, u64)> = names
            .map(|name| (name.as_str(), count(old, name), count(new, name)))
            .filter(|(name, a, b)| !is_unit(name, units) && noise::counts_differ(*a, *b, windows.exposure()))
            .collect();
        changed.sort_by_key(|(name, a, b)| (Reverse(a.abs_diff(*b)), name.to_string()));
        changed.truncate(MAX_SYSCALLS);
        // A whole run may do less of anything but results.
        let stands = |unit: &&Unit| match unit.meaning {
            Meaning::Result => true,
            Meaning::Work => !windows.whole_runs,
            Meaning::Means => false,
        };
        let work = units.iter().filter(stands).find(|unit| unit.before > 0 && unit.after > 0);
        for (name, a, b) in &changed {
            self.list.push(counted(&format!("{name} calls"), *a, *b, windows));
        }
        let Some(work) = work else { return };
        let more_work = work.after as f64 / work.before as f64;
        for (name, a, b) in changed.iter().filter(|(_, a, b)| noise::counts_differ(*a, *b, more_work)) {
            let (a_per, b_per) = (*a as f64 / work.before as f64, *b as f64 / work.after as f64);
            self.list.push(FigureChange {
                name: format!("{name} calls per {}", work.name),
                unit: "ratio",
                before: Some(a_per),
                after: Some(b_per),
                ratio: (a_per > 0.0).then(|| b_per / a_per),
                beyond_noise: Some(true),
                change: change_words(a_per, b_per),
            });
        }
    }
}

/// True for a call that stands among the units of work already.
fn is_unit(syscall: &str, units: &[Unit]) -> bool {
    units.iter().any(|unit| unit.name == syscall)
}
