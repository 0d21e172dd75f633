//! `chrome`: the JSON of trace events (Trace Event Format) that chrome://tracing and ui.perfetto.dev open. Calls are complete
//! events (`X`) of their thread. What the scheduler did with a thread is on a track of its own, as if it was of another thread:
//! an event can only lie within another of its thread, and waits begin within calls. Requests may overlap: they are async events
//! (`b`, `e`). Times are microseconds since the first second, with three decimals: a number of JSON that counts since 1970 would not
//! keep the nanoseconds.

use super::{ExportFormat, ExportHow};
use crate::json;
use crate::timeline::{Detail, TimelineItem, TimelineWriter, Track};
use hashbrown::HashMap;
use std::io::{self, Write};
use whyslow_facts::Facts;
use whyslow_model::Tid;

/// The format.
pub(super) static FORMAT: ExportFormat = ExportFormat {
    name: "chrome",
    about: "timeline: calls, states of threads, wake-ups, requests, disks, counters; as JSON",
    opened_by: "ui.perfetto.dev, chrome://tracing",
    is_binary: false,
    escapes: true,
    how: ExportHow::Timeline(|out| {
        Box::new(ChromeTrace { out, origin: None, ids: 0, threads: HashMap::new(), is_begun: false })
    }),
};

/// Added to a thread's number for the track of its states: above all numbers of threads (2^22 at most).
const STATES: u64 = 1 << 30;

struct ChromeTrace<'w> {
    out: &'w mut (dyn Write + Send),
    /// The whole second of the first item, ns.
    origin: Option<u64>,
    ids: u64,
    /// The processes under which threads were told, and whether their states were.
    threads: HashMap<(Tid, Tid), bool>,
    is_begun: bool,
}

impl ChromeTrace<'_> {
    fn begin(&mut self, phase: &str, at: u64) -> io::Result<()> {
        self.out.write_all(if self.is_begun {
            b",\n"
        } else {
            b"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"
        })?;
        self.is_begun = true;
        let origin = *self.origin.get_or_insert(at - at % 1_000_000_000);
        write!(self.out, "{{\"ph\":\"{phase}\",\"ts\":")?;
        json::micros(self.out, i128::from(at) - i128::from(origin))
    }

    fn place(&mut self, item: &TimelineItem<'_>) -> io::Result<()> {
        let tid = match item.track {
            Track::Calls(tid) => u64::from(*tid),
            Track::States(tid) => u64::from(*tid) + STATES,
            Track::Requests { .. } | Track::Device(_) => 0,
        };
        write!(self.out, ",\"pid\":{},\"tid\":{tid},\"cat\":\"{}\",", item.pid, item.kind)
    }

    fn details(&mut self, details: &[(&'static str, Detail<'_>)]) -> io::Result<()> {
        self.out.write_all(b",\"args\":{")?;
        for (at, (key, value)) in details.iter().enumerate() {
            if at > 0 {
                self.out.write_all(b",")?;
            }
            match value {
                Detail::Text(text) => json::field(self.out, key, text)?,
                Detail::Number(number) => write!(self.out, "\"{key}\":{number}")?,
            }
        }
        self.out.write_all(b"}")
    }

    /// An end of an arrow. It binds to the item of its track at that time.
    fn arrow(&mut self, phase: &str, number: u64, item: &TimelineItem<'_>) -> io::Result<()> {
        self.begin(phase, item.from)?;
        self.place(item)?;
        json::field(self.out, "name", "wake-up")?;
        write!(self.out, ",\"id\":{number}{}}}", if phase == "f" { ",\"bp\":\"e\"" } else { "" })
    }

    fn metadata(&mut self, key: &str, pid: Tid, tid: u64, name: &str) -> io::Result<()> {
        let at = self.origin.unwrap_or(0);
        self.begin("M", at)?;
        write!(self.out, ",\"pid\":{pid},\"tid\":{tid},\"name\":\"{key}\",\"args\":{{")?;
        json::field(self.out, "name", name)?;
        self.out.write_all(b"}}")
    }
}

impl TimelineWriter for ChromeTrace<'_> {
    fn item(&mut self, item: &TimelineItem<'_>) -> io::Result<()> {
        if let Track::Calls(tid) | Track::States(tid) = item.track {
            *self.threads.entry((item.pid, *tid)).or_default() |= matches!(item.track, Track::States(_));
        }
        let is_async = matches!(item.track, Track::Requests { .. } | Track::Device(_));
        match item.took {
            Some(took) if is_async => {
                self.ids += 1;
                self.begin("b", item.from)?;
                self.place(item)?;
                json::field(self.out, "name", item.name)?;
                write!(self.out, ",\"id\":{}", self.ids)?;
                self.details(item.details)?;
                self.out.write_all(b"}")?;
                self.begin("e", item.from.saturating_add(took))?;
                self.place(item)?;
                json::field(self.out, "name", item.name)?;
                write!(self.out, ",\"id\":{}}}", self.ids)?;
            }
            Some(took) => {
                self.begin("X", item.from)?;
                self.out.write_all(b",\"dur\":")?;
                json::micros(self.out, took.into())?;
                self.place(item)?;
                json::field(self.out, "name", item.name)?;
                self.details(item.details)?;
                self.out.write_all(b"}")?;
            }
            None => {
                self.begin("i", item.from)?;
                self.out.write_all(b",\"s\":\"t\"")?;
                self.place(item)?;
                json::field(self.out, "name", item.name)?;
                self.details(item.details)?;
                self.out.write_all(b"}")?;
            }
        }
        if let Some(number) = item.wakes {
            self.arrow("s", number, item)?;
        }
        if let Some(number) = item.woken_by {
            self.arrow("f", number, item)?;
        }
        Ok(())
    }

    fn counter(&mut self, at: u64, name: &str, value: f64) -> io::Result<()> {
        if !value.is_finite() {
            return Ok(());
        }
        self.begin("C", at)?;
        self.out.write_all(b",\"pid\":0,\"tid\":0,")?;
        json::field(self.out, "name", name)?;
        write!(self.out, ",\"args\":{{\"value\":{value}}}}}")
    }

    fn finish(&mut self, facts: &Facts) -> io::Result<()> {
        let mut threads: Vec<_> = self.threads.iter().map(|(ids, has_states)| (*ids, *has_states)).collect();
        threads.sort_unstable();
        let mut last = None;
        for ((pid, tid), has_states) in threads {
            if last != Some(pid) {
                last = Some(pid);
                self.metadata("process_name", pid, 0, &crate::text::name_of_process(facts, pid))?;
            }
            let name = crate::text::name_of_thread(facts, tid);
            self.metadata("thread_name", pid, tid.into(), &name)?;
            if has_states {
                self.metadata("thread_name", pid, u64::from(tid) + STATES, &format!("{name}: states"))?;
            }
        }
        if !self.is_begun {
            self.out.write_all(b"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[")?;
        }
        write!(
            self.out,
            "\n],\"otherData\":{{\"written by\":\"whyslow {}\",\"ts 0 is at ns\":\"{}\"}}}}\n",
            env!("CARGO_PKG_VERSION"),
            self.origin.unwrap_or(0)
        )
    }
}
