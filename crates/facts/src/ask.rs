//! Questions about all facts together: what the capture can show, and how its evidence is quoted.

use crate::folds::answers::Answers;
use crate::world::ids::FileId;
use crate::{Exemplar, Facts, SchedTime};
use whyslow_model::syscall::Class;
use whyslow_model::{CaptureKind, Evidence, Nanos, SampleKind, Syscall, Timestamp};

/// Calls missing from a capture, from which share on that is told and caps confidence (guard 5).
pub const LOST_SHARE: f64 = 0.01;

impl Facts {
    /// Time between the calls of threads that had read `file` and did nothing else yet, without what a tracer added to them: at
    /// least so much. Where the kernel added up most of the calls on the file, nothing of it was seen.
    pub fn work_on_content(&self, file: FileId) -> Nanos {
        let facts = self.world.files.get(file);
        if facts.counted.sum().calls() > facts.calls() {
            return Nanos::ZERO;
        }
        self.readings.spent_on(file, &self.pace)
    }

    /// What taking the answers of a server took, decoding included, without what a tracer added between the calls: at least so much.
    pub fn time_for_answers(&self, answers: &Answers) -> Nanos {
        let added = self.pace.added_between(answers.times).or_zero();
        Nanos::new(answers.taking_ns.saturating_sub(added))
    }

    /// True where a recorder wrote that table, though perhaps no row of it.
    pub fn has_table(&self, table: &str) -> bool {
        self.recording.lost_of(table).is_some()
            || match table {
                "net" => self.net.events > 0,
                "parked" => self.parked.is_known(),
                "block_io" => !self.devices.iter().is_empty(),
                "files" => self.world.files.sums > 0,
                "samples" => !self.samples.is_empty(SampleKind::OnCpu),
                "offcpu" => !self.samples.is_empty(SampleKind::OffCpu),
                "process_stats" => self.world.threads.iter().any(|(_, thread)| thread.totals.is_some()),
                _ => false,
            }
    }

    /// A moment of the recording, as the source of evidence.
    pub fn recording_at(&self, ts: Timestamp) -> String {
        let source = self.capture.sources.iter().find(|source| source.kind == CaptureKind::Recording);
        let name = source.map_or("?", |source| source.name.as_str());
        match ts.is_known() {
            true => format!("recording {name}, {}", ts.time_of_day()),
            false => format!("recording {name}"),
        }
    }

    /// Where a thread's time went by the scheduler's account, in a line.
    pub fn account(&self, time: &SchedTime) -> String {
        let part = |ns: u64| Nanos::new(ns);
        let queue = match time.run_queue.count() {
            0 => String::new(),
            _ => format!(
                "; waits for a CPU: half {} and less, 99 % {} and less",
                time.run_queue.percentile(0.5),
                time.run_queue.percentile(0.99)
            ),
        };
        let throttled = match time.throttled_ns {
            0 => String::new(),
            ns => format!(" (by its CPU quota {})", part(ns)),
        };
        format!(
            "on CPU {}, runnable {}{throttled}, blocked {} (uninterruptible {}){queue}",
            part(time.on_cpu_ns),
            part(time.runnable_ns),
            part(time.blocked_ns),
            part(time.uninterruptible_ns)
        )
    }

    /// True where the capture seems to be filtered (`-e`) so that it cannot show any of `names`: a capture that
    /// shows only calls of one kind hides the others; one of many kinds hides none.
    pub fn hides(&self, names: &[&str]) -> bool {
        let seen = self.syscalls();
        if seen.iter().any(|(name, _)| names.contains(&name.as_str())) {
            return false;
        }
        self.seems_filtered()
    }

    /// As [`Facts::hides`], for a class of calls.
    pub fn hides_class(&self, class: Class) -> bool {
        let shows =
            self.world.threads.iter().any(|(_, thread)| {
                thread.by_syscall.iter().any(|(syscall, _)| syscall.info().class == class)
            });
        let stands_for = class == Class::Network && self.is_exchange();
        !shows && !stands_for && self.seems_filtered()
    }

    /// True where the capture has many calls of very few kinds, as a filter (`-e`) leaves them. A short capture
    /// of few kinds may be a filter's or a loop's: then it counts as filtered unless it shows several classes.
    /// A recording hides nothing: it says itself what it did not write down.
    pub fn seems_filtered(&self) -> bool {
        if self.capture.is_recording() {
            return false;
        }
        let mut classes: Vec<Class> = Vec::new();
        let mut kinds = 0;
        for (_, thread) in self.world.threads.iter() {
            for (syscall, _) in thread.by_syscall.iter() {
                kinds += 1;
                let class = syscall.info().class;
                if !classes.contains(&class) {
                    classes.push(class);
                }
            }
        }
        self.world.calls > 0 && (classes.len() <= 1 && kinds <= 4 || kinds <= 1)
    }

    /// True where what is seen is whole by itself: reads and writes that take turns on a stream. A loop of them makes no other calls, and
    /// no filter lets both halves of it through and hides more that belongs to it.
    pub fn is_exchange(&self) -> bool {
        /// Fewer calls of each are a fragment.
        const ENOUGH: u64 = 20;
        let takes_turns = |life: &crate::FdLife| {
            let of = |io: &Option<Box<crate::io::IoStats>>| io.as_ref().map_or(0, |io| io.calls.count);
            life.kind.is_socket() && of(&life.reads).min(of(&life.writes)) >= ENOUGH
        };
        self.world.fds.iter().any(|(_, life)| takes_turns(life))
    }

    /// True where at least some descriptors in use are known.
    pub fn knows_descriptors(&self) -> bool {
        self.world.snapshot_rows > 0
            || self
                .world
                .fds
                .iter()
                .any(|(_, life)| life.kind != whyslow_model::FdKind::Unknown && life.io_calls() > 0)
    }

    /// Events known to be lost: damaged lines and calls of which half is missing; of a recording, what its recorder
    /// lost of all tables. A call that was under way when a recording began is not lost.
    pub fn lost_events(&self) -> u64 {
        match self.capture.is_recording() {
            true => self.recording.lost(),
            false => self.lost_calls(),
        }
    }

    /// Calls known to be lost.
    pub fn lost_calls(&self) -> u64 {
        match self.capture.is_recording() {
            true => self.recording.lost_of("syscalls").map_or(0, |(lost, _)| lost),
            false => self.capture.rejects().saturating_add(self.capture.starts_not_seen),
        }
    }

    /// Share of the calls that is missing from the capture, where that is more than [`LOST_SHARE`].
    pub fn missing_calls(&self) -> Option<f64> {
        let (lost, all) = match self.capture.is_recording() {
            // A recorder says itself how many calls there were.
            true => self.recording.lost_of("syscalls")?,
            // One call a thread is under way as a trace begins.
            false => {
                let threads = self.world.threads.iter().count() as u64;
                let lost = self
                    .capture
                    .rejects()
                    .saturating_add(self.capture.starts_not_seen)
                    .saturating_sub(threads);
                (lost, self.total_calls() + lost)
            }
        };
        let share = lost as f64 / all.max(1) as f64;
        (all > lost && share > LOST_SHARE).then_some(share)
    }

    /// A line as evidence, with where it stands.
    pub fn evidence(&self, exemplar: &Exemplar) -> Evidence {
        exemplar.evidence(self.capture.source(exemplar.source))
    }

    /// The name of a syscall.
    pub fn name_of(&self, syscall: Syscall) -> &str {
        self.world.names.name(syscall)
    }
}
