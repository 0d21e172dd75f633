//! The threads of one process, where it did something.

use crate::context::Context;
use crate::files::{open_dir, open_file};
use crate::out::Row;
use hashbrown::HashMap;
use rustix::io::Errno;
use std::fs::File;
use whyslow_counters::Span;
use whyslow_counters::tasks::{Schedule, Stat, TaskStatus};
use whyslow_model::text::bounded;
use whyslow_model::{Entity, Metric, Trait};

/// One thread as it was seen last.
struct Thread {
    stat: Stat,
    status: TaskStatus,
    schedule: Option<Schedule>,
    /// Kept open while there is room: it tells for little whether the thread ran.
    file: Option<File>,
    /// Seconds since boot when it was read in full.
    at: f64,
    /// The look at which it was there.
    seen: u64,
}

/// The threads of one process.
#[derive(Default)]
pub(super) struct Threads {
    known: HashMap<u32, Thread>,
}

/// What the threads of a process come to, where all were known before.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Sums {
    /// Seconds a second.
    pub(super) run_delay: Option<f64>,
    /// A second.
    pub(super) voluntary: Option<f64>,
    pub(super) involuntary: Option<f64>,
}

/// Files of threads kept open at most, over all processes.
pub(super) struct Room {
    pub(super) left: usize,
}

impl Threads {
    /// Files that are kept open.
    pub(super) fn kept(&self) -> usize {
        self.known.values().filter(|thread| thread.file.is_some()).count()
    }

    /// Looks at all of them, and tells of those that did something or wait for a disk.
    pub(super) fn look(
        &mut self,
        pid: u32,
        look: u64,
        numbers: &mut Vec<u32>,
        room: &mut Room,
        context: &mut Context<'_>,
        rows: &mut Vec<Row>,
    ) -> Result<Sums, Errno> {
        let dir = open_dir(context.reader.proc_dir(), format!("{pid}/task"))?;
        context.reader.numbers(&dir, numbers)?;
        let mut sums = Sums { run_delay: Some(0.0), voluntary: Some(0.0), involuntary: Some(0.0) };
        for &tid in numbers.iter() {
            if let Some(thread) = self.known.get_mut(&tid) {
                thread.seen = look;
                let now =
                    thread.file.as_ref().and_then(|file| Schedule::parse(context.reader.kept(file).ok()?));
                // It has not run since: nothing of it changed, but for the kind of its sleep.
                if now.is_some() && now == thread.schedule && thread.stat.state == b'S' {
                    continue;
                }
            }
            // It ended meanwhile: what it did is in the process's own figures.
            if self.one(pid, tid, look, &dir, room, context, rows, &mut sums).is_none() {
                self.known.remove(&tid);
            }
        }
        self.known.retain(|_, thread| thread.seen == look);
        Ok(sums)
    }

    #[expect(clippy::too_many_arguments, reason = "one step of the loop above")]
    fn one(
        &mut self,
        pid: u32,
        tid: u32,
        look: u64,
        dir: &std::os::fd::OwnedFd,
        room: &mut Room,
        context: &mut Context<'_>,
        rows: &mut Vec<Row>,
        sums: &mut Sums,
    ) -> Option<()> {
        let text = context.reader.at(dir, format!("{tid}/stat")).ok()?;
        let (name, stat) = Stat::parse(text)?;
        let name = bounded(name);
        let status =
            context.reader.at(dir, format!("{tid}/status")).map(TaskStatus::parse).unwrap_or_default();
        // A number that was given again is another thread.
        let before = self.known.remove(&tid).filter(|before| before.stat.start == stat.start);
        let mut file = before.as_ref().and_then(|before| before.file.as_ref()?.try_clone().ok());
        if file.is_none() && room.left > 0 {
            file = open_file(dir, format!("{tid}/schedstat")).ok();
            room.left -= usize::from(file.is_some());
        }
        let schedule = match &file {
            Some(file) => context.reader.kept(file).ok().and_then(Schedule::parse),
            None => context.reader.at(dir, format!("{tid}/schedstat")).ok().and_then(Schedule::parse),
        };
        let now = Thread { stat, status, schedule, file, at: context.uptime, seen: look };
        if let Some((span, before)) =
            super::span_of(context, stat.start, before.as_ref().map(|before| before.at)).zip(Some(before))
        {
            let mut row = Row::new(Entity::Thread { pid, tid });
            row.say(Trait::Name, name);
            row.say(Trait::State, super::letter(stat.state));
            tell(&mut row, &span, context.ticks, &now, before.as_ref(), sums);
            super::affinity(&mut row, &now.status);
            if matches!(stat.state, b'D')
                && let Ok(text) = context.reader.at(dir, format!("{tid}/wchan"))
                && text != b"0"
            {
                row.say(Trait::Wchan, bounded(text));
            }
            rows.push(row);
        } else {
            *sums = Sums::default();
        }
        self.known.insert(tid, now);
        Some(())
    }
}

fn tell(row: &mut Row, span: &Span, ticks: f64, now: &Thread, before: Option<&Thread>, sums: &mut Sums) {
    let time = |now: u64, before: Option<u64>| span.rate(Some(now), before).map(|rate| rate / ticks);
    row.rate(Metric::TaskUser, time(now.stat.user, before.map(|before| before.stat.user)));
    row.rate(Metric::TaskSystem, time(now.stat.system, before.map(|before| before.stat.system)));
    row.rate(Metric::MinorFaults, span.rate(Some(now.stat.minor), before.map(|before| before.stat.minor)));
    row.rate(Metric::MajorFaults, span.rate(Some(now.stat.major), before.map(|before| before.stat.major)));
    let was = before.and_then(|before| before.schedule);
    let delay = span.rate(now.schedule.map(|now| now.waited), was.map(|was| was.waited)).map(|ns| ns / 1e9);
    let voluntary = span.rate(now.status.voluntary, before.and_then(|before| before.status.voluntary));
    let involuntary = span.rate(now.status.involuntary, before.and_then(|before| before.status.involuntary));
    for (metric, value, sum) in [
        (Metric::RunDelay, delay, &mut sums.run_delay),
        (Metric::VoluntarySwitches, voluntary, &mut sums.voluntary),
        (Metric::InvoluntarySwitches, involuntary, &mut sums.involuntary),
    ] {
        row.rate(metric, value);
        *sum = sum.zip(value).map(|(sum, value)| sum + value);
    }
}
