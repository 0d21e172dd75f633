//! One window, from its spool to parts and findings. A process of its own does it, so that its memory is given back, and what goes wrong
//! costs one window. Whatever it was killed at, doing it again gives the same.

use crate::join::join_hours;
use crate::keeper::KEPT;
use crate::lives::{Lives, Told};
use crate::outbox::{Outbox, PARTS};
use crate::outcome::WindowOutcome;
use crate::own;
use crate::rows::{HostFigures, Named};
use crate::split::{ServiceFacts, Splitter};
use crate::upload::spool;
use hashbrown::HashSet;
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use whyslow_diagnose::diagnose;
use whyslow_model::{Event, Finding, Severity, Sink, SourceId, visible};
use whyslow_outlets::ToldRows;
use whyslow_parts::{
    AccountRow, AgentRow, CallRow, FindingRow, HostRow, MinuteRows, Observed, PartAbout, PartError, PartHour,
    PartName, PartRow, RequestRow, StackRow, UseRow, UtcTime, encode,
};
use whyslow_privacy::files;
use whyslow_record::Recorded;

/// What the rows of the host itself have for a service.
pub(crate) const HOST_SERVICE: &str = "host";
/// The spool, the samples of the host, and what is known of the window, in its folder.
pub(crate) const SPOOL: &str = "spool";
pub(crate) const SAMPLES: &str = "host";
const ABOUT: &str = "about.json";
/// Where findings live, in the folder of state.
const FINDINGS: &str = "findings.json";
/// A service that made fewer calls in a window, and was on no CPU when samples were taken, did nothing that could be judged.
const FEWEST_CALLS: u64 = 20;

/// What who recorded a window knows of it.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub(crate) struct WindowAbout {
    /// The begin of the minute (of the window, where windows are shorter), us since 1970.
    pub(crate) start: i64,
    /// How much of it was observed, seconds.
    pub(crate) seconds: f64,
    /// Its begin as observed, ns since 1970.
    pub(crate) began: u64,
    pub(crate) host: String,
    /// Of the parts' names.
    pub(crate) id: String,
    pub(crate) recorder: u32,
    pub(crate) severity: String,
    pub(crate) close_after: u32,
    /// Bytes of parts that may wait.
    pub(crate) disk: u64,
    /// The agent's own row.
    pub(crate) kernel: String,
    pub(crate) mode: String,
    pub(crate) cpu_share: f64,
    pub(crate) memory_bytes: u64,
    pub(crate) events: u64,
    pub(crate) lost: u64,
    pub(crate) shed: Option<String>,
    /// Names of the recordings that the ring kept since the window before.
    pub(crate) kept: Vec<String>,
    /// Parts are uploaded: those of hours that are over are joined for it.
    pub(crate) uploads: bool,
    /// How far our clock is ahead of the store's, ns.
    pub(crate) clock_skew_ns: Option<i64>,
}

impl WindowAbout {
    /// Which window of which run it is.
    fn key(&self) -> String {
        format!("{}@{}", self.id, self.start)
    }

    /// What the agent says of itself in it.
    fn row(&self, parts_waiting: u64) -> AgentRow {
        AgentRow {
            version: env!("CARGO_PKG_VERSION").to_string(),
            kernel: self.kernel.clone(),
            mode: self.mode.clone(),
            cpu_share: Some(self.cpu_share),
            memory_bytes: Some(self.memory_bytes),
            events: Some(self.events),
            lost: Some(self.lost),
            shed: self.shed.clone(),
            clock_skew_ns: self.clock_skew_ns,
            parts_waiting: Some(parts_waiting),
        }
    }

    pub(crate) fn write(&self, folder: &Path) -> std::io::Result<()> {
        let text = serde_json::to_vec(self).map_err(std::io::Error::other)?;
        files::write(&folder.join(ABOUT), &text)
    }

    /// `None` where the window did not end.
    pub(crate) fn read(folder: &Path) -> Option<WindowAbout> {
        serde_json::from_slice(&std::fs::read(folder.join(ABOUT)).ok()?).ok()
    }
}

/// Why a window could not be told.
#[derive(thiserror::Error, Debug)]
pub enum WindowError {
    /// It is none.
    #[error("{}: no window that has ended", visible::path(.0))]
    NotThere(PathBuf),
    /// The spool cannot be read.
    #[error(transparent)]
    Record(#[from] whyslow_record::RecordError),
    /// A part cannot be made.
    #[error(transparent)]
    Part(#[from] PartError),
    /// Something cannot be written.
    #[error("{}: cannot be written: {source}\nnext: {}", visible::path(path), room(source))]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

fn room(source: &std::io::Error) -> &'static str {
    match source.kind() {
        std::io::ErrorKind::StorageFull => {
            "make room on that disk, or set `state` to another one; `disk` bounds what the agent keeps"
        }
        _ => "whyslow agent check",
    }
}

/// Tells the window in `folder`, which is below `state`, and removes it.
///
/// # Errors
/// Where it is none that has ended, or the parts or findings cannot be written. It stays then.
pub fn tell_window(state: &Path, folder: &Path) -> Result<WindowOutcome, WindowError> {
    // What a killed agent began may still be told, while the next one begins to tell the same.
    let lock = std::fs::File::open(state)
        .and_then(|state| Ok(flock(&state, FlockOperation::LockExclusive).map(|()| state)?));
    let _lock = lock.map_err(|source| WindowError::Write { path: state.into(), source })?;
    if !folder.exists() {
        return Ok(WindowOutcome::default());
    }
    let about = WindowAbout::read(folder).ok_or_else(|| WindowError::NotThere(folder.into()))?;
    let findings_path = state.join(FINDINGS);
    let (mut lives, damaged) = Lives::read(&findings_path);
    let mut outcome = WindowOutcome { start: about.start, ..WindowOutcome::default() };
    outcome.notes.extend(damaged.map(|why| format!("{why}; all findings open anew")));
    let key = about.key();
    if !lives.has(&key) {
        let Read { mut told, findings, observed } = read(folder, &about)?;
        told.findings = lives.take(
            &about.host,
            (about.start, key),
            findings,
            |service| observed.contains(service) || service == HOST_SERVICE,
            about.close_after,
        );
        name_recordings(state, &about, &mut told.findings, &mut outcome);
        for row in &told.findings {
            outcome.findings[["open", "continues", "closed"]
                .iter()
                .position(|state| *state == row.state)
                .unwrap_or(0)] += 1;
        }
        outcome.services = observed.len();
        let outbox = Outbox::at(state.join(PARTS));
        let uploading = if about.uploads { spool(state, about.disk).ok() } else { None };
        let for_store = uploading.map_or(0, |spool| spool.state().waiting);
        let waits = outbox.keep_within(about.disk).0.parts + for_store;
        let agent = about.row(waits);
        let mut put = Put { outbox: &outbox, about: &about, rows: 0 };
        put.table(&told.accounts)?;
        put.table(&told.calls)?;
        put.table(&told.uses)?;
        put.table(&told.requests)?;
        put.table(&told.stacks)?;
        put.table(&told.hosts)?;
        put.table(&told.findings)?;
        put.table(std::slice::from_ref(&agent))?;
        outcome.rows = put.rows;
        let said = ToldRows {
            host: &about.host,
            start: about.start,
            seconds: about.seconds,
            accounts: &told.accounts,
            calls: &told.calls,
            requests: &told.requests,
            stacks: &told.stacks,
            hosts: &told.hosts,
            findings: &told.findings,
            open: &lives.rows(),
            agent: &agent,
        };
        // What outlets miss is no reason to lose the window.
        let handed = whyslow_outlets::hand_over(state, &about.id, &said);
        outcome.notes.extend(handed.err().map(|error| error.to_string()));
        // Last of all: what was written is written again the same where it was not reached.
        lives.write(&findings_path).map_err(|source| WindowError::Write { path: findings_path, source })?;
    }
    if about.uploads {
        hand_over(state, PartHour::of(UtcTime(about.start)).map(|(hour, _)| hour), about.disk, &mut outcome);
    }
    let (left, removed) = Outbox::at(state.join(PARTS)).keep_within(about.disk);
    (outcome.cpu_ms, outcome.memory) = own::whole();
    outcome.open = lives.len();
    outcome.waiting = (left.parts, left.bytes);
    outcome.removed = (removed.parts, removed.bytes);
    std::fs::remove_dir_all(folder).map_err(|source| WindowError::Write { path: folder.into(), source })?;
    Ok(outcome)
}

/// Findings that are open say where the recording lies that the ring kept in their window: it is of all services.
fn name_recordings(
    state: &Path,
    about: &WindowAbout,
    findings: &mut [FindingRow],
    outcome: &mut WindowOutcome,
) {
    let Some(newest) = about.kept.last() else { return };
    let dump = state.join(KEPT).join(newest).to_string_lossy().into_owned();
    for row in findings.iter_mut().filter(|row| row.state != "closed") {
        row.dump = Some(dump.clone());
        outcome.found.push(row.finding.clone());
    }
    outcome.kept.clone_from(&about.kept);
}

/// Joins the parts of hours before `until` (of all, where there is none) for the store, within the bound of bytes for all that waits. What
/// cannot be done now is noted, and done with the next window.
pub(crate) fn hand_over(state: &Path, until: Option<PartHour>, disk: u64, outcome: &mut WindowOutcome) {
    let outbox = Outbox::at(state.join(PARTS));
    let minutes = outbox.keep_within(disk).0.bytes;
    let joined = spool(state, disk.saturating_sub(minutes)).and_then(|spool| {
        let joined = join_hours(&outbox, &spool, until);
        spool.look_again()?;
        joined
    });
    match joined {
        Ok(joined) => {
            outcome.joined = (joined.sources, joined.made);
            outcome.notes.extend(joined.notes);
        }
        Err(error) => outcome.notes.push(error.to_string()),
    }
}

/// Puts the rows of a window into parts.
struct Put<'a> {
    outbox: &'a Outbox,
    about: &'a WindowAbout,
    rows: usize,
}

impl Put<'_> {
    fn table<R: PartRow>(&mut self, rows: &[R]) -> Result<(), WindowError> {
        if rows.is_empty() {
            return Ok(());
        }
        let WindowAbout { start, seconds, host, id, .. } = self.about;
        let observed = Observed { host: host.clone(), start: UtcTime(*start), seconds: *seconds };
        let mut gathered = MinuteRows::<R>::new();
        rows.iter().for_each(|row| gathered.push(&observed, row));
        let table = R::table();
        let agent = PartAbout::new(env!("CARGO_PKG_VERSION"));
        let bytes = encode(table, &[gathered.finish()?], &agent)?;
        let path = PartName::of_minute(table, host, UtcTime(*start), id)?.path();
        self.rows += rows.len();
        self.outbox.put(&path, &bytes).map_err(|source| WindowError::Write { path: path.into(), source })
    }
}

/// What a window tells: rows as they are stored, of all services that did something in it. Texts in it have no secrets.
#[derive(Clone, Debug, Default)]
pub struct ToldWindow {
    /// The host.
    pub host: String,
    /// When the window begins, us since 1970; of windows of a minute the begin of the minute.
    pub start: i64,
    /// How much of it was observed, seconds.
    pub seconds: f64,
    /// Where the time of threads went.
    pub accounts: Vec<AccountRow>,
    /// Calls.
    pub calls: Vec<CallRow>,
    /// What was done with files and services.
    pub uses: Vec<UseRow>,
    /// Requests that were served and made.
    pub requests: Vec<RequestRow>,
    /// Where threads ran and waited.
    pub stacks: Vec<StackRow>,
    /// The host's figures.
    pub hosts: Vec<HostRow>,
    /// Findings that opened, continue and closed.
    pub findings: Vec<FindingRow>,
}

/// What was read of a window.
struct Read {
    told: ToldWindow,
    findings: Vec<Told>,
    observed: HashSet<String>,
}

fn read(folder: &Path, about: &WindowAbout) -> Result<Read, WindowError> {
    let mut told = ToldWindow {
        host: about.host.clone(),
        start: about.start,
        seconds: about.seconds,
        ..ToldWindow::default()
    };
    let (mut findings, mut observed) = (Vec::new(), HashSet::new());
    let mut split = Splitter::new(about.recorder);
    let mut figures = HostFigures::default();
    let samples = folder.join(SAMPLES);
    if whyslow_store::is_recording(&samples) {
        let mut take = |event: Event<'_>| {
            figures.see(&event);
            // The small recording's own source and notes are none of the window's.
            if matches!(event, Event::Figures(_)) {
                split.push(event);
            }
        };
        // Without them the rest is told.
        let _ = whyslow_store::read(&samples, SourceId::default(), &mut take, &mut |_, _| {});
    }
    let recorded = Recorded::recover(&folder.join(SPOOL))?;
    recorded.replay("the window", SourceId::default(), &mut split)?;
    drop(recorded);
    let (services, host) = split.finish();
    told.hosts = figures.rows();
    let least = severity(&about.severity);
    let of_host = diagnose(&host).findings;
    let kept = |finding: &&Finding| finding.severity >= least && finding.severity > Severity::Capture;
    findings.extend(
        of_host
            .iter()
            .filter(kept)
            .map(|finding| Told::of(finding, HOST_SERVICE, None, finding.subject.comm.clone())),
    );
    for service in services {
        if is_idle(&service) {
            continue;
        }
        let named = Named::new(&service);
        let diagnosis = diagnose(&service.facts);
        if let Some(account) = &diagnosis.account {
            told.accounts.extend(named.accounts(account));
        }
        told.calls.extend(named.calls());
        told.uses.extend(named.uses());
        told.requests.extend(named.requests());
        told.stacks.extend(named.stacks());
        // What is of the host is told of it once.
        let is_hosts =
            |one: &Finding| of_host.iter().any(|other| other.id == one.id && other.subject == one.subject);
        let own = diagnosis.findings.iter().filter(kept).filter(|finding| !is_hosts(finding));
        findings.extend(own.map(|finding| {
            let process = finding
                .subject
                .pid
                .and_then(|pid| service.processes.get(&pid))
                .or(finding.subject.comm.as_ref());
            Told::of(finding, &service.name, named.version.clone(), process.cloned())
        }));
        observed.insert(service.name.clone());
    }
    Ok(Read { told, findings, observed })
}

/// True for one that did nothing worth a row.
fn is_idle(service: &ServiceFacts) -> bool {
    let facts = &service.facts;
    let calls = facts.world.calls.saturating_add(facts.world.counted);
    calls < FEWEST_CALLS && facts.samples.is_empty(whyslow_model::SampleKind::OnCpu)
}

fn severity(word: &str) -> Severity {
    [Severity::Notice, Severity::Warning, Severity::Critical]
        .into_iter()
        .find(|severity| severity.word() == word)
        .unwrap_or(Severity::Warning)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_of_a_window_is_read_back_and_without_it_there_is_none() {
        let folder = tempfile::tempdir().expect("a folder");
        assert!(matches!(tell_window(folder.path(), folder.path()), Err(WindowError::NotThere(_))));
        let about = WindowAbout {
            start: 60_000_000,
            seconds: 59.5,
            began: 60_500_000_000,
            host: "h".into(),
            id: "abcd".into(),
            recorder: 7,
            severity: "warning".into(),
            close_after: 3,
            disk: 1 << 20,
            kernel: "6.1".into(),
            mode: "counts".into(),
            cpu_share: 0.01,
            memory_bytes: 5,
            events: 6,
            lost: 0,
            shed: None,
            kept: vec!["h-request.whyslow".into()],
            uploads: true,
            clock_skew_ns: None,
        };
        about.write(folder.path()).expect("written");
        assert_eq!(WindowAbout::read(folder.path()), Some(about));
        // It has no spool: that is an error, and it stays.
        let window = tell_window(folder.path(), folder.path());
        assert!(matches!(window, Err(WindowError::Record(_))) && folder.path().exists());
    }
}
