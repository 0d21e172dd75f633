//! What a descriptor is that was open before the capture, and that nothing names: by how it is used, and by what is said on it.

use super::fds::{FdLife, Origin};
use super::ids::ProcessId;
use hashbrown::{HashMap, HashSet};
use memchr::memmem;
use whyslow_model::event::Tid;
use whyslow_model::{Call, Errno, FdKind, Nanos, Syscall, text};

/// The hosts that clients ask each process for. Bounded.
#[derive(Debug, Default)]
pub(super) struct AskedAs {
    hosts: HashMap<ProcessId, HashSet<Box<str>>>,
    kept: usize,
}

impl AskedAs {
    const MOST: usize = 256;

    fn has(&self, process: ProcessId, host: &str) -> bool {
        self.hosts.get(&process).is_some_and(|hosts| hosts.contains(host))
    }

    fn add(&mut self, process: ProcessId, host: &str) {
        if !self.has(process, host) && self.kept < Self::MOST {
            self.hosts.entry(process).or_default().insert(host.into());
            self.kept += 1;
        }
    }
}

/// Learns from a read or a write of a descriptor. A request of HTTP says whom it is for: who writes it is the client, on a connection to
/// that host. A proxy passes the name on that it was asked for: it names nobody.
#[inline]
pub(super) fn learn(life: &mut FdLife, asked_as: &mut AskedAs, call: &Call<'_>, bytes: u64, read: bool) {
    let is_older = life.origin == Origin::BeforeCapture;
    if is_older && life.kind == FdKind::Unknown {
        take_turn(life, call, bytes, read);
    }
    if bytes == 0 || !(life.kind == FdKind::Unknown || life.kind.is_socket()) {
        return;
    }
    if read {
        if let Some(host) = host_of_request(call.args) {
            asked_as.add(life.process, host);
        }
    } else if is_older && life.ends.is_none() && life.kind != FdKind::Unix {
        let Some(host) = host_of_request(call.args) else { return };
        life.kind = FdKind::Socket;
        if !asked_as.has(life.process, host) {
            life.ends.get_or_insert_default().peer = Some(host.into());
        }
    }
}

/// `127.0.0.1:8000` of `5, "GET /user/7 HTTP/1.1\r\nHost: 127.0.0.1:8000\r\n"..., 94`: what strace shows of a write.
fn host_of_request(args: &[u8]) -> Option<&str> {
    const HOST: &[u8] = b"\\r\\nHost: ";
    let at = memchr::memchr(b'"', args)?;
    let said = &args[at + 1..];
    let method = said.iter().take_while(|byte| byte.is_ascii_uppercase()).count();
    if method < 3 || said.get(method) != Some(&b' ') {
        return None;
    }
    let line = memmem::find(said, b" HTTP/1.")
        .filter(|end| memmem::find(said, b"\\r").is_some_and(|cr| *end < cr))?;
    let host = &said[line + memmem::find(&said[line..], HOST)? + HOST.len()..];
    let is_of_name = |byte: &&u8| byte.is_ascii_alphanumeric() || b".:-_[]".contains(byte);
    let length = host.iter().take_while(is_of_name).count();
    let ended = host[length..].starts_with(b"\\r");
    std::str::from_utf8(&host[..length]).ok().filter(|host| ended && !host.is_empty() && host.len() <= 255)
}

/// A descriptor of which nothing but reads and writes is seen, and that one thread writes to and reads in turns, each read bringing what
/// there is, or at times nothing: a pipe goes one way, and a file brings what was asked for up to its end. Where several threads use it, they may be processes, each with a
/// descriptor of that number: then more turns are asked for, of which one thread makes both halves, on a descriptor that had nothing to read at times, as
/// no file does.
fn take_turn(life: &mut FdLife, call: &Call<'_>, bytes: u64, read: bool) {
    /// So many in a row.
    const ENOUGH: u8 = 4;
    /// So many where several threads use it.
    const ENOUGH_OF_SEVERAL: u8 = 8;
    /// More threads than one.
    const SEVERAL: Tid = Tid::MAX;
    if life.reads.is_none() && life.writes.is_none() {
        life.turns_of = call.tid;
    } else if life.turns_of != call.tid {
        life.turns_of = SEVERAL;
    }
    if !read {
        life.asked_by = call.tid;
        return;
    }
    life.had_nothing |= call.errno == Errno::EAGAIN;
    let several = life.turns_of == SEVERAL;
    let answers = life.writes.is_some() && !life.last_was_read && (!several || life.asked_by == call.tid);
    if !answers || bytes == 0 {
        return;
    }
    let asked = call.args.rsplit(|byte| *byte == b',').next().and_then(text::number);
    let short = call.syscall == Syscall::READ && asked.is_some_and(|asked| asked > bytes as i64);
    // An eventfd has nothing at times, too; what is read of it are 8 bytes (eventfd(2)).
    let as_it_comes = short || call.syscall == Syscall::READ && life.had_nothing && bytes > 8;
    life.turns = if as_it_comes { life.turns.saturating_add(1) } else { 0 };
    let enough = match several {
        true => life.had_nothing && life.turns >= ENOUGH_OF_SEVERAL,
        false => life.turns >= ENOUGH,
    };
    // Standard input and output may be a terminal.
    if enough && life.fd > 2 {
        life.kind = FdKind::Socket;
    }
}

/// True for a file whose reads wait, and bring less than was asked for, and then the next one more: of a file with content the
/// first short read is the last one.
pub(super) fn is_read_as_it_comes(life: &mut FdLife, call: &Call<'_>, bytes: u64) -> bool {
    /// As many in a row: a file that grows is read so at its end, but does not wait.
    const IN_A_ROW: u8 = 3;
    /// What waits so long has waited for a device, or for a writer (as [`crate::folds::slow_files::SlowFiles::SLOW`]).
    const WAITED: Nanos = Nanos::from_millis(10);
    let asked = call.args.rsplit(|byte| *byte == b',').next().and_then(text::number);
    let short = bytes > 0 && call.syscall == Syscall::READ && asked.is_some_and(|asked| asked > bytes as i64);
    if !short {
        life.waited_short = 0;
    } else if call.dur.or_zero() >= WAITED.or_zero() {
        life.waited_short += 1;
    }
    life.waited_short >= IN_A_ROW
}

#[cfg(test)]
mod tests {
    use super::host_of_request;

    #[test]
    fn a_request_names_its_server() {
        let host = |args: &str| host_of_request(args.as_bytes()).map(str::to_string);
        let asked = r#"5, "GET /user/7 HTTP/1.1\r\nHost: 127.0.0.1:8000\r\nAccept: */*\r\n\r\n", 94"#;
        assert_eq!(host(asked).as_deref(), Some("127.0.0.1:8000"));
        let late = r#"5, "POST /a HTTP/1.1\r\nAccept: */*\r\nHost: shop.example\r\n\r\n"..., 300"#;
        assert_eq!(host(late).as_deref(), Some("shop.example"));
        for none in [
            r#"5, "GET /user/7 HTTP/1.1\r\nHost: 127.0"..., 94"#,
            r#"5, "GET /user/7 HTTP/1.1\r\nAccept: */*\r\n\r\n", 94"#,
            r#"5, "a log line\r\nof GET / HTTP/1.1\r\nHost: a\r\n", 94"#,
            r#"5, "GET key\r\nvalue HTTP/1.1\r\nHost: a\r\n", 94"#,
            "5, 0x7f00, 94",
        ] {
            assert_eq!(host(none), None, "{none}");
        }
    }
}
