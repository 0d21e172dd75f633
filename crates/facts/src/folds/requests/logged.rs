//! Requests that an access log tells of: the same rows as those seen on sockets, under a protocol of their own name, so
//! that a log and a trace of one server do not count a request twice.

use super::endpoints::{peer_row, row};
use super::record::{Downstream, Ending, RequestRecord, Side};
use super::{EndpointId, Requests};
use crate::exemplar::Exemplar;
use crate::window::Window;
use crate::world::ids::LifeId;
use crate::world::ids::ProcessId;
use std::sync::Arc;
use whyslow_model::{Logged, Nanos, Timestamp, Upstream};
use whyslow_wire::text::{route_template, without_tokens};
use whyslow_wire::{MAX_TEXT, Status};

/// The protocol of what a log tells: HTTP of whatever version.
pub const LOGGED: &str = "HTTP (log)";
/// The endpoint of a server behind: what it was asked for is not in the log.
const BEHIND: &str = "the server behind";
/// The endpoint of lines that show no request.
const MALFORMED: &str = "(no valid request)";

/// What logs told.
#[derive(Debug, Default)]
pub struct LogFacts {
    /// Lines.
    pub count: u64,
    /// Lines that show how long the request took.
    pub timed: u64,
    /// Lines whose time is known to whole seconds only.
    pub whole_seconds: u64,
    /// From the first line's time to the last's.
    pub window: Window,
}

impl Requests {
    /// What logs told.
    pub fn of_logs(&self) -> &LogFacts {
        &self.log
    }

    /// True where a log tells of servers that were asked for its requests.
    pub fn names_servers_behind(&self) -> bool {
        self.endpoints.rows().iter().any(|row| row.side == Side::Client && row.protocol == Some(LOGGED))
    }

    /// Takes a line of a log in. `process` is that which served it, if the log tells.
    pub(crate) fn logged(&mut self, line: &Logged<'_>, process: Option<ProcessId>) {
        self.count += 1;
        self.log.count += 1;
        self.log.timed += u64::from(line.dur.is_known());
        self.log.whole_seconds += u64::from(line.whole_second);
        self.log.window.see(line.at, Nanos::UNKNOWN);
        let mut name = String::new();
        match line.method {
            b"" => name.push_str(MALFORMED),
            method => {
                name.push_str(&String::from_utf8_lossy(method));
                name.push(' ');
                // The longest path of which the template depends on all: more is cut anyway.
                let target = line.target.get(..4 * MAX_TEXT).unwrap_or(line.target);
                let mut route = String::new();
                route_template(path_of(target), target.len() < line.target.len(), &mut route);
                name.push_str(&route);
            }
        }
        let endpoint = self.endpoints.id(Side::Server, Some(LOGGED), &name, None, None);
        let mut downstream = Vec::new();
        let mut left = line.dur.get();
        for behind in line.upstreams {
            self.behind(line, behind, &mut left, &mut downstream);
        }
        let status = line.status.map(status);
        let failed = status.as_ref().is_some_and(|status| status.is_error);
        self.count_logged(line, endpoint, process, failed, &downstream);
        if self.endpoints.wants(endpoint, line.dur.or_zero(), failed) {
            let record = RequestRecord {
                peer: line.client.map(peer),
                process: process.unwrap_or(ProcessId::NONE),
                tid: line.pid.unwrap_or(0),
                request_bytes: line.request_bytes.unwrap_or(0),
                answer_bytes: line.answer_bytes.unwrap_or(0),
                downstream,
                ..self.record(line, Side::Server, endpoint, line.dur, status)
            };
            self.endpoints.keep(record);
        }
    }

    /// A server behind was asked. It takes at most what is `left` of the request's time.
    fn behind(
        &mut self,
        line: &Logged<'_>,
        behind: &Upstream<'_>,
        left: &mut Option<u64>,
        downstream: &mut Vec<Downstream>,
    ) {
        let address = behind.address.map(peer);
        let endpoint = self.endpoints.id(Side::Client, Some(LOGGED), BEHIND, address.as_ref(), None);
        let status = behind.status.map(status);
        let failed = status.as_ref().is_some_and(|status| status.is_error);
        if let Some(facts) = self.endpoints.get_mut(endpoint) {
            facts.stats.record(behind.dur, failed, 0);
        }
        let name = address.as_deref().unwrap_or("(unknown)");
        peer_row(&mut self.peers, Side::Client, name).stats.record(behind.dur, failed, 0);
        if let (Some(left), Some(ns)) = (left.as_mut(), behind.dur.get()) {
            // Both are rounded to milliseconds by themselves.
            let ns = ns.min(*left);
            *left -= ns;
            Downstream::add(downstream, Downstream { endpoint, count: 1, trips: 1, ns });
        }
        if self.endpoints.wants(endpoint, behind.dur.or_zero(), failed) {
            let parent = Some((self.count, super::ParentBy::Log));
            let record = self.record(line, Side::Client, endpoint, behind.dur, status);
            self.endpoints.keep(RequestRecord { peer: address, parent, ..record });
        }
    }

    fn count_logged(
        &mut self,
        line: &Logged<'_>,
        endpoint: EndpointId,
        process: Option<ProcessId>,
        failed: bool,
        downstream: &[Downstream],
    ) {
        let (bytes, request_bytes) = (line.answer_bytes.unwrap_or(0), line.request_bytes.unwrap_or(0));
        if let Some(row) = self.endpoints.get_mut(endpoint) {
            row.stats.record(line.dur, failed, bytes);
            row.request_bytes = row.request_bytes.saturating_add(request_bytes);
            if row.first.get().is_none_or(|first| line.at.get().is_some_and(|at| at < first)) {
                row.first = line.at;
            }
            if line.at.is_known() && row.last.get() < line.at.get() {
                row.last = line.at;
            }
            for part in downstream {
                Downstream::add(&mut row.downstream, *part);
            }
        }
        let client = line.client.map(shown);
        let process = process.unwrap_or(ProcessId::NONE);
        let thread = (Side::Server, process, line.pid.unwrap_or(0));
        let client = client.as_deref().unwrap_or("(unknown)");
        let peer = peer_row(&mut self.peers, Side::Server, client);
        let thread = row(&mut self.threads, thread, (Side::Server, process, 0));
        for group in [peer, thread] {
            group.stats.record(line.dur, failed, bytes);
            group.request_bytes = group.request_bytes.saturating_add(request_bytes);
        }
    }

    /// What all records of a line have in common.
    fn record(
        &self,
        line: &Logged<'_>,
        side: Side,
        endpoint: EndpointId,
        dur: Nanos,
        status: Option<Status>,
    ) -> RequestRecord {
        let mut detail = String::new();
        if side == Side::Server && !line.method.is_empty() {
            let target = line.target.get(..4 * MAX_TEXT).unwrap_or(line.target);
            let mut asked = String::new();
            without_tokens(target, target.len() < line.target.len(), &mut asked);
            detail = format!("{} {asked}", String::from_utf8_lossy(line.method));
        }
        RequestRecord {
            number: self.count,
            side,
            endpoint,
            detail,
            host: line.host.map(shown),
            trace_id: line.trace_id.map(shown),
            status,
            peer: None,
            life: LifeId::NONE,
            fd: -1,
            process: ProcessId::NONE,
            tid: 0,
            answered_by: None,
            begin: line.at,
            received: Timestamp::UNKNOWN,
            first_byte: Timestamp::UNKNOWN,
            client_left: Timestamp::UNKNOWN,
            end: Timestamp::UNKNOWN,
            dur,
            ending: Ending::Answered,
            request_bytes: 0,
            answer_bytes: 0,
            parent: None,
            downstream: Vec::new(),
            split: None,
            first_line: Exemplar::of_logged(line),
            last_line: None,
        }
    }
}

/// Without the scheme and the host that a proxy is asked with.
fn path_of(target: &[u8]) -> &[u8] {
    let Some(at) = target.iter().position(|byte| *byte == b':') else { return target };
    let Some(rest) = target.get(at..).and_then(|rest| rest.strip_prefix(b"://")) else { return target };
    rest.iter().position(|byte| *byte == b'/').and_then(|at| rest.get(at..)).unwrap_or(b"/")
}

/// 499 is nginx's own: the client closed the connection before it had its answer.
fn status(code: u16) -> Status {
    Status { text: code.to_string().into(), is_error: code >= 400 }
}

fn peer(text: &[u8]) -> Arc<str> {
    shown(text).into()
}

/// As text of a line, cut.
fn shown(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text.get(..MAX_TEXT).unwrap_or(text));
    text.chars().map(|one| if one.is_control() { '?' } else { one }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Facts;
    use whyslow_model::{Event, Sink, SourceId};

    fn line<'a>(target: &'a str, ms: u64, code: u16, upstreams: &'a [Upstream<'a>]) -> Logged<'a> {
        Logged {
            source: SourceId(0),
            line: 1,
            at: Timestamp::new(1_441_486_685_000_000_000),
            whole_second: true,
            dur: Nanos::from_millis(ms),
            method: b"GET",
            target: target.as_bytes(),
            status: Some(code),
            client: Some(b"10.0.0.9"),
            host: None,
            trace_id: None,
            pid: None,
            request_bytes: None,
            answer_bytes: Some(12),
            upstreams,
            raw: b"GET /",
        }
    }

    #[test]
    fn lines_become_endpoints_with_the_servers_behind_them() {
        let behind = |ms, code| Upstream {
            address: Some(b"10.0.0.2:80"),
            dur: Nanos::from_millis(ms),
            status: Some(code),
        };
        let two = [behind(401, 502), behind(60, 200)];
        let mut facts = Facts::default();
        facts.push(Event::Logged(&line("/user/17?full=1", 457, 200, &two)));
        facts.push(Event::Logged(&line("http://api:80/user/18", 3, 404, &[])));
        facts.push(Event::Logged(&Logged { method: b"", target: b"", ..line("", 1, 400, &[]) }));
        facts.finish();
        let requests = &facts.requests;
        let [user, client, malformed] = requests.endpoints() else { panic!("{:?}", requests.endpoints()) };
        assert_eq!((&*user.name, user.stats.count, user.stats.errors), ("GET /user/{id}", 2, 1));
        assert_eq!((client.peer.as_deref(), client.stats.errors), (Some("10.0.0.2:80"), 1));
        assert_eq!(&*malformed.name, MALFORMED);
        // Both are rounded by themselves: a part is never more than the whole.
        assert_eq!(user.downstream[0].ns, 457_000_000);
        assert_eq!((user.downstream[0].count, requests.of_logs().count), (2, 3));
        let record = requests.find(1).unwrap();
        assert_eq!(
            (record.detail.as_str(), record.peer.as_deref()),
            ("GET /user/17?full=1", Some("10.0.0.9"))
        );
        assert_eq!(facts.window.start, line("", 0, 0, &[]).at, "no trace has another clock");
    }
}
