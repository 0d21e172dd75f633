//! The diagnosis: the verdict, the findings and where the time went. Serialised as `whyslow.diagnosis/1`.

use crate::account::{TimeAccount, TimeState};
use crate::capture::{CaptureNote, SourceInfo};
use crate::errno::Errno;
use crate::evidence::Evidence;
use crate::figures::count;
use crate::ids::Tid;
use crate::live::{Cost, Followed};
use crate::measurement::Measurement;
use crate::share_of::ShareOf;
use crate::time::Nanos;
use crate::walk::Walk;
use serde::{Serialize, Serializer};

/// How much a finding matters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// About the capture itself, not the program.
    Capture,
    /// Worth knowing; not why it is slow.
    Notice,
    /// Costs a good part of the time.
    Warning,
    /// Costs most of the time, or breaks the service.
    Critical,
}

impl Severity {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Severity::Capture => "capture",
            Severity::Notice => "notice",
            Severity::Warning => "warning",
            Severity::Critical => "critical",
        }
    }
}

/// Of what kind of whole a share is a part.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ShareWhole {
    /// Of a time that passes while somebody waits: of threads, of requests, of a group's life.
    #[default]
    Time,
    /// Of the time on a CPU alone.
    CpuTime,
    /// Of calls, which take no time that is known.
    Calls,
}

/// What a finding is about. Only what is known is set.
#[derive(Clone, Debug, Default, Serialize, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Subject {
    /// The process.
    pub pid: Option<Tid>,
    /// The thread.
    pub tid: Option<Tid>,
    /// Its name.
    pub comm: Option<String>,
    /// The call.
    pub syscall: Option<String>,
    /// The file or pattern of files.
    pub path: Option<String>,
    /// The descriptor.
    pub fd: Option<i32>,
    /// The other end of a socket.
    pub peer: Option<String>,
    /// The address of a lock.
    pub lock: Option<String>,
    /// A function.
    pub function: Option<String>,
    /// A request's endpoint, or a command sent to a peer (`HMGET`).
    pub endpoint: Option<String>,
    /// `unknown protocol`, where requests are told by changes of direction alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol: Option<String>,
    /// A block device.
    pub device: Option<String>,
    /// A host.
    pub host: Option<String>,
    /// An error, for findings about failing calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub errno: Option<Errno>,
}

/// What a fix would save.
#[derive(Clone, Debug, Default, Serialize, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Saving {
    /// Nanoseconds a second of wall time; `None` where the window or the durations are unknown.
    pub ns_per_s: Option<u64>,
    /// In words, with the formula.
    pub text: String,
    /// How long what somebody waits for would take, where its path is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub without: Option<WhatIf>,
}

/// How long requests, or programs that serve nobody, take, and would take at best if something cost nothing.
#[derive(Clone, Debug, Serialize, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WhatIf {
    /// What would cost nothing: peers, files. As `whyslow path --without` takes it.
    pub what: Vec<String>,
    /// Requests or programs that were looked at.
    pub count: u64,
    /// Their median.
    pub p50_ns: Nanos,
    /// What it would be.
    pub p50_then_ns: Nanos,
    /// What 99 of 100 take at most.
    pub p99_ns: Nanos,
    /// What it would be.
    pub p99_then_ns: Nanos,
}

/// One more place where the same change mends the same cause.
#[derive(Clone, Debug, Serialize, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Also {
    /// The finding about it, in one line.
    pub title: String,
    /// The part of its own whole that it costs, where that is known.
    #[serde(serialize_with = "rounded")]
    pub share: Option<f64>,
    /// About what.
    pub subject: Subject,
}

/// One link of a cause chain.
#[derive(Clone, Debug, Serialize, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChainLink {
    /// `pid/tid comm`.
    pub who: String,
    /// What it waits for.
    pub waits_for: String,
    /// How long.
    pub ns: Nanos,
    /// `source:line`.
    pub evidence: String,
}

/// Who is behind a wait of the target: a process that was taken into the recording because the target waits for it, at the end of the
/// waits that lead from the target to it.
#[derive(Clone, Debug, Serialize, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Culprit {
    /// The process.
    pub pid: Tid,
    /// Its name.
    pub name: String,
    /// What it does meanwhile: `waits for /srv/orders.db in fsync (2,114 times), 90.1 % of its time`.
    pub does: String,
    /// The function of its own code in which it does that, where samples name one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
    /// Its line: `store.py:88`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// The function of its own code that calls that one most of the time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub caller: Option<String>,
    /// The line of the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub caller_place: Option<String>,
    /// The way to it: from the process of the target that waits to this one.
    pub hops: Vec<Hop>,
    /// The rule that found a cause in it, where one did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<&'static str>,
    /// What that rule found, in one line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
}

/// Where in the program's own code a finding's calls are made, or its time is spent.
#[derive(Clone, Debug, Serialize, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FindingCode {
    /// The function.
    pub function: String,
    /// Its line: `store.py:88`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// The function that calls it most of that time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub caller: Option<String>,
    /// The line of that call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub caller_place: Option<String>,
    /// The innermost function further out in which most of all that is spent alike: of helpers that many call, where their work is asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub within: Option<String>,
    /// Its line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub within_place: Option<String>,
    /// True for the function that the finding is about or that makes its calls, false for that of the time which it explains.
    #[serde(skip)]
    pub is_its_own: bool,
}

impl FindingCode {
    /// The function and its line: `put_away (billing.c:60)`.
    pub fn site(&self) -> String {
        site(Some(&self.function), self.place.as_deref()).unwrap_or_default()
    }

    /// Who calls it, and where: `serve (billing.c:87)`.
    pub fn calling(&self) -> Option<String> {
        site(self.caller.as_deref(), self.caller_place.as_deref())
    }

    /// The function further out, and where: `close_month (billing.c:120)`.
    pub fn enclosing(&self) -> Option<String> {
        site(self.within.as_deref(), self.within_place.as_deref())
    }

    /// All of them: `put_away (billing.c:60), called by serve (billing.c:87), within close_month (billing.c:120)`.
    pub fn words(&self) -> String {
        let caller = self.calling().map_or(String::new(), |caller| format!(", called by {caller}"));
        let within = self.enclosing().map_or(String::new(), |within| format!(", within {within}"));
        format!("{}{caller}{within}", self.site())
    }
}

/// A process on the way from the target to who is behind its wait. Each waits for the next one; what the last one does is its own.
#[derive(Clone, Debug, Serialize, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Hop {
    /// The process.
    pub pid: Tid,
    /// Its name.
    pub name: String,
    /// The thread that spends most of this time; `null` where none is known.
    pub tid: Option<Tid>,
    /// Its name, where it has one of its own.
    pub thread: Option<String>,
    /// How many threads do the same, with it: those of one role.
    pub threads: Option<u64>,
    /// What it does; `null` where its waits cannot be told from waits for work: an event loop waits for all at once.
    pub state: Option<TimeState>,
    /// In which call.
    pub call: Option<String>,
    /// What it waits for or works on: an address, a pipe, a lock, a file.
    pub object: Option<String>,
    /// The function of its own code.
    pub function: Option<String>,
    /// Its line.
    pub place: Option<String>,
    /// How long, in the recorded time; of who waits for a client, or for all at once, that long at most.
    pub ns: Nanos,
    /// In how many calls, or requests to the next one.
    pub count: Option<u64>,
    /// How long each took.
    pub mean_ns: Nanos,
    /// The part of the target's waiting that led here, by looks some times a second, 0 to 1.
    pub share: f64,
}

impl Hop {
    /// The function and its line, as far as they are known: `save_row (store.py:88)`.
    pub fn site(&self) -> Option<String> {
        site(self.function.as_deref(), self.place.as_deref())
    }

    /// The process and its thread: `Proxy (812), thread 840 passer and 3 more`.
    pub fn who(&self) -> String {
        let process = format!("{} ({})", self.name, self.pid);
        let more = match self.threads {
            Some(threads @ 2..) => format!(" and {} more", count(threads - 1)),
            _ => String::new(),
        };
        match (self.tid.filter(|tid| *tid != self.pid || !more.is_empty()), &self.thread) {
            (Some(tid), Some(thread)) => format!("{process}, thread {tid} {thread}{more}"),
            (Some(tid), None) => format!("{process}, thread {tid}{more}"),
            (None, _) => process,
        }
    }
}

impl Culprit {
    /// The function and its line, as far as they are known: `save_row (store.py:88)`.
    pub fn site(&self) -> Option<String> {
        site(self.function.as_deref(), self.place.as_deref())
    }

    /// Who calls it, and where.
    pub fn calling(&self) -> Option<String> {
        site(self.caller.as_deref(), self.caller_place.as_deref())
    }
}

fn site(function: Option<&str>, place: Option<&str>) -> Option<String> {
    let function = function?;
    Some(place.map_or_else(|| function.to_string(), |place| format!("{function} ({place})")))
}

/// What a rule found.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Finding {
    /// The rule.
    pub id: &'static str,
    /// One line: the smell, with its subject and main figure.
    pub title: String,
    /// How much it matters.
    pub severity: Severity,
    /// True where it says that two sources contradict each other: told before all causes.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub disagreement: bool,
    /// 0 to 1: how often a warning of this rule is the right first finding, as measured (docs/TRUTH.md), and no more than the evidence
    /// of this one allows; `None` for what names no cause (a notice, a remark about the capture), and where that was not measured.
    #[serde(serialize_with = "rounded")]
    pub confidence: Option<f64>,
    /// 0 to 1: the evidence of this finding allows no more confidence.
    #[serde(skip)]
    pub sure_at_most: f64,
    /// 0 to 1: the part of the subject's time (or, where `share_of` says so, calls) that it costs.
    #[serde(serialize_with = "rounded")]
    pub share: Option<f64>,
    /// Of what `share` is a part: `wall time of thread 512`, `calls`.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub share_of: ShareOf,
    /// Of what kind that is.
    pub share_whole: ShareWhole,
    /// The figures that the title and the cause print, with the thresholds that they passed.
    pub measurements: Vec<Measurement>,
    /// What it is a consequence of: it goes when that is mended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub follows_from: Option<FollowsFrom>,
    /// What fixing it would save.
    pub saving: Saving,
    /// About what.
    pub subject: Subject,
    /// Where else the same change mends the same cause; its time is in `share` and `saving`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<Also>,
    /// No sum of shares makes more of it: the rule knows why it matters no more.
    #[serde(skip)]
    pub at_most: Severity,
    /// Why, in two sentences.
    pub cause: String,
    /// What to change, most effective first.
    pub fix: Vec<String>,
    /// Who waits for whom.
    pub chain: Vec<ChainLink>,
    /// Who is behind it, where that is a process that was taken in for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub culprit: Option<Culprit>,
    /// Where in the program's own code it is done, where samples tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<FindingCode>,
    /// The lines that show it.
    pub evidence: Vec<Evidence>,
    /// A command that shows it with another tool.
    pub verify: String,
}

impl Finding {
    /// All that it is about: its subject, and those of the places where the same cause shows.
    pub fn subjects(&self) -> impl Iterator<Item = &Subject> {
        std::iter::once(&self.subject).chain(self.also.iter().map(|also| &also.subject))
    }
}

fn rounded<S: Serializer>(share: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
    share.map(|share| (share * 1e4).round() / 1e4).serialize(serializer)
}

/// What a finding is a consequence of.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FollowsFrom {
    /// The rule that found the cause.
    pub id: &'static str,
    /// Why the one follows from the other.
    pub reason: &'static str,
}

/// A rule that could not be judged.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NotJudged {
    /// The rule.
    pub id: &'static str,
    /// The fact that is missing.
    pub missing: String,
    /// The command that would supply it.
    pub supply: String,
}

/// What was diagnosed.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Target {
    /// `capture`, `recording` or `live`.
    pub kind: &'static str,
    /// The processes seen.
    pub processes: Vec<TargetProcess>,
    /// The start, RFC 3339 where the date is known, else the time of day; `null` without a clock.
    pub start: Option<String>,
    /// The length of the window.
    pub duration_ns: Nanos,
    /// Events used.
    pub events: u64,
    /// Events known to be lost (damaged lines, halves without the other, tracer's own losses).
    pub lost_events: u64,
    /// What the recording cost, where a recorder measured it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
    /// Processes that were taken into the recording because those above were seen to wait for them, or they for those. They are not among those above.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub followed: Vec<Followed>,
    /// The inputs.
    pub sources: Vec<SourceInfo>,
    /// Remarks about them.
    pub notes: Vec<CaptureNote>,
}

/// One process of the target.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TargetProcess {
    /// Its number; `null` where the capture shows none.
    pub pid: Option<Tid>,
    /// Its name.
    pub comm: Option<String>,
    /// Threads seen.
    pub threads: usize,
}

/// Where one thread's time went. What a capture cannot show is `null`.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ThreadTime {
    /// The process.
    pub pid: Option<Tid>,
    /// The thread.
    pub tid: Tid,
    /// Its name.
    pub comm: Option<String>,
    /// From its first to its last event.
    pub wall_ns: Nanos,
    /// On a CPU. Only a recorder sees it.
    pub on_cpu_ns: Nanos,
    /// Runnable but not running. Only a recorder sees it.
    pub runnable_ns: Nanos,
    /// Of that, because the CPU quota of its control group was used up; unknown where no quota was seen to stop it.
    pub throttled_ns: Nanos,
    /// Waiting: as the scheduler counts it in a recording, else the time in waiting calls.
    pub blocked_ns: Nanos,
    /// In calls that do work.
    pub working_ns: Nanos,
    /// Between calls: on a CPU in user mode, or runnable.
    pub between_calls_ns: Nanos,
    /// The waits, longest first.
    pub waits: Vec<WaitShare>,
}

/// Time in one kind of wait.
#[derive(Clone, Debug, Serialize, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WaitShare {
    /// `lock`, `network`, `pipe`, `timer`, `child`, `poll`, `disk`, `other`.
    pub kind: &'static str,
    /// How long.
    pub ns: Nanos,
}

/// The whole result.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Diagnosis {
    /// Always `whyslow.diagnosis/1`.
    pub schema: &'static str,
    /// One sentence about what was asked about, with one cause and its culprit: at most [`Diagnosis::MAX_VERDICT`] characters.
    pub verdict: String,
    /// What belongs beside it, in short sentences: how many causes more, what the capture lacks, whether the sources disagree, and
    /// the host where it is saturated. Empty where there is nothing to add.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub context: String,
    /// What was diagnosed.
    pub target: Target,
    /// The walk over the host, where a source tells figures of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub walk: Option<Walk>,
    /// The account of time of what was asked about; `null` where no time is known.
    pub account: Option<TimeAccount>,
    /// Where each thread's time went, the busiest first.
    pub time: Vec<ThreadTime>,
    /// The findings, the most worthwhile first.
    pub findings: Vec<Finding>,
    /// Rules that this capture cannot answer.
    pub not_judged: Vec<NotJudged>,
    /// The largest cost that no finding covers: what to look at next.
    pub remaining: Option<String>,
}

impl Finding {
    /// Rules about what costs no time: said where all is asked for, and in JSON.
    pub const HYGIENE: &[&str] = &["runs-as-root"];

    /// True for what is wrong, but makes nothing slow.
    pub fn is_hygiene(&self) -> bool {
        Finding::HYGIENE.contains(&self.id)
    }
}

impl Diagnosis {
    /// The name of the JSON schema.
    pub const SCHEMA: &'static str = "whyslow.diagnosis/1";
    /// Characters of the verdict, at most: what is read at a glance, two lines of a terminal of 80 columns.
    pub const MAX_VERDICT: usize = 120;
}
