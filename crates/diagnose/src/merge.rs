//! Findings of one rule that one change mends are one finding, with the list of its places: peers, files, threads, processes.
//!
//! They are about one program, ask for the same first step word by word, and name nothing else that differs. Their time is
//! added: parts of one whole up to the whole, parts of several threads' time as a part of all of it. What a thread waits for
//! in several places at once (an event loop) is no more than the time in which it did not run.

use whyslow_facts::{Facts, ThreadFacts};
use whyslow_model::{
    Also, Finding, Measurement, Nanos, SaturatingSum, Saving, Severity, ShareWhole, Subject,
};
use whyslow_rules::guards::Share;

/// Places with a line of evidence of their own: enough to see that they are alike.
const MAX_SHOWN: usize = 4;

/// Joins what is one cause; the finding that costs most speaks for the others.
pub(crate) fn merge(facts: &Facts, findings: Vec<Finding>) -> Vec<Finding> {
    let mut groups: Vec<Vec<Finding>> = Vec::new();
    for finding in findings {
        match groups.iter_mut().find(|group| is_one(facts, &group[0], &finding)) {
            Some(group) => group.push(finding),
            None => groups.push(vec![finding]),
        }
    }
    groups.into_iter().filter_map(|group| joined(facts, group)).collect()
}

/// True for two findings that the same change mends, and whose subjects differ in their place alone.
fn is_one(facts: &Facts, a: &Finding, b: &Finding) -> bool {
    let (one, other) = (&a.subject, &b.subject);
    let of_program = |finding: &Finding| finding.severity > Severity::Capture && !finding.disagreement;
    let same_remedy = !a.fix.is_empty() && remedy(a) == remedy(b);
    let same_thing = (&one.syscall, &one.function, &one.endpoint)
        == (&other.syscall, &other.function, &other.endpoint)
        && (&one.device, &one.host, one.errno) == (&other.device, &other.host, other.errno);
    // Two locks are two causes, unless their holders wait for the same.
    let same_end = one.lock == other.lock || one.peer.is_some() && one.peer == other.peer;
    let place = |of: &Subject| (of.pid, of.tid, of.fd, of.path.clone(), of.peer.clone(), of.lock.clone());
    a.id == b.id
        && of_program(a)
        && of_program(b)
        && a.share_whole == b.share_whole
        && same_remedy
        && same_thing
        && same_end
        && place(one) != place(other)
        && same_program(facts, one, other)
}

/// The first step, without the peer's own address and the numbers of descriptor, thread and process.
fn remedy(finding: &Finding) -> Option<String> {
    let step = unnumbered(finding.fix.first()?, &finding.subject);
    let Some((host, port)) = finding.subject.peer.as_deref().and_then(|peer| peer.rsplit_once(':')) else {
        return Some(step);
    };
    let is_long = |text: &str| text.len() > 1;
    Some(
        [host, port]
            .into_iter()
            .filter(|text| is_long(text))
            .fold(step, |step, text| step.replace(text, "_")),
    )
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

fn same_program(facts: &Facts, a: &Subject, b: &Subject) -> bool {
    let name = |subject: &Subject| {
        let process = facts.world.threads.find_process(subject.pid?)?;
        facts.world.threads.known_process(process)?.name()
    };
    a.pid == b.pid || name(a).is_some() && name(a) == name(b)
}

fn joined(facts: &Facts, mut group: Vec<Finding>) -> Option<Finding> {
    let costs = |finding: &Finding| (finding.saving.ns_per_s.unwrap_or(0), finding.share.unwrap_or(0.0));
    group.sort_by(|a, b| {
        let ((ns, share), (other_ns, other_share)) = (costs(a), costs(b));
        other_ns.cmp(&ns).then(other_share.total_cmp(&share))
    });
    let sum = (group.len() > 1).then(|| Sum::of(facts, &group));
    let mut group = group.into_iter();
    let mut first = group.next()?;
    let Some(sum) = sum else { return Some(first) };
    let (own_title, own_share, own_evidence) = (first.title.clone(), first.share, first.evidence.len());
    first.severity = sum.severity.max(first.severity);
    first.at_most = sum.at_most;
    (first.share, first.share_of) = (sum.share, sum.of);
    first.saving = sum.saving;
    let itself = Also { title: own_title, share: own_share, subject: first.subject.clone() };
    for finding in group {
        let line = finding.evidence.into_iter().next().filter(|line| !first.evidence.contains(line));
        if first.evidence.len() < own_evidence + MAX_SHOWN {
            first.evidence.extend(line);
        }
        first.also.push(Also { title: finding.title, share: finding.share, subject: finding.subject });
    }
    let places = places(&itself, &first.also);
    first.measurements.push(Measurement::count("more_like_it", first.also.len() as u64));
    first.title = format!("{}; {places} likewise", first.title.trim_end_matches('.'));
    Some(first)
}

/// `2 more peers`: in what the places differ.
fn places(first: &Also, others: &[Also]) -> String {
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
    let count = others.len();
    match (what, count) {
        (what, 1) => format!("1 more {what}"),
        ("process", count) => format!("{count} more processes"),
        (what, count) => format!("{count} more {what}s"),
    }
}

/// What a group costs together.
struct Sum {
    share: Option<f64>,
    of: String,
    severity: Severity,
    at_most: Severity,
    saving: Saving,
}

impl Sum {
    fn of(facts: &Facts, group: &[Finding]) -> Sum {
        let first = &group[0];
        let wholes = Whole::all(facts, group);
        let (share, of) = match &wholes[..] {
            [one] => (one.share(), first.share_of.clone()),
            several => match Whole::together(several) {
                Some(share) => (Some(share), format!("the time of {} threads", several.len())),
                None => (first.share, first.share_of.clone()),
            },
        };
        let at_most = group.iter().map(|finding| finding.at_most).max().unwrap_or(first.at_most);
        let whole = first.share_whole;
        let by_share = Share { value: share, of: String::new(), whole }.severity().min(at_most);
        let severity = group.iter().map(|finding| finding.severity).fold(by_share, Severity::max);
        Sum { share, of, severity, at_most, saving: saving(facts, group, &wholes) }
    }
}

/// What a saving of a group comes to; unknown where that of one is.
fn saving(facts: &Facts, group: &[Finding], wholes: &[Whole<'_>]) -> Saving {
    let all: Option<Vec<u64>> = group.iter().map(|finding| finding.saving.ns_per_s).collect();
    let (Some(all), Some(window)) = (all, facts.window.length().get()) else {
        return group[0].saving.clone();
    };
    let kept = |finding: &Finding, ns: u64| {
        let whole = wholes.iter().find(|whole| whole.of == finding.share_of);
        (ns as f64 * whole.map_or(1.0, Whole::kept)) as u64
    };
    let ns = group.iter().zip(all).map(|(finding, ns)| kept(finding, ns)).saturating_sum();
    let total = Nanos::new((u128::from(ns) * u128::from(window) / 1_000_000_000) as u64);
    Saving {
        ns_per_s: Some(ns),
        text: format!("{total} in a window of {}", Nanos::new(window)),
        without: None,
    }
}

/// A whole that findings are parts of.
struct Whole<'a> {
    of: &'a str,
    /// The parts added; `None` where one is unknown.
    sum: Option<f64>,
    /// The most that they can be together.
    most: f64,
    /// Its length, ns, where it is a thread's time.
    wall: Option<u64>,
}

impl<'a> Whole<'a> {
    fn all(facts: &Facts, group: &'a [Finding]) -> Vec<Whole<'a>> {
        let mut all: Vec<Whole<'a>> = Vec::new();
        for finding in group {
            match all.iter_mut().find(|whole| whole.of == finding.share_of) {
                Some(known) => known.sum = known.sum.zip(finding.share).map(|(sum, share)| sum + share),
                None => all.push(Whole::new(facts, finding)),
            }
        }
        all
    }

    fn new(facts: &Facts, finding: &'a Finding) -> Whole<'a> {
        let tid = finding.subject.tid.filter(|tid| finding.share_of.ends_with(&format!("thread {tid}")));
        let thread = tid.and_then(|tid| facts.world.threads.thread_of(tid));
        let wall = thread.and_then(|thread| thread.wall().get()).filter(|wall| *wall > 0);
        let waits =
            whyslow_rules::find(finding.id).is_some_and(|rule| ["network", "waits"].contains(&rule.group));
        let ran = |thread: &ThreadFacts| thread.sched.as_deref().map(|sched| sched.on_cpu_ns);
        let most = match (thread.and_then(ran), wall) {
            (Some(ran), Some(wall)) if waits && finding.share_whole == ShareWhole::Time => {
                1.0 - (ran as f64 / wall as f64).min(1.0)
            }
            _ => 1.0,
        };
        // One alone is as it was measured.
        let most = most.max(finding.share.unwrap_or(0.0));
        Whole { of: &finding.share_of, sum: finding.share, most, wall }
    }

    fn share(&self) -> Option<f64> {
        self.sum.map(|sum| sum.min(self.most))
    }

    /// The part of the sum that is left when nothing is counted twice.
    fn kept(&self) -> f64 {
        match self.sum {
            Some(sum) if sum > self.most && sum > 0.0 => self.most / sum,
            _ => 1.0,
        }
    }

    /// The part of the time of several threads.
    fn together(all: &[Whole<'_>]) -> Option<f64> {
        let mut sums = (0.0, 0.0);
        for whole in all {
            let wall = whole.wall? as f64;
            sums = (sums.0 + whole.share()? * wall, sums.1 + wall);
        }
        Some(sums.0 / sums.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    fn about(peer: &str, share: f64, fix: &str) -> Finding {
        let mut finding = fixture::finding("delayed-ack", Some(1), Some(share));
        finding.title = format!("{peer}: messages wait");
        finding.share_of = "wall time".to_string();
        finding.subject.peer = Some(peer.to_string());
        finding.fix = vec![fix.to_string()];
        finding.saving.ns_per_s = Some((share * 1e9) as u64);
        finding
    }

    fn merged(findings: Vec<Finding>) -> Vec<Finding> {
        merge(&Facts::default(), findings)
    }

    #[test]
    fn one_cause_at_three_peers_is_one_finding_with_their_list() {
        let all = merged(vec![
            about("a:1", 0.1, "one write"),
            about("b:1", 0.3, "one write"),
            about("c:1", 0.2, "one write"),
        ]);
        assert_eq!(all.len(), 1);
        assert_eq!(all[0].title, "b:1: messages wait; 2 more peers likewise");
        assert!((all[0].share.unwrap() - 0.6).abs() < 1e-9);
        assert_eq!(all[0].severity, Severity::Critical, "their sum weighs");
        let peers: Vec<_> = all[0].subjects().filter_map(|subject| subject.peer.as_deref()).collect();
        assert_eq!(peers, ["b:1", "c:1", "a:1"]);
    }

    #[test]
    fn one_program_that_spins_on_three_descriptors_is_one_finding() {
        let spin = |fd: i32| {
            let mut finding = fixture::finding("epoll-hup-spin", Some(812), Some(0.3));
            finding.title = format!("epoll_wait returns fd {fd}");
            finding.subject.fd = Some(fd);
            finding.fix = vec![format!("what fd {fd} is: lsof -nP -p 812 -a -d {fd}")];
            finding
        };
        let all = merged(vec![spin(8), spin(9), spin(812)]);
        assert_eq!(all.len(), 1);
        assert_eq!(all[0].title, "epoll_wait returns fd 8; 2 more descriptors likewise");
        // What is no number of the subject's own may be the difference.
        let mut other = spin(8);
        other.subject.fd = Some(7);
        assert_eq!(merged(vec![spin(9), other]).len(), 2);
        let subject = spin(8).subject;
        assert_eq!(unnumbered("fd 8: x8, 88, 8, 8k, 812", &subject), "fd _: x8, 88, _, 8k, _");
    }

    #[test]
    fn no_time_is_counted_twice_and_no_ceiling_is_passed() {
        let mut both = vec![about("a:1", 0.8, "one write"), about("b:1", 0.7, "one write")];
        both.iter_mut().for_each(|finding| finding.at_most = Severity::Warning);
        let all = merged(both);
        assert_eq!((all.len(), all[0].share, all[0].severity), (1, Some(1.0), Severity::Warning));
    }

    #[test]
    fn another_remedy_another_program_and_another_question_stay_apart() {
        let mut other_program = about("b:1", 0.3, "one write");
        other_program.subject.pid = Some(2);
        let mut other_question = about("c:1", 0.3, "one write");
        other_question.subject.endpoint = Some("GET /x".to_string());
        let all =
            [about("a:1", 0.3, "one write"), about("b:1", 0.3, "look at b"), other_program, other_question];
        assert_eq!(merged(all.to_vec()).len(), 4);
        // The same place twice is not two places.
        assert_eq!(merged(vec![about("a:1", 0.3, "x"), about("a:1", 0.2, "x")]).len(), 2);
    }
}
