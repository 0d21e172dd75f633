//! Findings of one rule that one change mends are one finding, with the list of its places: peers, files, threads, processes.
//!
//! A rule files each place that it judged; here they are added up as they come, so that a cause that is spread over many small places weighs
//! what it costs in all. Kept are the finding of the costliest place, a bounded list of others, and sums of all: the sums are the same
//! whatever the order, and however many places there are.
//!
//! Joined are places of one program that ask for the same first step word by word, and name nothing else that differs. Their time is
//! added: parts of one whole up to the whole, parts of several threads' time as a part of all of it. What a thread waits for
//! in several places at once (an event loop) is no more than the time in which it did not run.

use crate::gate::gated;
use crate::guards::Share;
use crate::words;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use whyslow_facts::{Facts, ThreadFacts};
use whyslow_model::{
    Also, Errno, Evidence, Finding, Measurement, Nanos, Saving, Severity, ShareOf, ShareWhole, Subject,
    Threshold, Tid,
};

/// Places with a line of evidence of their own: enough to see that they are alike.
const MAX_SHOWN: usize = 4;
/// Places that are listed; the others are counted.
const MAX_LISTED: usize = 64;
/// Causes of one rule in one diagnosis: the rest follows from these, or costs less.
const MAX_CAUSES: usize = 3;

/// What one rule found, place by place.
pub(crate) struct Together<'f> {
    facts: &'f Facts,
    joins: bool,
    /// What the rule is about is waited for, so that it takes no time of a CPU.
    waits: bool,
    causes: Vec<Cause>,
    /// The causes with that key: the same place is in each once.
    known: HashMap<CauseKey, Vec<usize>>,
    /// What stands for itself.
    alone: Vec<(u64, Finding)>,
    filed: u64,
    hasher: RandomState,
}

/// What all places of a cause have to cost together.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Least {
    /// To be told.
    pub(crate) to_be_told: Option<f64>,
    /// To be more than a notice.
    pub(crate) to_warn: f64,
}

/// What places of one cause have in common.
#[derive(PartialEq, Eq, Hash)]
struct CauseKey {
    id: &'static str,
    program: Program,
    remedy: String,
    whole: ShareWhole,
    named: [Option<String>; 5],
    errno: Option<Errno>,
    end: End,
}

#[derive(PartialEq, Eq, Hash)]
enum Program {
    Named(String),
    Pid(Option<Tid>),
}

/// Two locks are two causes, unless their holders wait for the same.
#[derive(PartialEq, Eq, Hash)]
enum End {
    NoLock,
    Lock(String),
    HolderWaitsFor(String),
}

/// Places of one cause.
struct Cause {
    /// The first of them that was filed.
    order: u64,
    /// What the costliest says.
    finding: Finding,
    finding_order: u64,
    /// Others, the costliest of them.
    others: Vec<Place>,
    /// All places.
    count: u64,
    seen: HashSet<u64>,
    severity: Severity,
    at_most: Severity,
    least: Least,
    wholes: Vec<Whole>,
    whole_at: HashMap<ShareOf, usize>,
}

/// One of several places.
struct Place {
    order: u64,
    also: Also,
    ns_per_s: u64,
    line: Option<Evidence>,
}

/// A whole that findings are parts of.
struct Whole {
    of: ShareOf,
    /// The parts added; `None` where one is unknown.
    sum: Option<f64>,
    /// What their savings come to, ns a second; `None` where one is unknown.
    saved: Option<u128>,
    /// The most that they can be together.
    most: f64,
    /// Its length, ns, where it is a thread's time.
    wall: Option<u64>,
    /// The part that is largest: one alone is as it was measured.
    largest: f64,
}

impl<'f> Together<'f> {
    /// Of one rule: whether its places are joined, and whether it is about waits.
    pub(crate) fn new(facts: &'f Facts, joins: bool, waits: bool) -> Together<'f> {
        Together {
            facts,
            joins,
            waits,
            causes: Vec::new(),
            known: HashMap::new(),
            alone: Vec::new(),
            filed: 0,
            hasher: RandomState::new(),
        }
    }

    /// One more place, of a cause whose places have to cost so much.
    pub(crate) fn add(&mut self, finding: Finding, least: Least) {
        self.filed += 1;
        let order = self.filed;
        let of_program = self.joins && finding.severity > Severity::Capture && !finding.disagreement;
        let Some(remedy) = remedy(&finding).filter(|_| of_program) else {
            self.alone.push((order, finding));
            return;
        };
        let of = &finding.subject;
        let key = CauseKey {
            id: finding.id,
            program: program(self.facts, of),
            remedy,
            whole: finding.share_whole,
            named: [&of.syscall, &of.function, &of.endpoint, &of.device, &of.host].map(Option::clone),
            errno: of.errno,
            end: match (&of.lock, &of.peer) {
                (None, _) => End::NoLock,
                (Some(_), Some(peer)) => End::HolderWaitsFor(peer.clone()),
                (Some(lock), None) => End::Lock(lock.clone()),
            },
        };
        let place = self.hasher.hash_one((of.pid, of.tid, of.fd, &of.path, &of.peer, &of.lock));
        let known = self.known.entry(key).or_default();
        let at = known.iter().copied().find(|at| !self.causes[*at].seen.contains(&place));
        let at = at.unwrap_or_else(|| {
            known.push(self.causes.len());
            self.causes.push(Cause::new(order, finding.clone(), least));
            self.causes.len() - 1
        });
        let whole = Whole::new(self.facts, &finding, self.waits);
        let cause = &mut self.causes[at];
        cause.seen.insert(place);
        // What one of them needs no more for is a cause.
        cause.least.to_warn = cause.least.to_warn.min(least.to_warn);
        cause.count(whole, &finding);
        if cause.finding_order != order {
            cause.place(order, finding);
        }
    }

    /// What was found.
    pub(crate) fn finish(self) -> Vec<Finding> {
        let mut causes: Vec<(u64, Finding)> = Vec::new();
        for cause in self.causes {
            let order = cause.order;
            causes.extend(cause.finding(self.facts).map(|finding| (order, finding)));
        }
        causes.sort_by(|(a_order, a), (b_order, b)| {
            (b.severity, b.saving.ns_per_s)
                .cmp(&(a.severity, a.saving.ns_per_s))
                .then(b.share.unwrap_or(0.0).total_cmp(&a.share.unwrap_or(0.0)))
                .then(a_order.cmp(b_order))
        });
        let left_out = causes.len().saturating_sub(MAX_CAUSES) as u64;
        causes.truncate(MAX_CAUSES);
        if let Some((_, last)) = causes.last_mut().filter(|_| left_out > 0) {
            let more = Measurement::count("smaller_findings", left_out);
            let are = if left_out == 1 {
                "finding of this kind costs less and is"
            } else {
                "findings of this kind cost less and are"
            };
            last.cause += &format!(" {more} more {are} left out.");
            last.measurements.push(more);
        }
        causes.extend(self.alone);
        causes.sort_by_key(|(order, _)| *order);
        causes.into_iter().map(|(_, finding)| finding).collect()
    }
}

/// What all places of a cause cost together is enough to tell it.
#[gated]
fn is_enough(share: Option<f64>, least: f64) -> bool {
    let enough = share.is_some_and(|share| share >= least);
    if !enough {
        return false;
    }
    true
}

impl Cause {
    fn new(order: u64, finding: Finding, least: Least) -> Cause {
        Cause {
            order,
            finding_order: order,
            others: Vec::new(),
            count: 0,
            seen: HashSet::new(),
            severity: finding.severity,
            at_most: finding.at_most,
            least,
            wholes: Vec::new(),
            whole_at: HashMap::new(),
            finding,
        }
    }

    /// Adds what a place costs to the sums.
    fn count(&mut self, whole: Whole, finding: &Finding) {
        self.count += 1;
        self.severity = self.severity.max(finding.severity);
        self.at_most = self.at_most.max(finding.at_most);
        match self.whole_at.get(&whole.of) {
            Some(at) => self.wholes[*at].add(&whole),
            None => {
                self.whole_at.insert(whole.of.clone(), self.wholes.len());
                self.wholes.push(whole);
            }
        }
    }

    /// Takes the place of another one: as the one that speaks for all, or into the list.
    fn place(&mut self, order: u64, mut finding: Finding) {
        let costs = |finding: &Finding| (finding.saving.ns_per_s.unwrap_or(0), finding.share.unwrap_or(0.0));
        let ((ns, share), (most_ns, most_share)) = (costs(&finding), costs(&self.finding));
        let mut order = order;
        if ns.cmp(&most_ns).then(share.total_cmp(&most_share)).is_gt() {
            std::mem::swap(&mut self.finding, &mut finding);
            std::mem::swap(&mut self.finding_order, &mut order);
        }
        self.others.push(Place {
            order,
            ns_per_s: finding.saving.ns_per_s.unwrap_or(0),
            line: finding.evidence.into_iter().next(),
            also: Also { title: finding.title, share: finding.share, subject: finding.subject },
        });
        if self.others.len() >= 2 * MAX_LISTED {
            self.keep_costliest();
        }
    }

    fn keep_costliest(&mut self) {
        let share = |place: &Place| place.also.share.unwrap_or(0.0);
        self.others.sort_by(|a, b| {
            b.ns_per_s.cmp(&a.ns_per_s).then(share(b).total_cmp(&share(a))).then(a.order.cmp(&b.order))
        });
        self.others.truncate(MAX_LISTED);
    }

    /// The finding about all places; `None` where they cost too little to be told.
    fn finding(mut self, facts: &Facts) -> Option<Finding> {
        self.keep_costliest();
        let (share, of) = match self.count {
            1 => (self.finding.share, ShareOf::default()),
            _ => self.share(),
        };
        let Least { to_be_told: least, to_warn } = self.least;
        if least.is_some_and(|least| !is_enough(share, least)) {
            return None;
        }
        if to_warn > 0.0 && !is_enough(share, to_warn) {
            self.at_most = self.at_most.min(Severity::Notice);
            self.severity = self.severity.min(Severity::Notice);
            self.finding.severity = self.finding.severity.min(Severity::Notice);
            self.finding.at_most = self.at_most;
        }
        if self.count == 1 {
            return Some(self.finding);
        }
        let saving = self.saving(facts);
        let mut first = self.finding;
        let by_share = Share { value: share, of: ShareOf::default(), whole: first.share_whole }
            .severity()
            .min(self.at_most);
        let own = Also { title: first.title.clone(), share: first.share, subject: first.subject.clone() };
        let is_spread = first.severity < by_share;
        first.severity = self.severity.max(by_share);
        first.at_most = self.at_most;
        (first.share, first.share_of) = (share, of);
        first.saving = saving;
        let lines = first.evidence.len() + MAX_SHOWN;
        for place in self.others {
            let line = place.line.filter(|line| !first.evidence.contains(line));
            if first.evidence.len() < lines {
                first.evidence.extend(line);
            }
            first.also.push(place.also);
        }
        let more = self.count - 1;
        first.measurements.push(Measurement::count("more_like_it", more));
        let places = places(&own, &first.also, more);
        let mut title = format!("{}; {places} likewise", first.title.trim_end_matches('.'));
        // What each costs says little of what all cost.
        if is_spread || least.is_some() {
            let together = Share { value: share, of: ShareOf::default(), whole: first.share_whole };
            let mut figure = together.figure();
            figure.name = "share_together";
            title += &format!(", {figure} together");
            first.measurements.push(match least {
                Some(least) => figure.at_least(least),
                None => figure,
            });
        }
        first.title = title;
        // A threshold that one place alone does not pass was passed by all together.
        for figure in &mut first.measurements {
            if let (Some(value), Some(Threshold::AtLeast(least))) = (figure.value, figure.threshold)
                && value < least
            {
                figure.threshold = None;
            }
        }
        Some(first)
    }

    /// What the places cost together, and of what.
    fn share(&self) -> (Option<f64>, ShareOf) {
        match &self.wholes[..] {
            [one] => (one.share(), one.of.clone()),
            several => match Whole::together(several) {
                Some(share) => (
                    Some(share),
                    format!("the time of {} threads", words::count(several.len() as u64)).into(),
                ),
                None => (self.finding.share, self.finding.share_of.clone()),
            },
        }
    }

    /// What a saving of all comes to; unknown where that of one is.
    fn saving(&self, facts: &Facts) -> Saving {
        let saved: Option<u128> = self.wholes.iter().map(Whole::saved).sum();
        let (Some(ns), Some(window)) = (saved, facts.window.length().get()) else {
            return self.finding.saving.clone();
        };
        let total = Nanos::new(u64::try_from(ns * u128::from(window) / 1_000_000_000).unwrap_or(u64::MAX));
        Saving {
            ns_per_s: Some(u64::try_from(ns).unwrap_or(u64::MAX)),
            text: format!("{total} in a window of {}", Nanos::new(window)),
            without: None,
        }
    }
}

/// The first step, without the subject's own address and path and the numbers of descriptor, thread and process.
fn remedy(finding: &Finding) -> Option<String> {
    let of = &finding.subject;
    let step = finding.fix.first()?.clone();
    let address = of.peer.as_deref().and_then(|peer| peer.rsplit_once(':')).map(|(host, port)| [host, port]);
    let own = of.path.as_deref().into_iter().chain(address.into_iter().flatten());
    let step = own.filter(|text| text.len() > 1).fold(step, |step, text| step.replace(text, "_"));
    Some(unnumbered(&step, of))
}

/// A step in which the subject's own numbers are left out: `lsof -nP -p _ -a -d _`.
fn unnumbered(step: &str, subject: &Subject) -> String {
    let numbers = [subject.fd.map(i64::from), subject.pid.map(i64::from), subject.tid.map(i64::from)];
    let is_own = |word: &str| word.parse().is_ok_and(|number| numbers.contains(&Some(number)));
    let words = step.split_inclusive(|letter: char| !letter.is_ascii_digit());
    let mut out = String::with_capacity(step.len());
    // A piece is digits and the letter behind them: what stands before the digits was the last letter of the piece before.
    let mut after_word = false;
    for piece in words {
        let digits = piece.trim_end_matches(|letter: char| !letter.is_ascii_digit());
        let behind = &piece[digits.len()..];
        let joins = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '.');
        let whole = !digits.is_empty()
            && !after_word
            && !behind.starts_with(|letter: char| letter.is_alphabetic() || letter == '_');
        out.push_str(if whole && is_own(digits) { "_" } else { digits });
        out.push_str(behind);
        after_word = behind.ends_with(joins);
    }
    out
}

fn program(facts: &Facts, subject: &Subject) -> Program {
    let process = subject.pid.and_then(|pid| facts.world.threads.last_process(pid));
    let name = process.and_then(|process| facts.world.threads.known_process(process)?.name());
    name.map_or(Program::Pid(subject.pid), |name| Program::Named(name.to_string()))
}

/// `2 more peers`: in what the places differ, as far as they are listed.
fn places(first: &Also, others: &[Also], count: u64) -> String {
    let differ = |of: &dyn Fn(&Subject) -> bool| others.iter().all(|also| of(&also.subject));
    let one = &first.subject;
    let what = match () {
        () if differ(&|other| other.peer.is_some() && other.peer != one.peer) => "peer",
        () if differ(&|other| other.path.is_some() && other.path != one.path) => "file",
        () if differ(&|other| other.pid != one.pid) => "process",
        () if differ(&|other| other.fd.is_some() && other.fd != one.fd) => "descriptor",
        () if differ(&|other| other.tid != one.tid) => "thread",
        () if differ(&|other| other.lock != one.lock) => "lock",
        () => "place",
    };
    let number = words::count(count);
    match (what, count) {
        (what, 1) => format!("1 more {what}"),
        ("process", _) => format!("{number} more processes"),
        (what, _) => format!("{number} more {what}s"),
    }
}

impl Whole {
    fn new(facts: &Facts, finding: &Finding, waits: bool) -> Whole {
        let tid = match finding.share_of {
            ShareOf::Thread { tid, .. } => Some(tid),
            _ => None,
        };
        let thread = tid.and_then(|tid| facts.world.threads.thread_of(tid));
        let wall = thread.and_then(|thread| thread.wall().get()).filter(|wall| *wall > 0);
        let ran = |thread: &ThreadFacts| thread.sched.as_deref().map(|sched| sched.on_cpu_ns);
        let most = match (thread.and_then(ran), wall) {
            (Some(ran), Some(wall)) if waits && finding.share_whole == ShareWhole::Time => {
                1.0 - (ran as f64 / wall as f64).min(1.0)
            }
            _ => 1.0,
        };
        Whole {
            of: finding.share_of.clone(),
            sum: finding.share,
            saved: finding.saving.ns_per_s.map(u128::from),
            most,
            wall,
            largest: finding.share.unwrap_or(0.0),
        }
    }

    fn add(&mut self, other: &Whole) {
        self.sum = self.sum.zip(other.sum).map(|(sum, share)| sum + share);
        self.saved = self.saved.zip(other.saved).map(|(sum, saved)| sum.saturating_add(saved));
        self.largest = self.largest.max(other.largest);
    }

    fn most(&self) -> f64 {
        self.most.max(self.largest)
    }

    fn share(&self) -> Option<f64> {
        self.sum.map(|sum| sum.min(self.most()))
    }

    /// What is saved when nothing is counted twice.
    fn saved(&self) -> Option<u128> {
        let saved = self.saved?;
        Some(match self.sum {
            Some(sum) if sum > self.most() && sum > 0.0 => (saved as f64 * (self.most() / sum)) as u128,
            _ => saved,
        })
    }

    /// The part of the time of several threads.
    fn together(all: &[Whole]) -> Option<f64> {
        let mut sums = (0.0, 0.0);
        for whole in all {
            let wall = whole.wall? as f64;
            sums = (sums.0 + whole.share()? * wall, sums.1 + wall);
        }
        Some(sums.0 / sums.1)
    }
}

#[cfg(test)]
mod tests;
