//! The sentences around a diagnosis that every format shows alike.

use whyslow_model::capture::{CaptureKind, CaptureNote, SourceInfo};
use whyslow_model::figures::{count, percent, plural};
use whyslow_model::walk::Walk;
use whyslow_model::{
    Diagnosis, Diff, Finding, FindingChange, Measurement, Nanos, NotJudged, Severity, Target, ThreadTime,
    WhatIf,
};

/// Below this, a finding says how sure it is.
const SURE: f64 = 0.8;
/// Names of one kind listed before "and N more".
const MAX_NAMES: usize = 3;

/// A command and the remark behind it: rules write `COMMAND   (remark)`.
pub(crate) fn command_and_remark(text: &str) -> (&str, Option<&str>) {
    if let Some((command, remark)) = text.rsplit_once("   (")
        && let Some(remark) = remark.strip_suffix(')')
    {
        return (command.trim_end(), Some(remark));
    }
    (text, None)
}

/// What was diagnosed, in one line.
pub(crate) fn target(target: &Target) -> String {
    let mut parts = Vec::new();
    let sources: Vec<String> = target.sources.iter().map(|source| source_name(source).to_string()).collect();
    match sources.is_empty() {
        true => parts.push(target.kind.to_string()),
        false => parts.push(format!("{} {}", target.kind, some_of(&sources))),
    }
    let processes: Vec<String> = target.processes.iter().map(process_name).collect();
    if !processes.is_empty() {
        let threads: usize = target.processes.iter().map(|process| process.threads).sum();
        parts.push(some_of(&processes));
        if threads > 1 {
            parts.push(plural(threads as u64, "thread"));
        }
    }
    match (&target.start, target.duration_ns.is_known()) {
        (Some(start), true) => parts.push(format!("{} from {start}", target.duration_ns)),
        (Some(start), false) => parts.push(format!("from {start}, length unknown")),
        (None, true) => parts.push(target.duration_ns.to_string()),
        (None, false) => parts.push("window unknown".to_string()),
    }
    parts.push(plural(target.events, "event"));
    if target.lost_events > 0 {
        parts.push(format!("{} lost", count(target.lost_events)));
    }
    if let Some(cost) = target.cost {
        let share = cost.target_share.filter(|share| share.is_finite()).map(percent);
        match (share, cost.added.is_known()) {
            (Some(share), true) => parts.push(format!("recording cost {share} ({})", cost.added)),
            (Some(share), false) => parts.push(format!("recording cost {share}")),
            (None, true) => parts.push(format!("recording cost {}", cost.added)),
            (None, false) => {}
        }
    }
    parts.join(" · ")
}

/// Who was recorded besides because the target waits for it, or it for the target, in one line.
pub(crate) fn followed(target: &Target) -> Option<String> {
    let of = |callers: bool, waits: [&str; 2]| {
        let rows = target.followed.iter().filter(|one| one.is_caller() == callers);
        let names: Vec<String> = rows.map(|one| format!("{} ({})", one.comm, one.pid)).collect();
        let waits = match names.len() {
            0 => return None,
            1 => format!("1 process {}", waits[0]),
            count => format!("{count} processes {}", waits[1]),
        };
        Some(format!("{waits}: {}", some_of(&names)))
    };
    let waited_for = of(false, ["it waits for"; 2]);
    let callers = of(true, ["that waits for it", "that wait for it"]);
    let all: Vec<String> = waited_for.into_iter().chain(callers).collect();
    (!all.is_empty()).then(|| all.join("; "))
}

/// The same in full, a line each.
pub(crate) fn each_followed(target: &Target) -> Vec<String> {
    let start = target.followed.iter().map(|one| {
        if one.is_caller() {
            return format!(
                "{} ({}) waits for process {} at {}, in {} of the looks at it; recorded from {} on",
                one.comm,
                one.pid,
                one.waiter,
                one.via,
                percent(one.share),
                one.ts.time_of_day(),
            );
        }
        let away = plural(u64::from(one.hop), "wait");
        format!(
            "{} ({}), {away} away: process {} waits for it at {}, {} of the target's waiting; recorded from {} on",
            one.comm,
            one.pid,
            one.waiter,
            one.via,
            percent(one.share),
            one.ts.time_of_day(),
        )
    });
    start.collect()
}

/// The name of an input; `-` is how the command line writes standard input.
fn source_name(source: &SourceInfo) -> &str {
    if source.name == "-" { "standard input" } else { &source.name }
}

fn process_name(process: &whyslow_model::diagnosis::TargetProcess) -> String {
    match (process.pid, &process.comm) {
        (Some(pid), Some(comm)) => format!("{comm} (pid {pid})"),
        (Some(pid), None) => format!("pid {pid}"),
        (None, Some(comm)) => comm.clone(),
        (None, None) => "one process".to_string(),
    }
}

fn some_of(names: &[String]) -> String {
    let shown = names.iter().take(MAX_NAMES).map(String::as_str).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(MAX_NAMES) {
        0 => shown,
        more => format!("{shown} and {} more", count(more as u64)),
    }
}

/// Said where nothing was found: what was looked at. Figures of the host alone are no events: the walk tells of them.
pub(crate) fn nothing_found(diagnosis: &Diagnosis, groups: &Groups<'_>) -> Option<String> {
    let target = &diagnosis.target;
    let found = !groups.disagreements.is_empty() || !groups.causes.is_empty() || !groups.notices.is_empty();
    if found || diagnosis.walk.is_some() && target.events == 0 {
        return None;
    }
    let threads: usize = target.processes.iter().map(|process| process.threads).sum();
    let mut looked_at = vec![plural(target.events, "event")];
    if threads > 0 {
        looked_at.push(plural(threads as u64, "thread"));
    }
    match target.duration_ns.is_known() {
        true => looked_at.push(format!("a window of {}", target.duration_ns)),
        false => looked_at.push("a window of unknown length".to_string()),
    }
    let judged = match diagnosis.not_judged.len() {
        0 => "every rule could judge".to_string(),
        n => format!("{} could not judge", plural(n as u64, "rule")),
    };
    Some(format!("No findings. Looked at {}; {judged}.", looked_at.join(", ")))
}

/// How sure a finding is, where that needs saying.
pub(crate) fn confidence(finding: &Finding) -> Option<String> {
    let sure = finding.confidence?;
    let word = match sure {
        _ if sure.is_nan() => return None,
        SURE.. => return None,
        0.6.. => "likely",
        0.4.. => "possible",
        _ => "a guess",
    };
    Some(format!(
        "{word} (right in {:.0} % of known cases): check before you change anything",
        sure.clamp(0.0, 1.0) * 100.0
    ))
}

/// The share and what it is a share of: `90.7 % of the wall time of thread 21124`.
pub(crate) fn share(finding: &Finding) -> Option<String> {
    let share = finding.share.filter(|share| share.is_finite())?;
    let of = if finding.share_of.is_unknown() { String::new() } else { format!(" of {}", finding.share_of) };
    Some(format!("{}{of}", percent(share)))
}

/// The host where it comes first, and where it comes behind: what was asked about comes first, and the host is that where there is
/// no account of a program's time.
pub(crate) fn host_first(diagnosis: &Diagnosis) -> (Option<&Walk>, Option<&Walk>) {
    match (&diagnosis.walk, &diagnosis.account) {
        (Some(walk), Some(_)) => (None, Some(walk)),
        (walk, _) => (walk.as_ref(), None),
    }
}

/// What it is a consequence of.
pub(crate) fn follows(finding: &Finding) -> Option<String> {
    finding.follows_from.map(|from| format!("follows from {}: {}", from.id, from.reason))
}

/// The figures behind the text: `bytes per answer 6.3 MB (threshold: at least 1.0 MB)`.
pub(crate) fn measurements(finding: &Finding) -> Vec<String> {
    let words = |figure: &Measurement| {
        let name = figure.name.replace('_', " ");
        let from = figure.threshold_words().map_or(String::new(), |words| format!(" (threshold: {words})"));
        format!("{name} {figure}{from}")
    };
    finding.measurements.iter().map(words).collect()
}

/// What a fix would save.
pub(crate) fn saving(finding: &Finding) -> Option<String> {
    let text = finding.saving.text.as_str();
    if let Some(without) = &finding.saving.without {
        return Some(what_if(without));
    }
    match (finding.saving.ns_per_s, text) {
        (None, "") => None,
        (None, text) => Some(format!("saves {text}")),
        (Some(ns), "") => Some(saved(ns)),
        (Some(ns), text) => Some(format!("{} ({text})", saved(ns))),
    }
}

/// Waiting of several threads at once adds up to more than a second per second: it is then told in threads.
fn saved(ns_per_s: u64) -> String {
    match ns_per_s as f64 / 1e9 {
        threads if threads > 1.05 => format!("saves up to {threads:.1} threads' worth of waiting"),
        _ => format!("saves up to {} per second", Nanos::new(ns_per_s)),
    }
}

/// `without 127.0.0.1:7499: p50 4.2 ms instead of 365 ms, at best`.
fn what_if(without: &WhatIf) -> String {
    let WhatIf { what, count, p50_ns, p50_then_ns, p99_ns: _, p99_then_ns: _ } = without;
    let p50 = if *count > 1 { "p50 " } else { "" };
    format!("without {}: {p50}{p50_then_ns} instead of {p50_ns}, at best", what.join(" and "))
}

/// The other places of the same cause: `127.0.0.1:39626: 54 messages wait (3.2 %)`.
pub(crate) fn also(finding: &Finding) -> impl Iterator<Item = String> {
    finding.also.iter().map(|also| match also.share.filter(|share| share.is_finite()) {
        Some(share) => format!("{} ({})", also.title, percent(share)),
        None => also.title.clone(),
    })
}

/// Where in the program's own code it is; nothing where the title tells all of that.
pub(crate) fn code(finding: &Finding) -> Option<String> {
    let code = finding.code.as_ref()?;
    let tells = |name: &str| finding.title.contains(name);
    let are_told = [&code.caller, &code.within].into_iter().flatten().all(|name| tells(name));
    let is_told = tells(&code.site()) && are_told;
    (!is_told).then(|| code.words())
}

/// The findings in their order, in four groups: sources that contradict each other, causes (warning and above),
/// notices, about the capture.
pub(crate) struct Groups<'a> {
    pub(crate) disagreements: Vec<&'a Finding>,
    pub(crate) causes: Vec<&'a Finding>,
    pub(crate) notices: Vec<&'a Finding>,
    /// Notices of what costs no time.
    pub(crate) hygiene: Vec<&'a Finding>,
    pub(crate) capture: Vec<&'a Finding>,
}

/// Sorts the findings into their groups.
pub(crate) fn groups(findings: &[Finding]) -> Groups<'_> {
    let of = |wanted: &dyn Fn(&Finding) -> bool| {
        findings.iter().filter(|finding| !finding.disagreement && wanted(finding)).collect()
    };
    Groups {
        disagreements: findings.iter().filter(|finding| finding.disagreement).collect(),
        causes: of(&|one| one.severity >= Severity::Warning),
        notices: of(&|one| one.severity == Severity::Notice && !one.is_hygiene()),
        hygiene: of(&|one| one.severity == Severity::Notice && one.is_hygiene()),
        capture: of(&|one| one.severity == Severity::Capture),
    }
}

/// Rules that lack the same fact.
pub(crate) struct Lacking<'a> {
    pub(crate) missing: &'a str,
    pub(crate) supply: &'a str,
    pub(crate) rules: Vec<&'static str>,
}

/// The rules not judged, grouped by missing fact and command; the fact that most rules lack first.
pub(crate) fn lacking(not_judged: &[NotJudged]) -> Vec<Lacking<'_>> {
    let mut groups: Vec<Lacking<'_>> = Vec::new();
    for rule in not_judged {
        match groups.iter_mut().find(|group| group.missing == rule.missing && group.supply == rule.supply) {
            Some(group) => group.rules.push(rule.id),
            None => {
                groups.push(Lacking { missing: &rule.missing, supply: &rule.supply, rules: vec![rule.id] });
            }
        }
    }
    groups.sort_by_key(|group| std::cmp::Reverse(group.rules.len()));
    groups
}

/// `14 rules, for lack of data (--verbose lists them)`.
pub(crate) fn not_judged(groups: &[Lacking<'_>]) -> Option<String> {
    if groups.is_empty() {
        return None;
    }
    let rules: usize = groups.iter().map(|group| group.rules.len()).sum();
    Some(format!("{}, for lack of data (--verbose lists them)", plural(rules as u64, "rule")))
}

/// The same with all that is missing: `2 rules for lack of durations, 1 for lack of clock`.
pub(crate) fn not_judged_by_fact(groups: &[Lacking<'_>]) -> Option<String> {
    let [first, rest @ ..] = groups else { return None };
    let mut text = format!("{} for lack of {}", plural(first.rules.len() as u64, "rule"), first.missing);
    for group in rest {
        text.push_str(&format!(", {} for lack of {}", group.rules.len(), group.missing));
    }
    Some(text)
}

/// The commands that supply what is missing, each once, with the number of rules it serves.
pub(crate) fn supplies<'a>(groups: &[Lacking<'a>]) -> Vec<(&'a str, usize)> {
    let mut commands: Vec<(&str, usize)> = Vec::new();
    for group in groups {
        match commands.iter_mut().find(|(command, _)| *command == group.supply) {
            Some((_, rules)) => *rules += group.rules.len(),
            None => commands.push((group.supply, group.rules.len())),
        }
    }
    commands.retain(|(command, _)| !command.is_empty());
    commands.sort_by_key(|(_, rules)| std::cmp::Reverse(*rules));
    commands
}

/// A reader's remark with its place: `trace.st:12: …`.
pub(crate) fn note(target: &Target, note: &CaptureNote) -> String {
    let source = target.sources.iter().find(|source| source.id == note.source);
    match (source, note.line) {
        // Most readers name the place themselves.
        (Some(source), _) if note.text.starts_with(source.name.as_str()) => note.text.clone(),
        (Some(source), Some(line)) => format!("{}:{line}: {}", source_name(source), note.text),
        (Some(source), None) => format!("{}: {}", source_name(source), note.text),
        (None, Some(line)) => format!("line {line}: {}", note.text),
        (None, None) => note.text.clone(),
    }
}

/// Inputs that were passed over or are damaged: `trace.st: 3 of 1,204 lines damaged`.
pub(crate) fn damaged(target: &Target) -> Vec<String> {
    let mut remarks = Vec::new();
    for source in &target.sources {
        let mut parts = Vec::new();
        if source.kind == CaptureKind::Unknown {
            parts.push("of an unknown kind, passed over".to_string());
        }
        if source.rejects > 0 {
            parts.push(format!(
                "{} of {} damaged, not used",
                count(source.rejects),
                plural(source.lines, "line")
            ));
        }
        if source.starts_not_seen > 0 {
            parts.push(format!("{} not seen", plural(source.starts_not_seen, "call start")));
        }
        if source.ends_not_seen > 0 {
            parts.push(format!("{} not seen", plural(source.ends_not_seen, "call end")));
        }
        if !parts.is_empty() {
            remarks.push(format!("{}: {}", source_name(source), parts.join("; ")));
        }
    }
    remarks
}

/// `thread 21124 java`, with the process where it is another number.
pub(crate) fn thread_name(thread: &ThreadTime) -> String {
    let comm = thread.comm.as_deref().unwrap_or_default();
    let tid = match (thread.tid, comm) {
        (0, "") => "the traced thread".to_string(),
        (0, comm) => comm.to_string(),
        (tid, "") => format!("thread {tid}"),
        (tid, comm) => format!("thread {tid} {comm}"),
    };
    match thread.pid {
        Some(pid) if pid != thread.tid => format!("{tid} (pid {pid})"),
        _ => tid,
    }
}

/// The two windows of a comparison.
pub(crate) fn windows(diff: &Diff) -> String {
    let length =
        |window: Nanos| if window.is_known() { window.to_string() } else { "unknown length".to_string() };
    format!("before: {} · after: {}", length(diff.before_ns), length(diff.after_ns))
}

/// The changes of a comparison in the order in which they matter, with a heading and what an absent severity
/// after the change means: a finding that cannot be judged is not gone.
pub(crate) fn change_groups(diff: &Diff) -> [ChangeGroup<'_>; 4] {
    [
        ChangeGroup { heading: "New", kind: "new", absent: "none", changes: &diff.new },
        ChangeGroup { heading: "Gone", kind: "gone", absent: "none", changes: &diff.gone },
        ChangeGroup { heading: "Still there", kind: "kept", absent: "none", changes: &diff.kept },
        ChangeGroup {
            heading: "Cannot be judged after",
            kind: "unknown",
            absent: "not judged",
            changes: &diff.unknown,
        },
    ]
}

/// Findings of which the same became.
pub(crate) struct ChangeGroup<'a> {
    pub(crate) heading: &'static str,
    /// One word, for styles.
    pub(crate) kind: &'static str,
    pub(crate) absent: &'static str,
    pub(crate) changes: &'a [FindingChange],
}

/// What became of one finding: `critical 89.1 % -> none · 200,135 stat calls -> 0 · tz-stat-storm`.
pub(crate) fn change(change: &FindingChange, absent: &str) -> String {
    let side = |severity: Option<Severity>, share: Option<f64>| match (
        severity,
        share.filter(|share| share.is_finite()),
    ) {
        (None, _) => absent.to_string(),
        (Some(severity), None) => severity.word().to_string(),
        (Some(severity), Some(share)) => format!("{} {}", severity.word(), percent(share)),
    };
    let mut parts = Vec::new();
    if change.before.is_some() || change.after.is_some() {
        let (before, after) =
            (side(change.before, change.share_before), side(change.after, change.share_after));
        parts.push(format!("{before} -> {after}"));
    }
    if !change.change.is_empty() {
        parts.push(change.change.clone());
    }
    parts.push(change.id.to_string());
    parts.join(" · ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_remark_is_told_from_a_subshell() {
        assert_eq!(
            command_and_remark("strace -p 1   (the count falls)"),
            ("strace -p 1", Some("the count falls"))
        );
        assert_eq!(command_and_remark("(cd /x && make)"), ("(cd /x && make)", None));
        assert_eq!(command_and_remark("a   (b"), ("a   (b", None));
    }

    #[test]
    fn rules_that_lack_the_same_are_one_group() {
        let lacks = |id, missing: &str, supply: &str| NotJudged {
            id,
            missing: missing.into(),
            supply: supply.into(),
        };
        let rules = [
            lacks("a", "clock", "x"),
            lacks("b", "durations", "x"),
            lacks("c", "durations", "x"),
            lacks("d", "fds", "y"),
        ];
        let groups = lacking(&rules);
        assert_eq!(
            not_judged_by_fact(&groups).as_deref(),
            Some("2 rules for lack of durations, 1 for lack of clock, 1 for lack of fds")
        );
        assert_eq!(not_judged(&groups).as_deref(), Some("4 rules, for lack of data (--verbose lists them)"));
        assert_eq!(supplies(&groups), [("x", 3), ("y", 1)]);
        assert_eq!(not_judged(&[]), None);
    }
}
