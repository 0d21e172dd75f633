//! The timeline of a run, within what its page has room for.

use crate::data::{PageMark, PageSlices, PageState, PageTiles, PageTimeline, PageWakes};
use crate::grid::{ALL_STATES, Grid};
use crate::leads::ObjectNames;
use crate::plan::Plan;
use crate::reader::Read;
use crate::slices::KeptCall;
use crate::texts::Texts;
use crate::threads::Threads;
use hashbrown::HashMap;
use std::cmp::Reverse;
use whyslow_account::WorkWaits;
use whyslow_facts::Facts;
use whyslow_model::{CaptureKind, Diagnosis, Tid, Timestamp};

/// Parts of the time that tiles have at least.
const FEWEST: u64 = 50;

/// What a timeline is made of.
pub(crate) struct TimeOf<'a> {
    pub(crate) read: &'a Read,
    pub(crate) threads: &'a Threads,
    pub(crate) work: &'a WorkWaits,
    pub(crate) diagnosis: &'a Diagnosis,
    pub(crate) names: &'a ObjectNames,
}

impl TimeOf<'_> {
    /// The timeline. What is not in it is told in sentences.
    pub(crate) fn timeline(
        &self,
        plan: &Plan,
        texts: &mut Texts,
        left_out: &mut Vec<String>,
    ) -> PageTimeline {
        let Some(origin) = self.read.facts.window.start.get() else { return PageTimeline::default() };
        let tiles = self.tiles(origin, plan.tiles);
        let (slices, marks) = self.slices(origin, plan, texts, left_out);
        let wakes = self.wakes(origin, plan.wakes, left_out);
        PageTimeline { tiles, slices, wakes, marks }
    }

    fn state(&self, tid: Tid, state: whyslow_model::TimeState) -> PageState {
        PageState::of(state, self.work.is_for_work(tid, state))
    }

    /// All time of the threads, in parts so long that there are at most about `most` tiles.
    fn tiles(&self, origin: u64, most: usize) -> PageTiles {
        let grid = &self.read.time.grid;
        let Some((first, buckets)) = grid.span() else { return PageTiles::default() };
        let mut coarser = 0;
        loop {
            let tiles = self.tiles_of(grid, origin, (first, buckets), coarser);
            if tiles.ns.len() <= most || buckets >> coarser <= FEWEST {
                return tiles;
            }
            coarser += 1;
        }
    }

    fn tiles_of(&self, grid: &Grid, origin: u64, (first, buckets): (u64, u64), coarser: u32) -> PageTiles {
        let width = grid.width() << coarser;
        let begin = (first >> coarser).min(origin / width);
        let end = ((first + buckets - 1) >> coarser) + 1;
        let mut tiles = PageTiles {
            buckets: end - begin,
            from: (begin * width) as i64 - origin as i64,
            width,
            ..PageTiles::default()
        };
        for (place, thread) in self.threads.threads.iter().enumerate() {
            let Some(row) = grid.row(thread.tid) else { continue };
            let states = ALL_STATES.map(|state| self.state(thread.tid, state) as usize);
            let mut sums = [0u64; PageState::COUNT];
            let mut last = None;
            let mut give = |bucket: Option<u64>, sums: &mut [u64; PageState::COUNT]| {
                let Some(bucket) = bucket else { return };
                for (state, ns) in sums.iter_mut().enumerate().filter(|(_, ns)| **ns > 0) {
                    tiles.thread.push(place as u32);
                    tiles.bucket.push((bucket - begin) as u32);
                    tiles.state.push(state as u8);
                    tiles.ns.push(std::mem::take(ns));
                }
            };
            for (number, cell) in row.cells() {
                let bucket = number >> coarser;
                if last.is_some_and(|last| last != bucket) {
                    give(last, &mut sums);
                }
                last = Some(bucket);
                for (state, ns) in states.iter().zip(cell) {
                    sums[*state] = sums[*state].saturating_add(*ns);
                }
            }
            give(last, &mut sums);
        }
        tiles
    }

    /// Calls one by one, and where findings show.
    fn slices(
        &self,
        origin: u64,
        plan: &Plan,
        texts: &mut Texts,
        left_out: &mut Vec<String>,
    ) -> (PageSlices, Vec<PageMark>) {
        let kept = &self.read.time.calls;
        let evidence = evidence_of(self.diagnosis);
        let mut marks = Vec::new();
        let mut chosen: Vec<(bool, u32, &KeptCall)> = Vec::new();
        for call in kept.calls() {
            let Some(place) = self.threads.place(call.tid) else { continue };
            let findings =
                if evidence.is_empty() { None } else { evidence.get(&place_of(&self.read.facts, call)) };
            for finding in findings.into_iter().flatten() {
                let from = call.from as i64 - origin as i64;
                let to = from.saturating_add_unsigned(call.took.unwrap_or(0));
                marks.push(PageMark { finding: *finding, thread: Some(place), from, to });
            }
            chosen.push((findings.is_some(), place, call));
        }
        chosen
            .sort_by_key(|(is_evidence, _, call)| (!is_evidence, Reverse(call.worth()), call.from, call.tid));
        chosen.truncate(plan.slices);
        let mut chosen: Vec<_> =
            chosen.into_iter().enumerate().map(|(rank, (_, place, call))| (rank, place, call)).collect();
        chosen.sort_by_key(|(rank, _, call)| (call.from, call.tid, *rank));
        let (all, failed) = kept.seen();
        let missing = all.saturating_sub(chosen.len() as u64);
        if missing > 0 {
            let kept_failed = chosen.iter().filter(|(_, _, call)| call.errno.is_error()).count() as u64;
            let errors = match failed.saturating_sub(kept_failed) {
                0 => String::new(),
                errors => format!(", {} of them failed", figure(errors)),
            };
            left_out.push(format!(
                "{} of {} calls one by one, the shortest ones{errors}; their time is in the tiles",
                figure(missing),
                figure(all)
            ));
        }
        let mut slices = PageSlices::default();
        let mut last = 0;
        for (rank, place, call) in chosen {
            let start = call.from as i64 - origin as i64;
            slices.thread.push(place);
            slices.start.push(start - last);
            slices.took.push(call.took);
            slices.state.push(self.state(call.tid, call.state) as u8);
            slices.call.push(texts.id(kept.text(call.name)));
            slices.object.push(call.object.map(|object| texts.id(self.names.last(kept.text(object)))));
            slices.error.push(call.errno.is_error().then(|| texts.id(call.errno.name())));
            slices.site.push(self.site(call).map(|site| texts.id(&site)));
            let line = || texts.line(&String::from_utf8_lossy(&call.raw));
            slices.line.push((rank < plan.lines && !call.raw.is_empty()).then(line));
            if let Some(source) = self.read.facts.capture.source(call.source)
                && source.kind != CaptureKind::Recording
            {
                slices.file.push(texts.id(&source.name));
                slices.row.push(call.line);
            }
            last = start;
        }
        let without = slices.line.iter().filter(|line| line.is_none()).count();
        if without > 0 {
            left_out.push(format!(
                "the lines of {} of the {} calls that are kept one by one",
                figure(without as u64),
                figure(slices.line.len() as u64)
            ));
        }
        // Of a recording beside a capture lines have no numbers: a column is of all calls, or is not there.
        if slices.row.len() != slices.line.len() {
            slices.file.clear();
            slices.row.clear();
        }
        marks.sort_by_key(|mark| (mark.finding, mark.from));
        (slices, marks)
    }

    /// The line of the program's own code from which a call slept.
    fn site(&self, call: &KeptCall) -> Option<String> {
        let sleeps = &self.read.sleeps;
        let end = call.from.saturating_add(call.took?);
        let at = sleeps.partition_point(|sleep| (sleep.tid, sleep.at) < (call.tid, call.from));
        let sleep = sleeps.get(at).filter(|sleep| sleep.tid == call.tid && sleep.at <= end)?;
        let facts = &self.read.facts;
        let own = facts.samples.site_of(sleep.stack);
        let site = own.or_else(|| facts.followed.apart()?.samples.site_of(sleep.stack))?;
        Some(site.listed())
    }

    fn wakes(&self, origin: u64, most: usize, left_out: &mut Vec<String>) -> PageWakes {
        let kept = &self.read.time.wakes;
        let mut wakes = PageWakes::default();
        let mut last = 0;
        for wake in kept.most(most) {
            let places = (self.threads.place(wake.from), self.threads.place(wake.to));
            let (Some(from), Some(to)) = places else { continue };
            let at = wake.at as i64 - origin as i64;
            wakes.from.push(from);
            wakes.to.push(to);
            wakes.at.push(at - last);
            last = at;
        }
        let missing = kept.seen().saturating_sub(wakes.at.len() as u64);
        if missing > 0 {
            left_out.push(format!(
                "{} of {} wake-ups, those that ended the shortest waits",
                figure(missing),
                figure(kept.seen())
            ));
        }
        wakes
    }
}

/// The places that findings name as evidence, with the findings' numbers.
fn evidence_of(diagnosis: &Diagnosis) -> HashMap<String, Vec<usize>> {
    let mut all: HashMap<String, Vec<usize>> = HashMap::new();
    for (number, finding) in diagnosis.findings.iter().enumerate() {
        let chain = finding.chain.iter().map(|link| &link.evidence);
        for source in finding.evidence.iter().map(|line| &line.source).chain(chain) {
            // Of a call in two halves both lines are named.
            let is_recorded = source.starts_with("recording ");
            let first =
                source.rsplit_once(',').filter(|_| !is_recorded).map_or(&**source, |(first, _)| first);
            let findings = all.entry(first.to_string()).or_default();
            if findings.last() != Some(&number) {
                findings.push(number);
            }
        }
    }
    all
}

/// Where a call stands, as evidence names it.
fn place_of(facts: &Facts, call: &KeptCall) -> String {
    match facts.capture.source(call.source) {
        Some(source) if source.kind == CaptureKind::Recording => {
            format!("recording {}, {}", source.name, Timestamp::new(call.from).time_of_day())
        }
        Some(source) => format!("{}:{}", source.name, call.line),
        None => String::new(),
    }
}

/// A number as people read it.
pub(crate) fn figure(number: u64) -> String {
    whyslow_model::figures::count(number)
}
