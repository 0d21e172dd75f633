//! What the rules about kinds of cost share: which profiles are worth judging, and the finding.

use super::beside::{self, Beside};
use crate::content::Content;
use crate::engine::Findings;
use crate::gate::gated;
use crate::guards::Share;
use crate::words;
use whyslow_facts::{Facts, ProfileFacts, ProfileOrigin, SchedTime};
use whyslow_model::{SampleKind, Severity, Subject};
use whyslow_profile::kinds::{Account, CostKind, Measure, Part, Runtime, short};

/// Fewer samples are no profile.
const MIN_SAMPLES: u64 = 50;
/// A program that keeps less of one CPU busy is idle: no kind of cost is why it is slow.
const IDLE_CPUS: f64 = 0.10;
/// One that keeps less than this busy is mentioned, no more.
const BUSY_CPUS: f64 = 0.50;
/// From here on whoever waits for a program that is there to compute waits for its computing: as cpu-bound has it.
const FULL_CPUS: f64 = 0.80;

/// A function of the program with less of the kind's time does not hold it.
const HOLDS_IT: f64 = 0.25;
/// From this part of its share on that the kind has which it is a step of, it is one.
const STEP_OF: f64 = 0.50;
/// A second function with this part of the first one's is named beside it.
const SECOND: f64 = 0.60;
/// One that takes less than this part of all time for what makes the cost (taking memory) does not stand for it.
const MADE_BY: f64 = 0.05;
/// A call with less of the kernel's time does not stand for the rest.
const MOST_OF_IT: f64 = 0.50;

/// Kinds that programs call for and that have rules of their own, with the part of the CPU time from which on these tell.
const TOLD: [(CostKind, f64); 5] = [
    (CostKind::TextParsing, 0.15),
    (CostKind::Serialization, 0.20),
    (CostKind::Compression, 0.20),
    (CostKind::Crypto, 0.20),
    (CostKind::Regex, 0.20),
];

/// A kind of cost that a rule is about.
pub(super) struct Heavy {
    /// The kinds; their shares add up.
    pub(super) kinds: &'static [CostKind],
    /// Of the time that the program called for as such (true), or of the time that counts for the kind (false). What is
    /// called for as a kind that is told itself counts there alone, so that no time is told twice.
    pub(super) asked: bool,
    /// What the program called for where that makes the cost, and how the title says so: collections are of memory that was taken.
    pub(super) made_by: Option<(&'static [CostKind], &'static str)>,
    /// What it is called in the title: `garbage collection`.
    pub(super) what: &'static str,
    /// Why it is so, a sentence.
    pub(super) why: &'static str,
    /// What to change.
    pub(super) fixes: &'static [&'static str],
    /// What to change in programs of one runtime, or of none (C, C++, Rust). Where a profile shows no runtime and nothing is said of
    /// such programs, all of it.
    pub(super) of_runtime: &'static [(Option<Runtime>, &'static str)],
    /// A command that shows it with another tool.
    pub(super) verify: &'static str,
    /// What calls seen beside the profile have to do with it.
    pub(super) beside: Beside,
    /// At most this severity.
    pub(super) at_most: Severity,
    /// A kind that this one is a step of: where that has a good part of its time as well, it is a notice at most, for the rule of that kind tells.
    pub(super) step_of: Option<CostKind>,
    /// Many programs are there for just that: it is a warning only where they are known to keep a CPU busy with all they do.
    pub(super) is_often_meant: bool,
}

/// Kinds of which the wall clock shows the waits, too: they are costs on a CPU alone.
const ALSO_WAIT: [CostKind; 3] = [CostKind::Locking, CostKind::Scheduling, CostKind::SystemCall];

/// Checks all profiles of time: from `threshold`, a part of that time, on it is a finding.
#[gated]
pub(super) fn check(heavy: &Heavy, threshold: f64, facts: &Facts, out: &mut Findings<'_>) {
    check_from(heavy, |_| threshold, facts, out);
}

/// The same, where the threshold is not the same for all programs.
#[gated]
pub(super) fn check_from(
    heavy: &Heavy,
    threshold: impl Fn(&Account) -> f64,
    facts: &Facts,
    out: &mut Findings<'_>,
) {
    let waits = heavy.kinds.iter().any(|kind| ALSO_WAIT.contains(kind));
    let profiles = facts.profiles.of_time().filter(|profile| !waits || is_of_cpu(profile));
    for profile in profiles.filter(|profile| is_telling(facts, profile)) {
        let (share, threshold) = (share(heavy, profile), threshold(&profile.step.account));
        if profile.step.samples.map_or(share, |samples| at_least(share, samples)) >= threshold {
            report(heavy, facts, out, profile, share);
        }
    }
}

fn is_of_cpu(profile: &ProfileFacts) -> bool {
    profile.step.measured.measure == Measure::Cpu
}

/// The whole of a profile, in words.
fn whole(profile: &ProfileFacts) -> &'static str {
    if is_of_cpu(profile) { "the CPU time" } else { "the time sampled" }
}

/// What the share is at least, though chance chose the samples: the lower end of Wilson's interval (one-sided, 95 %).
fn at_least(share: f64, samples: u64) -> f64 {
    const Z: f64 = 1.645;
    let (n, part) = (samples.max(1) as f64, Z * Z / samples.max(1) as f64);
    let centre = share + part / 2.0;
    let spread = Z * (share * (1.0 - share) / n + part / (4.0 * n)).max(0.0).sqrt();
    (centre - spread) / (1.0 + part)
}

#[gated]
fn is_telling(facts: &Facts, profile: &ProfileFacts) -> bool {
    profile.step.samples.is_none_or(|samples| samples >= MIN_SAMPLES)
        && cpus(facts, profile).is_none_or(|cpus| cpus >= IDLE_CPUS)
}

/// CPUs that the program keeps busy; of a recording those that it would if it never had to wait for one, as others do not make it idle.
#[gated]
fn cpus(facts: &Facts, profile: &ProfileFacts) -> Option<f64> {
    let ProfileOrigin::Samples(process) = profile.origin else { return profile.step.cpus() };
    let threads = facts.world.threads.iter().filter(|(_, thread)| thread.process == process);
    let of_thread = |time: &SchedTime| {
        let had = time.covered().get()?.saturating_sub(time.runnable_ns);
        (had > 0).then(|| (time.on_cpu_ns as f64 / had as f64).min(1.0) * lived(facts, time))
    };
    let known: Vec<f64> = threads.filter_map(|(_, thread)| of_thread(thread.sched.as_deref()?)).collect();
    if known.is_empty() { profile.step.cpus() } else { Some(known.iter().sum()) }
}

/// The part of the recorded time that a thread was there.
#[gated]
fn lived(facts: &Facts, time: &SchedTime) -> f64 {
    let whole = facts.window.whole().get().filter(|whole| *whole > 0);
    match (time.covered().get(), whole) {
        (Some(covered), Some(whole)) => (covered as f64 / whole as f64).min(1.0),
        _ => 1.0,
    }
}

#[gated]
fn share(heavy: &Heavy, profile: &ProfileFacts) -> f64 {
    let account = &profile.step.account;
    let told: Vec<CostKind> = TOLD
        .into_iter()
        .filter(|(kind, part)| account.asked_share(*kind) >= *part)
        .map(|(kind, _)| kind)
        .collect();
    let of = |kind: &CostKind| match (heavy.asked, kind) {
        (true, kind) => account.asked_share(*kind),
        (false, CostKind::Allocation) => account.share_with_kernel(*kind, &told),
        (false, kind) => account.share_beside(*kind, &told),
    };
    heavy.kinds.iter().map(of).sum::<f64>().min(1.0)
}

#[gated]
fn report(heavy: &Heavy, facts: &Facts, out: &mut Findings<'_>, profile: &ProfileFacts, part: f64) {
    let who = facts.profiled(profile);
    let whole = whole(profile);
    let account = &profile.step.account;
    let of_total = |value: f64| words::percent(account.part(value));
    let (kinds, does) = heavy.made_by.unwrap_or((heavy.kinds, "most of it in"));
    let least =
        if heavy.made_by.is_some() { MADE_BY * account.total } else { HOLDS_IT * part * account.total };
    let is_its = |part: &Part| kinds.contains(&part.kind);
    let mut holds = account.holders.iter().filter(|holder| holder.of_kinds(kinds) >= least);
    let holder = match heavy.made_by {
        Some(_) => holds.max_by(|a, b| a.of_kinds(kinds).total_cmp(&b.of_kinds(kinds))),
        None => holds.next(),
    };
    let site = holder.map(|holder| holder.site(is_its));
    // Memory is taken in one function and given back in another: half of the work may be either's.
    let second = holder.filter(|_| heavy.made_by.is_none()).and_then(|first| {
        let others = account.holders.iter().filter(|other| other.function != first.function);
        let most = others.max_by(|a, b| a.of_kinds(kinds).total_cmp(&b.of_kinds(kinds)))?;
        (most.of_kinds(kinds) >= SECOND * first.of_kinds(kinds)).then(|| short(&most.function))
    });
    // Two names leave no room for their lines.
    let named = match (holder, &second) {
        (Some(first), Some(second)) => Some(format!("{} and {second}", short(&first.function))),
        _ => site.clone(),
    };
    // Compilers take memory without a call: what the program does most beside it is the likeliest.
    let busiest = account.holders.first().filter(|_| heavy.made_by.is_some() && holder.is_none());
    let beside_it =
        busiest.map(|holder| format!("; the program itself runs most in {}", holder.site(|_| true)));
    let at_least = if account.is_table { "at least " } else { "" };
    let at = named.map(|named| format!(", {does} {named}")).or(beside_it).unwrap_or_default();
    let call = main_call(heavy, facts, profile, part);
    let content = content(heavy, facts, profile);
    let on = content.as_ref().map_or_else(String::new, Content::clause);
    let takes = if heavy.what.ends_with('s') { "take" } else { "takes" };
    let title =
        format!("{who}: {} {takes} {at_least}{} of {whole}{call}{at}{on}", heavy.what, words::percent(part));
    let share = match is_of_cpu(profile) {
        true => Share::of_cpu_time(part, format!("{whole} of {who}")),
        false => Share::of_time(part, format!("{whole} of {who}")),
    };
    let busy = profile.step.cpus().map_or(String::new(), |cpus| format!(" It keeps {cpus:.2} CPUs busy."));
    let below = holder.zip(site.as_ref()).and_then(|(holder, site)| {
        let called = holder.parts.iter().find(|part| is_its(part) && !part.callee.is_empty())?;
        Some(format!(" {site} calls {}: {} of {whole}.", short(&called.callee), of_total(called.value)))
    });
    let functions: Vec<String> = account
        .functions
        .iter()
        .filter(|function| {
            function.flat > 0.0 && function.kind.is_some_and(|kind| heavy.kinds.contains(&kind))
        })
        .take(4)
        .map(|function| format!("{} {}", short(&function.name), of_total(function.flat)))
        .collect();
    let functions = if functions.is_empty() {
        String::new()
    } else {
        format!(" Its functions: {}.", functions.join(", "))
    };
    let shown = beside::shown(facts, profile, heavy.beside);
    let beside = shown.as_ref().map_or("", |shown| shown.text.as_str());
    let reads = content.as_ref().map_or_else(String::new, Content::sentence);
    let stream = shown.as_ref().map(|shown| shown.stream);
    let pid = facts.process_of(profile).and_then(|process| facts.world.threads.process(process).pid);
    let is_step = heavy.step_of.is_some_and(|of| account.asked_share(of) >= STEP_OF * part);
    let may_warn = !is_step && is_waited_for(heavy, facts, out, profile);
    let most = if may_warn { heavy.at_most } else { Severity::Notice };
    let mut found = out
        .report(share, title)
        .at_most(most)
        .subject(of_content(
            &content,
            Subject {
                pid: pid.filter(|_| matches!(profile.origin, ProfileOrigin::Samples(_))),
                function: holder.or(busiest).map(|holder| holder.function.clone()),
                path: stream.and_then(|stream| stream.path.clone()),
                peer: stream.and_then(|stream| stream.peer.clone()),
                ..Subject::default()
            },
        ))
        .measured_all(content.iter().flat_map(Content::figures))
        .cause(format!("{}{busy}{}{functions}{beside}{reads}", heavy.why, below.unwrap_or_default()));
    for fix in heavy.fixes.iter().copied().chain(of_runtime(heavy.of_runtime, &account.runtimes)) {
        found = found.fix(fix);
    }
    let line = holder.and_then(|holder| {
        let part = holder.parts.iter().find(|part| is_its(part))?;
        let callee =
            if part.callee.is_empty() { String::new() } else { format!(" in {}", short(&part.callee)) };
        let line = if part.line > 0 { format!(", line {}", part.line) } else { String::new() };
        Some(format!("{}: {}{callee}{line}", holder.function, profile.step.measured.value(part.value)))
    });
    let text = line.unwrap_or_else(|| {
        format!(
            "{} of {} of {whole}",
            profile.step.measured.value(part * account.total),
            profile.step.measured.value(account.total)
        )
    });
    found = found.evidence_line(facts.profile_source(profile), text);
    found = match (&shown, &content) {
        (Some(shown), _) => found.evidence_all(shown.exemplars.iter().take(1)),
        (None, Some(content)) => found.evidence_all(content.exemplars().take(1)),
        (None, None) => found,
    };
    found.verify(heavy.verify).file();
}

/// What a recorded process works on, where the kind of cost has to do with what is read.
fn content<'f>(heavy: &Heavy, facts: &'f Facts, profile: &ProfileFacts) -> Option<Content<'f>> {
    let process = facts.process_of(profile)?;
    matches!(heavy.beside, Beside::Read | Beside::Moved).then(|| Content::of_process(facts, process))?
}

fn of_content(content: &Option<Content<'_>>, subject: Subject) -> Subject {
    match content {
        Some(content) => content.subject(subject),
        None => subject,
    }
}

/// True where somebody waits for what the program computes: it keeps a good part of a CPU busy, or work waited for it all the while. Of a
/// profile without a length nobody knows: it is taken so.
#[gated]
fn is_waited_for(heavy: &Heavy, facts: &Facts, out: &Findings<'_>, profile: &ProfileFacts) -> bool {
    let pid = facts.process_of(profile).and_then(|process| facts.world.threads.process(process).pid);
    let lasts = || {
        let demand = out.account().zip(pid).map(|(account, pid)| account.demand.of(&[pid]));
        demand
            .is_some_and(|demand| demand.queues.iter().any(|queue| queue.lasts() && queue.kind.is_backlog()))
    };
    let is_busy = match heavy.is_often_meant {
        // What it would use without its waits for a CPU does not count: nothing is wrong with the program then.
        true => profile.step.cpus().is_some_and(|cpus| cpus >= FULL_CPUS),
        false => cpus(facts, profile).is_none_or(|cpus| cpus >= BUSY_CPUS),
    };
    is_busy || lasts()
}

/// What is meant for one of these runtimes.
fn of_runtime<'a>(
    fixes: &'a [(Option<Runtime>, &'static str)],
    known: &'a [Runtime],
) -> impl Iterator<Item = &'static str> + 'a {
    let has_native = fixes.iter().any(|(of, _)| of.is_none());
    let is_meant = move |of: &Option<Runtime>| match of {
        Some(of) => known.contains(of) || known.is_empty() && !has_native,
        None => known.is_empty(),
    };
    fixes.iter().filter(move |(of, _)| is_meant(of)).map(|(_, fix)| *fix)
}

/// Which system call has most of the kernel's time, and for which kind of file: `, 24.1 % in write of /dev/null`.
#[gated]
fn main_call(heavy: &Heavy, facts: &Facts, profile: &ProfileFacts, part: f64) -> String {
    let (Beside::Calls, ProfileOrigin::Samples(process)) = (heavy.beside, &profile.origin) else {
        return String::new();
    };
    let calls = facts.samples.system_calls(SampleKind::OnCpu, *process);
    let Some(first) = calls.first() else { return String::new() };
    let of_call = profile.step.account.part(first.weight.ns as f64);
    if of_call < MOST_OF_IT * part {
        return String::new();
    }
    let object = first.object.map_or(String::new(), |object| format!(" of {object}"));
    format!(", {} in {}{object}", words::percent(of_call), first.name)
}

#[cfg(test)]
mod tests {
    use super::{Runtime, at_least, of_runtime};

    #[test]
    fn remedies_are_of_the_runtime() {
        let fixes = [(Some(Runtime::Go), "GOGC"), (Some(Runtime::Node), "--max-semi-space-size")];
        let told = |known: &[Runtime]| of_runtime(&fixes, known).collect::<Vec<_>>();
        let native = [fixes[0], (None, "jemalloc")];
        assert_eq!(of_runtime(&native, &[]).collect::<Vec<_>>(), ["jemalloc"]);
        assert_eq!(of_runtime(&native, &[Runtime::Go]).collect::<Vec<_>>(), ["GOGC"]);
        assert_eq!(told(&[Runtime::Node]), ["--max-semi-space-size"]);
        assert!(told(&[Runtime::Python]).is_empty());
        assert_eq!(told(&[]).len(), 2);
    }

    #[test]
    fn few_samples_prove_less() {
        // Wilson's lower bound of 9 in 53 at 95 %, one-sided, is 10.2 %; of 170 in 1,000 it is 15.1 %.
        assert!((at_least(9.0 / 53.0, 53) - 0.102).abs() < 0.002, "{}", at_least(9.0 / 53.0, 53));
        assert!((at_least(0.17, 1000) - 0.151).abs() < 0.002, "{}", at_least(0.17, 1000));
        assert!(at_least(1.0, 1_000_000) > 0.999);
        assert!(at_least(0.0, 0) >= 0.0);
    }
}
