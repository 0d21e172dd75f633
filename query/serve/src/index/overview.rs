//! The page of a recording before its diagnosis is there: threads, tiles by the kind of call, the longest calls, calls by name.

use super::Index;
use super::kinds::BETWEEN;
use serde_json::{Value, json};
use std::cmp::Reverse;
use whyslow_privacy::redact;

/// Threads of it: the busiest.
const MOST_THREADS: usize = 500;
/// Tiles of it, at most about so many.
const MOST_TILES: usize = 50_000;
/// Long calls of it.
const MOST_SLICES: usize = 5_000;

impl Index {
    /// The data as the page reads it, named `name`: without findings, requests, waits and stacks, which are not known yet.
    pub(crate) fn overview(&self, name: &str) -> Value {
        let known = self.known();
        let mut order: Vec<usize> =
            (0..known.threads.len()).filter(|at| known.threads[*at].calls > 0).collect();
        order.sort_by_key(|at| (Reverse(known.threads[*at].calls), known.threads[*at].tid));
        let without = order.len().saturating_sub(MOST_THREADS);
        order.truncate(MOST_THREADS);
        let end =
            order.iter().map(|at| known.threads[*at].last).max().unwrap_or(self.end).max(self.origin + 1);
        let length = if self.is_finished() { end } else { self.end } - self.origin;
        let mut texts = super::Names::default();
        let mut text = |text: &str| texts.place(&redact(text), usize::MAX).unwrap_or(0);
        let process = |at: usize| {
            let pid = known.threads[at].pid?;
            let place = known.places.get(&pid)?;
            known.threads[*place as usize].name.clone()
        };
        let threads: Vec<Value> = order
            .iter()
            .map(|at| {
                let thread = &known.threads[*at];
                let pid = thread.pid.unwrap_or(thread.tid);
                let own = thread.name.clone().or_else(|| process(*at));
                json!({
                    "pid": pid,
                    "tid": thread.tid,
                    "name": text(&own.unwrap_or_else(|| format!("thread {}", thread.tid))),
                    "process": text(&process(*at).unwrap_or_else(|| format!("process {pid}"))),
                    "role": null,
                    "target": true,
                    "from": thread.first - self.origin,
                    "to": thread.last - self.origin,
                })
            })
            .collect();
        // Tiles: as many parts as there is room for.
        let width = known.tiles.width();
        let whole = known.tiles.bucket(self.origin + length - 1) + 1;
        let room = (MOST_TILES / (3 * order.len().max(1))).clamp(40, 1_000);
        let group = whole.div_ceil(room).max(1);
        let buckets = whole.div_ceil(group);
        let [mut thread, mut bucket, mut state, mut ns]: [Vec<u64>; 4] = Default::default();
        for (place, at) in order.iter().enumerate() {
            let row = known.tiles.sums(*at as u32, 0, group, buckets);
            let life = &known.threads[*at];
            for (part, sums) in row.iter().enumerate() {
                let from = self.origin + (part * group) as i64 * width;
                let to = from + group as i64 * width;
                let lived = life.last.min(to).saturating_sub(life.first.max(from)).max(0) as u64;
                let rest = lived.saturating_sub(sums.iter().sum());
                let told = sums.iter().enumerate().map(|(state, ns)| (state as u64, *ns));
                for (of, spent) in told.chain([(u64::from(BETWEEN), rest)]).filter(|(_, ns)| *ns > 0) {
                    thread.push(place as u64);
                    bucket.push(part as u64);
                    state.push(of);
                    ns.push(spent);
                }
            }
        }
        let places: std::collections::HashMap<u32, usize> =
            order.iter().enumerate().map(|(place, at)| (*at as u32, place)).collect();
        let mut longs: Vec<_> = known.longs.iter().filter(|long| places.contains_key(&long.thread)).collect();
        longs.sort_unstable_by_key(|long| {
            (Reverse(if long.took < 0 { i64::MAX } else { long.took }), long.seq)
        });
        longs.truncate(MOST_SLICES);
        longs.sort_unstable_by_key(|long| (long.start, long.seq));
        let mut before = 0;
        let starts: Vec<i64> = longs
            .iter()
            .map(|long| {
                let start = long.start - self.origin;
                let step = start - before;
                before = start;
                step
            })
            .collect();
        let calls: Vec<u32> = longs.iter().map(|long| text(known.names.text(long.call))).collect();
        let objects: Vec<Option<u32>> =
            longs.iter().map(|long| long.object.map(|at| text(known.names.text(at)))).collect();
        let errors: Vec<Option<u32>> =
            longs.iter().map(|long| long.error.map(|at| text(known.names.text(at)))).collect();
        let none: Vec<Option<u32>> = vec![None; longs.len()];
        let took: Vec<Option<i64>> = longs.iter().map(|long| (long.took >= 0).then_some(long.took)).collect();
        let mut kinds: Vec<_> = known.kinds.iter().enumerate().filter(|(_, kind)| kind.count > 0).collect();
        kinds.sort_by_key(|(_, kind)| Reverse(kind.ns));
        let rows: Vec<Value> = kinds
            .iter()
            .take(300)
            .map(|(at, kind)| {
                let mean = kind.ns as f64 / kind.count as f64;
                json!([
                    known.names.text(*at as u32),
                    kind.count,
                    kind.ns,
                    mean.round(),
                    kind.longest,
                    kind.failed
                ])
            })
            .collect();
        let column = |name: &str, kind: &str| json!({ "name": name, "kind": kind });
        let mut left_out =
            vec!["findings, the account, waits, requests and stacks: they are not known yet".to_string()];
        if !self.is_finished() {
            left_out.push(format!("what was not read yet: {:.0} % was read", self.progress() * 100.0));
        }
        if without > 0 {
            left_out.push(format!("{without} threads, those with the fewest calls"));
        }
        if known.without_time > 0 {
            left_out.push(format!("{} calls of which no time is known", known.without_time));
        }
        left_out.extend(known.damaged.iter().map(|reason| format!("a damaged part: {reason}")));
        json!({
            "schema": 1,
            "made_by": format!("whyslow {}", env!("CARGO_PKG_VERSION")),
            "diff": null,
            "runs": [{
                "name": redact(name),
                "kind": "recording",
                "length": length,
                "started": null,
                "origin": self.origin.to_string(),
                "diagnosis": null,
                "threads": threads,
                "timeline": {
                    "tiles": {
                        "buckets": buckets, "from": 0, "width": group as i64 * width,
                        "thread": thread, "bucket": bucket, "state": state, "ns": ns,
                    },
                    "slices": {
                        "thread": longs.iter().map(|long| places[&long.thread]).collect::<Vec<_>>(),
                        "start": starts,
                        "took": took,
                        "state": longs.iter().map(|long| long.state).collect::<Vec<_>>(),
                        "call": calls, "object": objects, "error": errors, "site": none, "line": none,
                    },
                    "wakes": { "from": [], "to": [], "at": [] },
                    "marks": [],
                },
                "requests": null,
                "waits": [],
                "stacks": null,
                "tables": [{
                    "id": "calls-by-name",
                    "title": "Which calls take the time?",
                    "columns": [
                        column("call", "text"), column("count", "count"), column("time", "ns"), column("mean", "ns"),
                        column("longest", "ns"), column("failed", "count"),
                    ],
                    "rows": rows,
                    "left_out": kinds.len().saturating_sub(300),
                }],
                "host": [],
                "left_out": left_out,
                "texts": texts.texts,
            }],
        })
    }

    /// Calls that were read so far.
    pub(crate) fn rows(&self) -> u64 {
        self.known().rows
    }

    /// How long the recording is, as far as it is known, ns.
    pub(crate) fn length(&self) -> i64 {
        self.end - self.origin
    }

    /// Its folder.
    pub(crate) fn dir(&self) -> &std::path::Path {
        &self.dir
    }
}
