//! Profiles of running programs: our own samples of whom the arguments name, as a profile.

mod missing;

use super::args::LiveArgs;
use super::capture_args::CaptureArgs;
use super::record;
use super::runtime::Runtime;
use crate::global::Global;
use crate::output::say;
use crate::status::Status;
use std::time::{Duration, Instant};
use whyslow_model::{Event, Profile, Sink};
use whyslow_profile::Sampled;
use whyslow_record::target::{self, ProcRoot, Selection};

/// Samples of longer profiles are taken out of the spool while it grows.
const FOLLOW_FROM: Duration = Duration::from_secs(60);

/// Samples what `args` ask for, and says what is missing in the names of its code and how to get it.
///
/// # Errors
/// Where the target is not there, nothing can be recorded, or there was nothing to see.
pub(crate) fn sample(args: &CaptureArgs, global: &Global) -> anyhow::Result<(Profile, Status)> {
    let live = LiveArgs::for_profile(args.clone());
    let mut sampled = Sampled::new(args.kind());
    let follows = args.length().is_none_or(|length| length > FOLLOW_FROM);
    let ended = record(&live, None, if follows { Some(&mut sampled) } else { None }, global)?;
    if !follows {
        ended.replay(&mut sampled)?;
    }
    ended.last.tell(&mut sampled);
    if sampled.samples() == 0 {
        anyhow::bail!(
            "{}: {}",
            ended.target,
            if args.off_cpu {
                "it waited for nothing\nnext: without --off-cpu it shows what it computes"
            } else {
                "nothing of it was on a CPU\nnext: --off-cpu shows what it waits for"
            }
        );
    }
    let profile = sampled.finish()?;
    for remark in missing::in_names(&profile, &ended.last.runtimes, args) {
        say!("whyslow: {}", crate::output::plain(&remark));
    }
    Ok((profile, ended.status()))
}

/// What a profile wants to know of its processes, as they were when they were looked at last: a thread is named after it
/// began, and a runtime shows when it is loaded.
#[derive(Default)]
pub(super) struct Look {
    names: Vec<Event<'static>>,
    runtimes: Vec<Runtime>,
    at: Option<Instant>,
}

/// Between two looks.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// When to look first: a command is not there at once.
const FIRST_LOOK: Duration = Duration::from_millis(200);
/// Processes that are looked at, and of which it is asked what runtime they have.
const MAX_PROCESSES: usize = 1024;
const MAX_RUNTIMES: usize = 64;

impl Look {
    /// Looks now and then, so that it is known of a process that ends.
    pub(super) fn now_and_then(&mut self, pids: &[u32]) {
        let at = *self.at.get_or_insert_with(|| Instant::now() + FIRST_LOOK - LOOK_EVERY);
        if at.elapsed() >= LOOK_EVERY {
            self.look(pids);
        }
    }

    /// Looks, with the names of a JVM's code where `args` ask for them.
    pub(super) fn at_end(&mut self, pids: &[u32], args: &CaptureArgs) {
        self.look(pids);
        for runtime in self.runtimes.iter_mut().filter(|_| args.jvm_names) {
            runtime.ask_for_names();
        }
    }

    fn look(&mut self, pids: &[u32]) {
        let root = ProcRoot::live();
        let selection = Selection { pids: pids.to_vec(), children: true, ..Selection::default() };
        self.at = Some(Instant::now());
        // Where they have ended, what was seen before stays.
        let Ok(found) = selection.resolve(&root) else { return };
        let mut pids = found.pids();
        pids.truncate(MAX_PROCESSES);
        let mut names = Vec::new();
        target::processes(&pids, &root, &mut |event: Event<'_>| {
            if let Event::Process(info) = event {
                names.push(Event::Process(info));
            }
        });
        if !names.is_empty() {
            self.names = names;
            self.runtimes = pids.iter().take(MAX_RUNTIMES).filter_map(|pid| Runtime::of(*pid)).collect();
        }
    }

    /// Tells the names.
    fn tell(&self, sink: &mut dyn Sink) {
        for event in &self.names {
            sink.push(event.clone());
        }
    }
}
