//! The rule engine: what a rule is, and its three answers (fired, quiet, not judged).

use crate::gate;
use crate::guards::{self, Share};
pub use crate::needs::Need;
use crate::together::{Least, Together};
use whyslow_facts::{Exemplar, Facts};
use whyslow_model::{
    Entity, Evidence, Finding, Measurement, Metric, Nanos, NotJudged, Saving, Severity, Subject, Tid,
    TimeAccount, TimeState,
};

/// One root cause that can be recognised.
pub struct Rule {
    /// Names the smell, not the cure: `tz-stat-storm`.
    pub id: &'static str,
    /// The folder it lives in.
    pub group: &'static str,
    /// One line, lower case.
    pub summary: &'static str,
    /// The source of its file, whose `//!` head is the essay. See [`Rule::essay`].
    pub source: &'static str,
    /// Facts without which it cannot judge.
    pub needs: &'static [Need],
    /// Looks at the facts.
    pub check: fn(&Facts, &mut Findings<'_>),
}

impl Rule {
    /// The essay: what it is, why it is slow, an example, what to do instead, when it is wrong. Markdown.
    pub fn essay(&self) -> String {
        let lines = self.source.lines().take_while(|line| line.starts_with("//!"));
        lines
            .map(|line| line.trim_start_matches("//!").strip_prefix(' ').unwrap_or("").to_string() + "\n")
            .collect()
    }

    /// Of a rule about what no other finding explains: the states that it is about.
    pub fn unclaimed_states(&self) -> Option<&'static [TimeState]> {
        self.needs.iter().find_map(|need| match need {
            Need::Unclaimed(states) => Some(*states),
            _ => None,
        })
    }
}

/// Who a finding is about, filled from a thread number.
pub struct Subjects;

impl Subjects {
    /// `thread 514 worker`, as far as known.
    pub fn words(subject: &Subject) -> String {
        let tid = subject.tid.map_or("?".to_string(), |tid| tid.to_string());
        subject.comm.as_ref().map_or(format!("thread {tid}"), |comm| format!("thread {tid} {comm}"))
    }

    /// The process, thread and name of `tid`.
    pub fn thread(facts: &Facts, tid: u32) -> Subject {
        let thread = facts.world.threads.iter().map(|(_, thread)| thread).find(|thread| thread.tid == tid);
        let process = thread.map(|thread| facts.world.threads.process(thread.process));
        Subject {
            pid: process.and_then(|process| process.pid),
            tid: (tid != 0).then_some(tid),
            comm: thread
                .and_then(|thread| thread.comm.as_deref())
                .or_else(|| process.and_then(|process| process.name()))
                .map(str::to_string),
            ..Subject::default()
        }
    }
}

/// Collects what one rule finds.
pub struct Findings<'a> {
    facts: &'a Facts,
    account: Option<&'a TimeAccount>,
    rule: &'static Rule,
    found: Together<'a>,
    /// What was filed, before it was joined.
    titles: Vec<String>,
    not_judged: Vec<NotJudged>,
}

impl<'a> Findings<'a> {
    /// What `rule` finds, or why it cannot judge.
    pub fn of(rule: &'static Rule, facts: &'a Facts) -> (Vec<Finding>, Vec<NotJudged>) {
        Self::beside(rule, facts, None)
    }

    /// The same, with an account of the time in which other findings have claimed what they explain.
    pub fn beside(
        rule: &'static Rule,
        facts: &'a Facts,
        account: Option<&'a TimeAccount>,
    ) -> (Vec<Finding>, Vec<NotJudged>) {
        // What is left of the time is told row by row.
        let joins = rule.unclaimed_states().is_none();
        let found = Together::new(facts, joins, ["network", "waits"].contains(&rule.group));
        let mut out = Findings { facts, account, rule, found, titles: Vec::new(), not_judged: Vec::new() };
        let mut findings = Vec::new();
        let is_there = |need: &Need| account.is_some() && matches!(need, Need::Unclaimed(_));
        match rule.needs.iter().filter(|need| !is_there(need)).find_map(|need| need.missing(facts)) {
            Some((missing, supply)) => out.not_judged(missing, supply),
            None => {
                gate::begin(rule.id);
                (rule.check)(facts, &mut out);
                findings = out.found.finish();
                gate::end(out.titles.iter().map(String::as_str));
            }
        }
        (findings, out.not_judged)
    }

    /// What is known.
    pub(crate) fn facts(&self) -> &'a Facts {
        self.facts
    }

    /// The account of the time, with what other findings claim.
    pub(crate) fn account(&self) -> Option<&'a TimeAccount> {
        self.account
    }

    /// The states that the rule is about.
    pub(crate) fn states(&self) -> Option<&'static [TimeState]> {
        self.rule.unclaimed_states()
    }

    /// Starts a finding of the rule that is being checked. Nothing is reported before [`Report::file`].
    pub fn report(&mut self, share: Share, title: impl Into<String>) -> Report<'_, 'a> {
        let severity = share.severity();
        let finding = Finding {
            id: self.rule.id,
            title: title.into(),
            severity,
            disagreement: false,
            confidence: None,
            sure_at_most: 1.0,
            share: share.value,
            share_whole: share.whole,
            share_of: share.of,
            measurements: Vec::new(),
            follows_from: None,
            saving: Saving::default(),
            subject: Subject::default(),
            also: Vec::new(),
            at_most: Severity::Critical,
            cause: String::new(),
            fix: Vec::new(),
            chain: Vec::new(),
            culprit: None,
            code: None,
            evidence: Vec::new(),
            verify: String::new(),
        };
        Report { findings: self, finding, least: Least::default() }
    }

    /// A finding about the capture itself.
    pub fn capture(&mut self, title: impl Into<String>) -> Report<'_, 'a> {
        let mut report = self.report(Share::unknown(), title);
        report.finding.severity = Severity::Capture;
        report
    }

    /// Two sources contradict each other: told before all causes, because a cause may rest on the wrong one.
    pub fn disagreement(&mut self, title: impl Into<String>) -> Report<'_, 'a> {
        let mut report = self.capture(title);
        report.finding.disagreement = true;
        report
    }

    /// Keeps what was filed and is about the target.
    fn keep(&mut self, finding: Finding, least: Least) {
        self.titles.push(finding.title.clone());
        let asks = self.facts.capture.is_recording() && self.rule.unclaimed_states().is_none();
        if !asks || is_of_target(self.facts, finding.subject.pid) {
            self.found.add(finding, least);
        }
    }

    /// The rule cannot judge: `missing` names the fact, `supply` the command that would supply it.
    pub fn not_judged(&mut self, missing: impl Into<String>, supply: impl Into<String>) {
        self.not_judged.push(NotJudged { id: self.rule.id, missing: missing.into(), supply: supply.into() });
    }
}

/// True for what is about the processes recorded, or about none: of programs that were asked about, what the host's metrics say of
/// another process is no finding. A recording of all has them all.
fn is_of_target(facts: &Facts, pid: Option<Tid>) -> bool {
    let threads = &facts.world.threads;
    let is_recorded = |pid| threads.last_process(pid).is_some() || threads.thread_of(pid).is_some();
    threads.processes().next().is_none() || pid.is_none_or(is_recorded)
}

/// A finding being written.
#[must_use = "a finding counts only once it is filed"]
pub struct Report<'f, 'a> {
    findings: &'f mut Findings<'a>,
    finding: Finding,
    /// What all places of its cause have to cost together.
    least: Least,
}

impl Report<'_, '_> {
    /// About what.
    pub fn subject(mut self, subject: Subject) -> Self {
        self.finding.subject = subject;
        self
    }
    /// Why, in two sentences.
    pub fn cause(mut self, cause: impl Into<String>) -> Self {
        self.finding.cause = cause.into();
        self
    }
    /// What to change, most effective first; call it once a step.
    pub fn fix(mut self, step: impl Into<String>) -> Self {
        self.finding.fix.push(step.into());
        self
    }
    /// A command that shows it with another tool.
    pub fn verify(mut self, command: impl Into<String>) -> Self {
        self.finding.verify = command.into();
        self
    }
    /// Puts our own command before another tool's, where the process is known: it shows the same, without a tracer's cost.
    fn verify_by_own(&mut self) {
        let (view, verify) = (own_view(self.findings.rule.group), &self.finding.verify);
        if let (Some(view), Some(pid)) = (view, self.finding.subject.pid)
            && !verify.is_empty()
            && !verify.contains("whyslow ")
        {
            self.finding.verify = format!("whyslow {view} -p {pid} -d 10s\n{verify}");
        }
    }
    /// How sure the evidence of this finding is, 0 to 1. Below [`guards::SURE_ENOUGH`] its confidence is no more than this, however often
    /// the rule is right.
    pub fn confidence(mut self, sure: f64) -> Self {
        if sure < guards::SURE_ENOUGH {
            self.finding.sure_at_most = self.finding.sure_at_most.min(sure);
        }
        self
    }
    /// The finding is one of another rule, which is about the same thing and names the cause.
    pub(crate) fn under(mut self, rule: &'static str) -> Self {
        self.finding.id = rule;
        self
    }
    /// A figure that the title or the cause prints, with its threshold.
    pub fn measured(mut self, figure: Measurement) -> Self {
        self.finding.measurements.retain(|known| known.name != figure.name);
        self.finding.measurements.push(figure);
        self
    }
    /// Several of them.
    pub fn measured_all(mut self, figures: impl IntoIterator<Item = Measurement>) -> Self {
        for figure in figures {
            self = self.measured(figure);
        }
        self
    }
    /// At most this severity, whatever the share.
    pub fn at_most(mut self, severity: Severity) -> Self {
        self.finding.severity = self.finding.severity.min(severity);
        self.finding.at_most = self.finding.at_most.min(severity);
        self
    }
    /// It is told only where all places of the cause cost this part together ([`crate::together`]): one of them alone may cost less.
    pub fn from_together(mut self, least: f64) -> Self {
        self.least.to_be_told = Some(least);
        self
    }
    /// It is no more than a notice where all places of the cause cost less than this part together.
    pub fn notice_below_together(mut self, least: f64) -> Self {
        self.least.to_warn = least;
        self
    }
    /// At least this severity, whatever the share: for what breaks a service outright.
    pub fn at_least(mut self, severity: Severity) -> Self {
        self.finding.severity = self.finding.severity.max(severity);
        self
    }
    /// A line that shows it.
    pub fn evidence(mut self, exemplar: Option<&Exemplar>) -> Self {
        if let Some(exemplar) = exemplar {
            let line = self.findings.facts.evidence(exemplar);
            if !self.finding.evidence.contains(&line) {
                self.finding.evidence.push(line);
            }
        }
        self
    }
    /// Several lines that show it.
    pub fn evidence_all<'e>(mut self, exemplars: impl IntoIterator<Item = &'e Exemplar>) -> Self {
        for exemplar in exemplars {
            self = self.evidence(Some(exemplar));
        }
        self
    }
    /// A line that is no exemplar of a call: a row of a table, of lsof.
    pub fn evidence_line(mut self, source: impl Into<String>, text: impl Into<String>) -> Self {
        self.finding.evidence.push(Evidence { source: source.into(), text: text.into() });
        self
    }
    /// Lines that another part of the diagnosis stands on.
    pub fn evidence_lines(mut self, lines: impl IntoIterator<Item = Evidence>) -> Self {
        self.finding.evidence.extend(lines);
        self
    }
    /// The lines on which the host's figures of that thing stand.
    pub fn evidence_of(mut self, of: &Entity, metrics: &[Metric]) -> Self {
        for line in self.findings.facts.host_lines(of, metrics) {
            if !self.finding.evidence.contains(&line) {
                self.finding.evidence.push(line);
            }
        }
        self
    }
    /// What removing `total` from the window saves.
    pub fn saving(mut self, total: Nanos) -> Self {
        let window = self.findings.facts.window.length();
        if let (Some(total_ns), Some(window_ns)) = (total.get(), window.get())
            && window_ns > 0
        {
            self.finding.saving = Saving {
                ns_per_s: Some((total_ns as u128 * 1_000_000_000 / window_ns as u128) as u64),
                text: format!("{total} in a window of {window}"),
                without: None,
            };
        }
        self
    }
    /// What is saved, where time cannot tell it.
    pub fn saving_text(mut self, text: impl Into<String>) -> Self {
        self.finding.saving.text = text.into();
        self
    }
    /// One link of the chain of causes.
    pub fn link(mut self, link: whyslow_model::ChainLink) -> Self {
        self.finding.chain.push(link);
        self
    }
    /// Files the finding.
    pub fn file(mut self) {
        self.verify_by_own();
        let rests_on_times = self.findings.rule.needs.iter().any(|need| need.is_of_times());
        if rests_on_times && self.findings.facts.capture.has_bounds() && !self.finding.cause.is_empty() {
            self.finding.cause += " The log states no durations: a time is that to the next line, at most.";
        }
        if let Some(share) = self.findings.facts.missing_calls() {
            self.finding.sure_at_most = self.finding.sure_at_most.min(guards::LOST_CONFIDENCE);
            let of_calls = self.findings.rule.needs.iter().any(|need| need.is_of_calls());
            if of_calls && self.finding.severity != Severity::Capture {
                let missing = Measurement::share("missing_calls", share);
                self.finding.title += &format!(" (at least: {missing} of the calls are missing)");
                self.finding.measurements.push(missing);
            }
        }
        self.findings.keep(self.finding, self.least);
    }
}

/// The view that shows what rules of a group are about.
fn own_view(group: &str) -> Option<&'static str> {
    Some(match group {
        "files" | "io" | "logs" => "files",
        "network" => "peers",
        "waits" | "cpu" | "process" => "threads",
        "memory" => "account",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::{is_of_target, own_view};
    use crate::RULES;
    use whyslow_facts::Facts;
    use whyslow_model::{Call, Event, Ret, Sink};

    #[test]
    fn a_finding_about_a_process_that_was_not_recorded_is_none_of_the_target() {
        let mut facts = Facts::default();
        assert!(is_of_target(&facts, Some(8)), "nobody was asked about");
        let call = Call { tid: 7, ret: Ret::Value(0), ..Call::new("getpid", "") };
        facts.push(Event::Call(&call));
        facts.finish();
        assert!(is_of_target(&facts, Some(7)) && is_of_target(&facts, None));
        assert!(!is_of_target(&facts, Some(8)));
    }

    #[test]
    fn findings_about_programs_have_a_view_of_ours() {
        let without = ["capture", "contradictions", "profile", "general"];
        for rule in RULES {
            assert_eq!(own_view(rule.group).is_none(), without.contains(&rule.group), "{}", rule.group);
        }
    }
}
