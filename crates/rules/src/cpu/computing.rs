//! Programs that compute: from when on they do, and what a profile file by itself tells of it.

use super::hot::HOT;
use crate::engine::Findings;
use crate::gate::gated;
use crate::guards::Share;
use whyslow_facts::{Facts, ProfileFacts};
use whyslow_model::{Measurement, Nanos, Severity, Subject};
use whyslow_profile::kinds::{CostKind, kinds_line, short};

/// On a CPU, or runnable and without one, for at least this part of its life. What comes at random to a server that is busy so long
/// waits four times as long as it is worked on (M/M/1: 1 / (1 - 0.8) - 1).
pub(super) const BUSY: f64 = 0.80;
/// In its own code for at least this part of the time in which it did not wait for a CPU: less is a matter of the calls it makes.
pub(super) const OWN_CODE: f64 = 0.50;
/// A shorter look at a thread may be a burst. A second is what a user notices as a pause (Miller 1968; Nielsen 1993).
pub(super) const SHORTEST: Nanos = Nanos::from_secs(1);
/// Fewer samples are no profile.
pub(super) const MIN_SAMPLES: u64 = 50;
/// Frames shown of a stack.
pub(super) const FRAMES: usize = 8;

/// A profile file: how many CPUs were kept busy, and by which function.
#[gated]
pub(super) fn check_file(facts: &Facts, out: &mut Findings<'_>, profile: &ProfileFacts) {
    let step = &profile.step;
    let (account, long) = (&step.account, step.seconds >= SHORTEST.as_secs_f64());
    let (thread, all) = (step.busiest_cpus(), step.cpus());
    let Some(busy) = thread.or(all).filter(|busy| *busy >= BUSY && long) else { return };
    if step.samples.is_some_and(|samples| samples < MIN_SAMPLES)
        || account.share(CostKind::SystemCall) + account.share(CostKind::Idle) > 1.0 - OWN_CODE
    {
        return;
    }
    // Of many threads the profile's function may be another one's.
    let is_most = thread.zip(all).is_none_or(|(thread, all)| thread >= 0.5 * all);
    let hot = account.holders.first().filter(|holder| is_most && account.part(holder.value) >= HOT);
    let who = facts.profiled(profile);
    let hot_part = hot.map(|hot| of_samples(account.part(hot.value)));
    let path = hot
        .zip(hot_part.as_ref())
        .map_or(String::new(), |(hot, part)| format!(": {} takes {part} of that", short(&hot.function)));
    let busy_figure = match thread {
        Some(_) => Measurement::share("share_of_time", busy.min(1.0)),
        None => Measurement::seconds_per_second("cpus_used", busy),
    };
    let busy_figure = busy_figure.at_least(BUSY);
    let (title, whole) = match thread {
        Some(_) => {
            (format!("{who}: a thread computes {busy_figure} of the time{path}"), "the time of a thread")
        }
        None => (format!("{who}: the program keeps {busy_figure} CPUs busy{path}"), "the time of a CPU"),
    };
    let threads = match thread {
        Some(_) => "It waits for nothing, and one thread has no more than one CPU.",
        None => "Whether one thread is never idle, or several take turns, is not in the profile.",
    };
    let most = if thread.is_some() && hot.is_some() { Severity::Warning } else { Severity::Notice };
    let mut found = out
        .report(Share::of_time(busy.min(1.0), format!("{whole} in {who}")), title)
        .at_most(most)
        .measured(busy_figure)
        .measured_all(hot_part)
        .measured_all(step.samples.map(samples_seen))
        .subject(Subject { function: hot.map(|hot| hot.function.clone()), ..Subject::default() })
        .cause(format!("{threads} {}", kinds_line(account, &step.measured)))
        .fix(match hot {
            Some(hot) => less_of(&hot.function),
            None => {
                "no function stands out: see whyslow profile FILE tree for what is common to many".to_string()
            }
        })
        .fix("share the work among threads or processes, if it can be divided")
        .verify("whyslow diff before.pprof after.pprof --per requests=N,M   (the cost of a request falls)");
    if let Some(hot) = hot {
        let path: Vec<String> = [&hot.function]
            .into_iter()
            .chain(hot.callers.iter().rev())
            .take(FRAMES)
            .map(|name| short(name))
            .collect();
        found = found.evidence_line(
            facts.profile_source(profile),
            format!(
                "{} of {} in {}",
                step.measured.value(hot.value),
                step.measured.value(account.total),
                path.join(" < ")
            ),
        );
    }
    found.file();
}

/// A hot path's part of the samples.
pub(super) fn of_samples(part: f64) -> Measurement {
    Measurement::share("share_of_samples", part).at_least(HOT)
}

pub(super) fn samples_seen(samples: u64) -> Measurement {
    Measurement::count("samples", samples).at_least(MIN_SAMPLES as f64)
}

/// What to do about a hot function.
pub(super) fn less_of(function: &str) -> String {
    format!(
        "look at {function} and its callers: do it less often (cache the result, keep an index, leave the loop earlier) or with a better algorithm"
    )
}
