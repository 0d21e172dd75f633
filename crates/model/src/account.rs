//! The account of time: where the time of what was asked about went, in rows that add up to it.

use crate::evidence::Evidence;
use crate::figures::{bytes, count, percent, plural};
use crate::ids::Tid;
use crate::live::SampleKind;
use crate::parked::ParkedAt;
use crate::time::Nanos;
use serde::Serialize;

/// What a thread does with a time, or what it waits for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum TimeState {
    /// On a CPU, in the program's own code.
    User,
    /// On a CPU, in a call.
    Kernel,
    /// On a CPU; in its own code or in a call, the capture does not tell.
    OnCpu,
    /// In a call that works; on a CPU or not, the capture does not tell.
    InCall,
    /// Outside of calls; on a CPU or waiting for one, the capture does not tell.
    BetweenCalls,
    /// Able to run, without a CPU.
    RunQueue,
    /// Able to run, and stopped because the CPU quota of its control group was used up.
    Throttled,
    /// Able to run, and without a CPU because the hypervisor gave it to others.
    Stolen,
    /// A file or a device.
    File,
    /// A page that was not in memory.
    PageFault,
    /// A lock of the kernel, in a call on nothing that has a name.
    KernelWait,
    /// The other end of a connection that it opened.
    Peer,
    /// A client, to read or to send more.
    Client,
    /// A new client.
    Accept,
    /// A pipe or FIFO.
    Pipe,
    /// A lock, a condition, a semaphore.
    Lock,
    /// A time.
    Timer,
    /// The end of a child or of a thread.
    Child,
    /// Any of several descriptors.
    Poll,
    /// A signal, an event, a person at a terminal.
    Event,
    /// Nothing tells.
    Unknown,
}

impl TimeState {
    /// The word for it, as in JSON.
    pub fn word(self) -> &'static str {
        match self {
            TimeState::User => "user",
            TimeState::Kernel => "kernel",
            TimeState::OnCpu => "on-cpu",
            TimeState::InCall => "in-call",
            TimeState::BetweenCalls => "between-calls",
            TimeState::RunQueue => "run-queue",
            TimeState::Throttled => "throttled",
            TimeState::Stolen => "stolen",
            TimeState::File => "file",
            TimeState::PageFault => "page-fault",
            TimeState::KernelWait => "kernel-wait",
            TimeState::Peer => "peer",
            TimeState::Client => "client",
            TimeState::Accept => "accept",
            TimeState::Pipe => "pipe",
            TimeState::Lock => "lock",
            TimeState::Timer => "timer",
            TimeState::Child => "child",
            TimeState::Poll => "poll",
            TimeState::Event => "event",
            TimeState::Unknown => "unknown",
        }
    }

    /// The samples that show where time of it was spent; `None` where none do.
    pub fn sampled(self) -> Option<SampleKind> {
        use TimeState::{BetweenCalls, InCall, Kernel, OnCpu, RunQueue, Stolen, Throttled, Unknown, User};
        match self {
            User | Kernel | OnCpu | InCall | BetweenCalls => Some(SampleKind::OnCpu),
            RunQueue | Stolen | Throttled | Unknown => None,
            _ => Some(SampleKind::OffCpu),
        }
    }
}

/// Whose time an account is of.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum TimeOf {
    /// The requests that were served, as far as they are kept: of each endpoint the slowest and the failed.
    Requests,
    /// A command from its start on, followed through the threads and children that its first thread waited for.
    Command,
    /// The threads, without the time in which they wait for work.
    Threads,
}

/// How well a time is known.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Known {
    /// It was measured.
    #[default]
    Exact,
    /// A wait that had not ended when the capture did.
    AtLeast,
    /// Some of it is shared out as sums are.
    InProportion,
    /// The capture tells when calls began and not how long they took: it is up to the next one.
    AtMost,
}

impl Known {
    /// The word for it, as in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Known::Exact => "exact",
            Known::AtLeast => "at-least",
            Known::InProportion => "in-proportion",
            Known::AtMost => "at-most",
        }
    }
}

/// What a finding explains of a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Claim {
    /// The rule.
    pub id: &'static str,
    /// How much, ns.
    pub ns: u64,
}

/// Who had the CPUs that threads waited for.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CpuRunner {
    /// A process, `ffmpeg (71)`, or threads of the waiting one: `own threads order-worker`.
    pub who: String,
    /// The process.
    pub pid: Option<Tid>,
    /// True for the waiting process itself.
    pub is_own: bool,
    /// How much of the waits, ns.
    pub ns: u64,
    /// The part of the account, 0 to 1.
    pub share: f64,
}

/// The device behind a file that threads wait for.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RowDevice {
    /// Its name, and where it is mounted: `vda (/srv)`.
    pub name: String,
    /// How long a request to it took on average, with its time in the queue (iostat's await); unknown where nothing tells.
    pub await_ns: Nanos,
}

impl RowDevice {
    /// `on device vda (await 4.0 ms)`.
    pub fn words(&self) -> String {
        let name = &self.name;
        match self.await_ns.is_known() {
            true => format!("on device {name} (await {})", self.await_ns),
            false => format!("on device {name}"),
        }
    }
}

/// What a thing is that threads work on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ContentOf {
    /// A file.
    File,
    /// The other end of a connection that the program opened: what it answers.
    Peer,
    /// Clients: what they send.
    Clients,
    /// A pipe or FIFO.
    Pipe,
}

/// What threads work on while they compute: something that they had read just before, again and again.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WorkedOnContent {
    /// What it is.
    pub of: ContentOf,
    /// Its path, or the address: of a peer its own, of clients the one that they ask.
    pub object: String,
    /// How much of the row follows reads of it, ns: in proportion to the time between calls.
    pub ns: u64,
    /// The part of the account, 0 to 1.
    pub share: f64,
    /// How often reading it began anew: it was opened or asked again, or the thread had waited for work.
    pub rounds: u64,
    /// Reads that brought something.
    pub reads: u64,
    /// What all reads brought, bytes.
    pub bytes: u64,
}

impl WorkedOnContent {
    /// What it is, and how often how much of it was read: `what it read of /srv/a.json (51 times, 4.1 MB each)`.
    pub fn words(&self) -> String {
        let object = &self.object;
        let what = match self.of {
            ContentOf::File => format!("what it read of {object}"),
            ContentOf::Peer => format!("what {object} sent"),
            ContentOf::Clients => format!("what clients of {object} sent"),
            ContentOf::Pipe => format!("what came through {object}"),
        };
        match self.rounds {
            0 | 1 => format!("{what} ({} in {})", bytes(self.bytes), plural(self.reads, "read")),
            rounds => format!("{what} ({} times, {} each)", count(rounds), bytes(self.bytes / rounds)),
        }
    }
}

/// A part of the time.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AccountRow {
    /// Who spends it: `4 x worker of app.py (812)`.
    pub who: String,
    /// How many threads that is.
    pub threads: u64,
    /// Of which processes, as far as their numbers are known.
    pub pids: Vec<Tid>,
    /// The thread that spends most of it, where they are threads.
    #[serde(skip)]
    pub tid: Option<Tid>,
    /// Doing what.
    pub state: TimeState,
    /// In which call; `None` outside of calls.
    pub call: Option<String>,
    /// On what: a path, an address, a lock; `None` where it has no name.
    pub object: Option<String>,
    /// The function of the program's own code that takes most of it, where samples name one.
    pub function: Option<String>,
    /// Its line that takes most: `store.py:88`.
    pub place: Option<String>,
    /// How much, ns.
    pub ns: u64,
    /// The part of the account, 0 to 1.
    pub share: f64,
    /// How many calls, or requests that spend it, or parts of the path; `None` where it is one sum.
    pub count: Option<u64>,
    /// Of those the mean; unknown where there is none.
    pub mean_ns: Nanos,
    /// The 99th percentile.
    pub p99_ns: Nanos,
    /// The longest.
    pub longest_ns: Nanos,
    /// How well it is known.
    pub known: Known,
    /// Who had the CPUs that it waited for, the most first; empty where nothing tells.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub meanwhile: Vec<CpuRunner>,
    /// Where goroutines of its process wait on no thread while its threads wait, the most telling first: counts, and no times. `function`
    /// and `place` are those of the first then, or unknown.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub goroutines: Vec<ParkedAt>,
    /// What its threads work on while they compute, the most first; empty where nothing tells.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub works_on: Vec<WorkedOnContent>,
    /// The device behind the file that it waits for; absent where nothing tells which.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device: Option<RowDevice>,
    /// The findings that explain it, the first ones first; what no finding explains is in none.
    pub claimed_by: Vec<Claim>,
    /// Where the longest is seen.
    pub evidence: Option<Evidence>,
}

/// Calls that wait for a message in a queue, and for no descriptor (mq_overview(7), sysvipc(7)).
const MESSAGES: &[&str] = &["msgrcv", "msgsnd", "mq_timedreceive", "mq_timedsend"];

impl AccountRow {
    /// Of one thread, of which no more is known than what it did and for how long, ns.
    pub fn new(who: String, state: TimeState, ns: u64) -> AccountRow {
        AccountRow {
            who,
            threads: 1,
            pids: Vec::new(),
            tid: None,
            state,
            call: None,
            object: None,
            function: None,
            place: None,
            ns,
            share: 0.0,
            count: None,
            mean_ns: Nanos::UNKNOWN,
            p99_ns: Nanos::UNKNOWN,
            longest_ns: Nanos::UNKNOWN,
            known: Known::Exact,
            meanwhile: Vec::new(),
            goroutines: Vec::new(),
            works_on: Vec::new(),
            device: None,
            claimed_by: Vec::new(),
            evidence: None,
        }
    }

    /// The function and its line, as far as they are known: `save_row (store.py:88)`.
    pub fn site(&self) -> Option<String> {
        let function = self.function.as_deref()?;
        Some(match &self.place {
            Some(place) => format!("{function} ({place})"),
            None => function.to_string(),
        })
    }

    /// Who had the CPUs that it waited for, with their parts of the account: `ffmpeg (71) 22.0 %, own threads order-worker 9.0 %`.
    pub fn ran_meanwhile(&self) -> Option<String> {
        /// Named of them.
        const MOST: usize = 3;
        /// Smaller parts are not worth a word.
        const SMALLEST: f64 = 0.005;
        let told = self.meanwhile.iter().take(MOST).filter(|one| one.share >= SMALLEST);
        let told: Vec<String> = told.map(|one| format!("{} {}", one.who, percent(one.share))).collect();
        (!told.is_empty()).then(|| told.join(", "))
    }

    /// What most of it is worked on, where that is one thing.
    pub fn works_mostly_on(&self) -> Option<&WorkedOnContent> {
        /// With less, no thing stands for the rest.
        const MOST: f64 = 0.5;
        self.works_on.first().filter(|on| on.ns as f64 >= MOST * self.ns as f64)
    }

    /// What its threads do or wait for, how often and how long: `waits for /data/x.db in fsync (2,114 times, 4.3 ms each)`.
    pub fn words(&self) -> String {
        let call = self.call.as_deref().unwrap_or("a call");
        let object = self.object.as_deref();
        let of = |word: &str| object.map_or(String::new(), |object| format!(" {word} {object}"));
        let what = |else_: &str| object.unwrap_or(else_).to_string();
        let in_call = self.call.as_ref().map_or(String::new(), |call| format!(" in {call}"));
        let text = match self.state {
            TimeState::User => match self.site() {
                Some(site) => format!("computes (most in {site})"),
                None => "computes".to_string(),
            },
            TimeState::Kernel => format!("on a CPU in {call}{}", of("of")),
            TimeState::OnCpu => "on a CPU, in its own code or in calls".to_string(),
            TimeState::InCall => format!("in {call}{}", of("of")),
            TimeState::BetweenCalls => "computes or waits for a CPU, between calls".to_string(),
            TimeState::RunQueue => "waits for a CPU".to_string(),
            TimeState::Throttled => "is stopped by its CPU quota".to_string(),
            TimeState::Stolen => "waits for a CPU that the hypervisor gave to others".to_string(),
            TimeState::File => {
                let on = self.device.as_ref().map_or(String::new(), |device| format!(" {}", device.words()));
                format!("waits for {}{in_call}{on}", what("a file"))
            }
            TimeState::PageFault => "waits for pages (page faults)".to_string(),
            TimeState::KernelWait => format!("waits inside of the kernel{in_call}"),
            TimeState::Peer => format!("waits for {}{in_call}", what("a peer")),
            TimeState::Client => format!("waits for its client{in_call}"),
            TimeState::Accept => "waits for a new client".to_string(),
            TimeState::Pipe => format!("waits for {}{in_call}", what("a pipe")),
            TimeState::Lock => format!("waits for {}{in_call}", what("a lock")),
            TimeState::Timer => format!("sleeps{in_call}"),
            TimeState::Child => match object {
                Some(child) => format!("waits for the end of {child}"),
                None => "waits for the end of a child or thread".to_string(),
            },
            TimeState::Poll if MESSAGES.contains(&call) => format!("waits for a message{in_call}"),
            TimeState::Poll => format!("waits for any of several descriptors{in_call}"),
            TimeState::Event => format!("waits for an event{in_call}{}", of("of")),
            TimeState::Unknown => "nothing tells".to_string(),
        };
        let text = match self.works_mostly_on() {
            Some(on) => {
                let part = percent(on.ns as f64 / self.ns.max(1) as f64);
                format!("{text}, {part} of it on {}", on.words())
            }
            None => text,
        };
        let text = match (self.goroutines.first(), self.site().filter(|_| self.state != TimeState::User)) {
            // That names the place.
            (Some(parked), _) => format!("{text}, while {}", parked.counted()),
            (None, Some(site)) => format!("{text}, in {site}"),
            (None, None) => text,
        };
        let bound = match self.known {
            Known::Exact => "",
            Known::AtLeast => ", not ended yet",
            Known::AtMost => ", with what came behind",
            Known::InProportion => ", in proportion",
        };
        // Of what ran, the calls' own times are of more than that.
        let of_calls = self.call.is_some() && self.state != TimeState::Kernel;
        match (self.count.filter(|_| of_calls), self.mean_ns.is_known()) {
            (Some(1), _) => format!("{text} (once, {}{bound})", Nanos::new(self.ns)),
            // What is known call by call is a sample of it.
            (Some(times), true) if self.known == Known::InProportion => {
                let (whole, sample) = (Nanos::new(self.ns), count(times));
                format!("{text} ({whole}{bound} to {sample} of {} each)", self.mean_ns)
            }
            (Some(times), true) => format!("{text} ({} times, {} each{bound})", count(times), self.mean_ns),
            _ => format!("{text} ({}{bound})", Nanos::new(self.ns)),
        }
    }

    /// The same as the rest of a sentence about a process: `is on a CPU in read of /proc/net/tcp (90 times, 11 ms each)`.
    pub fn predicate(&self) -> String {
        use TimeState::{InCall, Kernel, OnCpu};
        let is = if matches!(self.state, Kernel | OnCpu | InCall) { "is " } else { "" };
        format!("{is}{}", self.words())
    }
}

/// A part of the time of requests.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RequestPart {
    /// Doing what.
    pub state: TimeState,
    /// On what; `None` where that is not known, or has no name.
    pub object: Option<String>,
    /// How much, ns.
    pub ns: u64,
    /// The part of the requests' time, 0 to 1.
    pub share: f64,
}

/// The time of some requests.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RequestsTime {
    /// How many.
    pub count: u64,
    /// What the quickest of them took, where they are the slowest of more; else unknown.
    pub from_ns: Nanos,
    /// The time of all of them, ns: the parts add up to it.
    pub ns: u64,
    /// The mean.
    pub mean_ns: Nanos,
    /// The parts, the largest first.
    pub parts: Vec<RequestPart>,
}

impl RequestsTime {
    /// The largest parts: `peer 10.0.0.7:5432 61.0 %, between-calls 30.2 %`.
    pub fn words(&self) -> String {
        /// Named of them.
        const MOST: usize = 3;
        let part = |part: &RequestPart| {
            let object = part.object.as_deref().map_or(String::new(), |object| format!(" {object}"));
            format!("{}{object} {}", part.state.word(), percent(part.share))
        };
        self.parts.iter().take(MOST).map(part).collect::<Vec<_>>().join(", ")
    }
}

/// The time of the requests of one endpoint: that of all of them, and that of the slowest apart.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RequestTimes {
    /// What they ask for.
    pub endpoint: String,
    /// Of all: the calls of their own threads, by kind.
    pub all: RequestsTime,
    /// Of the slowest hundredth (the 99th percentile and over), as far as they are kept, followed through whom they waited for; `None`
    /// of fewer than ten.
    pub slowest: Option<RequestsTime>,
}

impl RequestTimes {
    /// `GET /a: 4,000 requests, 4.2 ms on average: peer 61.0 %; the slowest 40, 31.0 ms on average: lock 80.0 %`.
    pub fn words(&self) -> String {
        let RequestTimes { endpoint, all, slowest } = self;
        let slowest = slowest.as_ref().map_or(String::new(), |slow| {
            format!("; the slowest {}, {} on average: {}", count(slow.count), slow.mean_ns, slow.words())
        });
        let many = plural(all.count, "request");
        format!("{endpoint}: {many}, {} on average: {}{slowest}", all.mean_ns, all.words())
    }
}

/// Where the time went.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TimeAccount {
    /// Of what: the processes asked about.
    pub target: String,
    /// Whose time counts.
    pub of: TimeOf,
    /// How many requests, commands, threads.
    pub count: u64,
    /// Their time without what they waited for work, ns: the rows add up to it.
    pub ns: u64,
    /// What threads waited for work beside that, ns.
    pub idle_ns: u64,
    /// Of `ns`, what nothing tells, ns: the rows of [`TimeState::Unknown`].
    pub unknown_ns: u64,
    /// Of `ns`, what findings explain, ns.
    pub claimed_ns: u64,
    /// Whether work waited for the target meanwhile; absent where that is unknown.
    #[serde(skip_serializing_if = "crate::Demand::is_unknown")]
    pub demand: crate::Demand,
    /// Of requests: the time of all of an endpoint, and of the slowest apart, those with the most time first; empty of another account.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<RequestTimes>,
    /// The parts, the largest first.
    pub rows: Vec<AccountRow>,
}

impl TimeAccount {
    /// What requests ask for that have nearly all of their time; `None` where they differ, or where that is too long for a sentence.
    pub fn main_endpoint(&self) -> Option<&str> {
        const NEARLY_ALL: f64 = 0.8;
        const LONGEST: usize = 32;
        let all = self.requests.iter().map(|row| row.all.ns).fold(0, u64::saturating_add);
        let first = self.requests.first()?;
        let is_main = all > 0 && first.all.ns as f64 >= NEARLY_ALL * all as f64;
        (is_main && first.endpoint.chars().count() <= LONGEST).then_some(first.endpoint.as_str())
    }

    /// How much time, and whose: `4.01 s of 12 threads of nginx (731)`.
    pub fn whose(&self) -> String {
        let time = Nanos::new(self.ns);
        let target = &self.target;
        match self.of {
            TimeOf::Requests => format!("{time} of {} of {target}", plural(self.count, "request")),
            TimeOf::Command => format!("{time} from start to end: {target}"),
            TimeOf::Threads => format!("{time} of {} of {target}", plural(self.count, "thread")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{AccountRow, TimeState};

    #[test]
    fn what_a_process_does_ends_a_sentence_about_it() {
        let row = |state| AccountRow {
            call: Some("read".to_string()),
            object: Some("/proc/net/tcp".to_string()),
            ..AccountRow::new("census".to_string(), state, 1_000_000)
        };
        let said = |state| row(state).predicate();
        assert!(said(TimeState::Kernel).starts_with("is on a CPU in read of /proc/net/tcp"));
        assert!(said(TimeState::InCall).starts_with("is in read of /proc/net/tcp"));
        assert!(said(TimeState::File).starts_with("waits for /proc/net/tcp in read"));
    }
}
