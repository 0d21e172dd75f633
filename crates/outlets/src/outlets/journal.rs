//! `journal`: a line in the journal of systemd for each finding that opens or closes, with fields to search by. The journal's own
//! protocol (<https://systemd.io/JOURNAL_NATIVE_PROTOCOL/>): a datagram, or a sealed file of memory where one is too long.

use super::{Outlet, OutletKind, OutletSettings};
use crate::sums::{OutletCounts, OutletSums};
use crate::told::{ToldFinding, ToldWindow};
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
use rustix::io::Errno;
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, IoSlice, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixDatagram;
use std::path::PathBuf;
use std::time::Instant;
use whyslow_model::visible;

/// The outlet.
pub(super) const KIND: OutletKind = OutletKind {
    name: "journal",
    about: "a line in the journal of systemd for each finding that opens or closes",
    check: |settings| settings.journal.as_ref().map_or(Ok(()), JournalSettings::check),
    is_on: |settings| settings.journal.as_ref().is_some_and(|one| one.on),
    words: |settings| {
        let on = settings.journal.iter().filter(|one| one.on);
        on.map(|one| format!("the journal by {}", visible::path(&one.socket))).collect()
    },
    wants_stacks: |_| false,
    open: |settings: &OutletSettings, _| {
        let on = settings.journal.iter().filter(|one| one.on);
        on.map(|one| Ok(Box::new(Journal::new(one.socket.clone())) as Box<dyn Outlet>)).collect()
    },
};

/// Where the journal listens.
const SOCKET: &str = "/run/systemd/journal/socket";
/// What kind of line it is: random numbers, the same for ever (`journalctl MESSAGE_ID=…`).
const OPENED: &str = "6f1d4a8be1c94c0f9a55d3a2b7e0c811";
const CLOSED: &str = "b3c0f7de52a54be08e4d1f6a9c27d502";

/// The settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct JournalSettings {
    /// Whether lines are written.
    pub on: bool,
    /// Where the journal listens.
    pub socket: PathBuf,
}

impl Default for JournalSettings {
    fn default() -> JournalSettings {
        JournalSettings { on: false, socket: PathBuf::from(SOCKET) }
    }
}

impl JournalSettings {
    fn check(&self) -> Result<(), String> {
        if self.socket.is_absolute() {
            return Ok(());
        }
        Err(format!("socket = {}: expected a path from /", visible::path(&self.socket)))
    }
}

struct Journal {
    socket: PathBuf,
    counts: OutletCounts,
    notes: Vec<String>,
    is_away: bool,
}

impl Journal {
    fn new(socket: PathBuf) -> Journal {
        let mut journal =
            Journal { socket, counts: OutletCounts::default(), notes: Vec::new(), is_away: false };
        if !journal.socket.exists() {
            let shown = visible::path(&journal.socket);
            journal.is_away = true;
            journal.notes.push(format!("journal: {shown} is not there: no line is written until it is"));
        }
        journal
    }

    fn send(&mut self, entry: &[u8]) {
        let sent = UnixDatagram::unbound().and_then(|from| {
            // A journal that is stuck holds up nobody.
            from.set_nonblocking(true)?;
            from.connect(&self.socket)?;
            send(&from, entry)
        });
        match sent {
            Ok(()) => {
                self.counts.sent += 1;
                if std::mem::take(&mut self.is_away) {
                    self.notes.push("journal: lines are written again".to_string());
                }
            }
            Err(error) => {
                self.counts.failures += 1;
                self.counts.dropped += 1;
                if !std::mem::replace(&mut self.is_away, true) {
                    let shown = visible::path(&self.socket);
                    self.notes.push(format!("journal: {shown}: {error}: lines are lost until it is there"));
                }
            }
        }
    }
}

impl Outlet for Journal {
    fn name(&self) -> &'static str {
        KIND.name
    }

    fn take(&mut self, window: &ToldWindow, _: &OutletSums) {
        for finding in &window.findings {
            if finding.state == "open" || finding.state == "closed" {
                self.send(&entry(finding, &window.host));
            }
        }
    }

    fn counts(&self) -> OutletCounts {
        self.counts
    }

    fn notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }

    fn close(&mut self, _: Instant) {}
}

/// The fields of a line.
fn entry(finding: &ToldFinding, host: &str) -> Vec<u8> {
    let is_closed = finding.state == "closed";
    let who = finding.process.as_deref().filter(|process| *process != finding.service);
    let who = who.map_or_else(|| finding.service.clone(), |who| format!("{} ({who})", finding.service));
    let message = match is_closed {
        true => format!("{who}: over: {}", finding.title),
        false => format!("{who}: {}", finding.title),
    };
    // As syslog counts them (RFC 5424): critical, warning, notice, informational.
    let priority = match (is_closed, finding.severity.as_str()) {
        (true, _) => "6",
        (false, "critical") => "2",
        (false, "warning") => "4",
        (false, _) => "5",
    };
    let share = finding.share.map(|share| format!("{share:.4}"));
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let fields = [
        ("MESSAGE", message),
        ("MESSAGE_ID", if is_closed { CLOSED } else { OPENED }.to_string()),
        ("PRIORITY", priority.to_string()),
        ("SYSLOG_IDENTIFIER", "whyslow".to_string()),
        ("WHYSLOW_EVENT", if is_closed { "closed" } else { "opened" }.to_string()),
        ("WHYSLOW_RULE", finding.rule.clone()),
        ("WHYSLOW_FINDING", finding.finding.clone()),
        ("WHYSLOW_SEVERITY", finding.severity.clone()),
        ("WHYSLOW_HOST", host.to_string()),
        ("WHYSLOW_SERVICE", finding.service.clone()),
        ("WHYSLOW_VERSION", text(&finding.version)),
        ("WHYSLOW_PROCESS", text(&finding.process)),
        ("WHYSLOW_CULPRIT", text(&finding.culprit)),
        ("WHYSLOW_LINE", text(&finding.line)),
        ("WHYSLOW_SHARE", share.unwrap_or_default()),
        ("WHYSLOW_OPENED", crate::message::rfc3339(finding.opened)),
        ("WHYSLOW_LAST_SEEN", crate::message::rfc3339(finding.last_seen)),
        ("WHYSLOW_CAUSE", finding.cause.clone()),
        ("WHYSLOW_FIX", finding.fix.join("\n")),
        ("WHYSLOW_EVIDENCE", finding.evidence.clone()),
    ];
    let mut out = Vec::new();
    fields
        .iter()
        .filter(|(_, value)| !value.is_empty())
        .for_each(|(name, value)| field(&mut out, name, value));
    out
}

/// `NAME=value`, or, of more than one line, the name, the length as 64 bits, and the value.
fn field(out: &mut Vec<u8>, name: &str, value: &str) {
    out.extend_from_slice(name.as_bytes());
    if value.contains('\n') {
        out.push(b'\n');
        out.extend_from_slice(&(value.len() as u64).to_le_bytes());
    } else {
        out.push(b'=');
    }
    out.extend_from_slice(value.as_bytes());
    out.push(b'\n');
}

/// A datagram; one that is too long as a file that nobody can change any more.
fn send(to: &UnixDatagram, entry: &[u8]) -> io::Result<()> {
    let is_too_long = |error: &io::Error| {
        [Errno::MSGSIZE, Errno::NOBUFS].iter().any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
    };
    match to.send(entry) {
        Err(error) if is_too_long(&error) => send_file(to, &sealed(entry)?),
        sent => sent.map(drop),
    }
}

fn sealed(entry: &[u8]) -> io::Result<OwnedFd> {
    let memory = memfd_create("whyslow-journal", MemfdFlags::ALLOW_SEALING | MemfdFlags::CLOEXEC)?;
    let mut file = File::from(memory);
    file.write_all(entry)?;
    fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW | SealFlags::WRITE | SealFlags::SEAL)?;
    Ok(file.into())
}

fn send_file(to: &UnixDatagram, file: &OwnedFd) -> io::Result<()> {
    let fds = [file.as_fd()];
    let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !control.push(SendAncillaryMessage::ScmRights(&fds)) {
        return Err(io::Error::other("there is no room for a descriptor"));
    }
    sendmsg(to, &[IoSlice::new(&[])], &mut control, SendFlags::NOSIGNAL)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};
    use std::collections::BTreeMap;
    use std::io::{IoSliceMut, Read, Seek};
    use std::time::Duration;

    /// What the journal reads: fields, of a datagram or of a file.
    fn received(socket: &UnixDatagram) -> BTreeMap<String, String> {
        let mut bytes = vec![0; 1 << 20];
        let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let mut into = [IoSliceMut::new(&mut bytes)];
        let got = recvmsg(socket, &mut into, &mut control, RecvFlags::CMSG_CLOEXEC).expect("received").bytes;
        let file = control.drain().find_map(|message| match message {
            RecvAncillaryMessage::ScmRights(mut fds) => fds.next(),
            _ => None,
        });
        bytes.truncate(got);
        if let Some(file) = file {
            assert_eq!(got, 0);
            let seals = rustix::fs::fcntl_get_seals(&file).expect("seals");
            assert!(seals.contains(SealFlags::WRITE | SealFlags::SHRINK | SealFlags::GROW), "{seals:?}");
            let mut file = File::from(file);
            file.rewind().expect("rewound");
            file.read_to_end(&mut bytes).expect("read");
        }
        fields(&bytes)
    }

    fn fields(mut rest: &[u8]) -> BTreeMap<String, String> {
        let mut fields = BTreeMap::new();
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("UTF-8");
        while !rest.is_empty() {
            let end = rest.iter().position(|byte| *byte == b'\n').expect("a line");
            let line = &rest[..end];
            rest = &rest[end + 1..];
            if let Some(at) = line.iter().position(|byte| *byte == b'=') {
                fields.insert(text(&line[..at]), text(&line[at + 1..]));
                continue;
            }
            let length = u64::from_le_bytes(rest[..8].try_into().expect("eight bytes")) as usize;
            fields.insert(text(line), text(&rest[8..8 + length]));
            assert_eq!(rest[8 + length], b'\n');
            rest = &rest[9 + length..];
        }
        fields
    }

    fn finding(state: &str) -> ToldFinding {
        ToldFinding {
            finding: "00ff".into(),
            rule: "fsync-per-write".into(),
            severity: "critical".into(),
            service: "shop".into(),
            process: Some("worker".into()),
            title: "It syncs each write".into(),
            fix: vec!["one=1".into(), "two".into()],
            state: state.into(),
            opened: 60_000_000,
            ..ToldFinding::default()
        }
    }

    fn listening() -> (tempfile::TempDir, UnixDatagram, Journal) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("socket");
        let socket = UnixDatagram::bind(&path).expect("bound");
        socket.set_read_timeout(Some(Duration::from_secs(60))).expect("set");
        (folder, socket, Journal::new(path))
    }

    #[test]
    fn findings_that_open_and_close_are_lines_and_those_that_go_on_are_none() {
        let (_folder, socket, mut journal) = listening();
        assert!(journal.notes().is_empty());
        let findings = ["open", "continues", "closed"].map(finding).to_vec();
        let window = ToldWindow { host: "h1".into(), findings, ..ToldWindow::default() };
        journal.take(&window, &OutletSums::new(1));
        let opened = received(&socket);
        assert_eq!(opened["MESSAGE"], "shop (worker): It syncs each write");
        assert_eq!((opened["PRIORITY"].as_str(), opened["MESSAGE_ID"].as_str()), ("2", OPENED));
        assert_eq!(
            (opened["WHYSLOW_RULE"].as_str(), opened["WHYSLOW_HOST"].as_str()),
            ("fsync-per-write", "h1")
        );
        assert_eq!(
            (opened["WHYSLOW_FIX"].as_str(), opened["WHYSLOW_OPENED"].as_str()),
            ("one=1\ntwo", "1970-01-01T00:01:00.000000Z")
        );
        assert!(!opened.contains_key("WHYSLOW_CULPRIT"));
        let closed = received(&socket);
        assert_eq!((closed["PRIORITY"].as_str(), closed["MESSAGE_ID"].as_str()), ("6", CLOSED));
        assert_eq!(journal.counts(), OutletCounts { sent: 2, ..OutletCounts::default() });
    }

    #[test]
    fn a_long_line_goes_as_a_file() {
        let (_folder, socket, mut journal) = listening();
        let evidence = format!("\"{}\"", "x".repeat(4 << 20));
        let findings = vec![ToldFinding { evidence: evidence.clone(), ..finding("open") }];
        journal.take(&ToldWindow { findings, ..ToldWindow::default() }, &OutletSums::new(1));
        assert_eq!(journal.counts().sent, 1, "{:?}", journal.notes());
        assert_eq!(received(&socket)["WHYSLOW_EVIDENCE"], evidence);
    }

    #[test]
    fn without_a_journal_it_is_said_once_and_lines_are_counted_as_lost() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("socket");
        let mut journal = Journal::new(path.clone());
        assert!(journal.notes()[0].contains("is not there"));
        let window = ToldWindow { findings: vec![finding("open")], ..ToldWindow::default() };
        journal.take(&window, &OutletSums::new(1));
        assert_eq!((journal.counts().dropped, journal.notes().len()), (1, 0));
        let _socket = UnixDatagram::bind(&path).expect("bound");
        journal.take(&window, &OutletSums::new(1));
        assert_eq!((journal.counts().sent, journal.notes().len()), (1, 1));
    }
}
