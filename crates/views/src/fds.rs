//! The view `fds`: descriptors through time, asked as one asks lsof; or who the sockets lead to, by role.

use super::files::path_matches;
use super::rows::{finish, nothing_because};
use super::{Ask, AskError, FdFilter, View};
use crate::words;
use hashbrown::{HashMap, HashSet};
use whyslow_facts::pattern::pattern_of;
use whyslow_facts::who::process_name;
use whyslow_facts::{Facts, FdLife, ProcessId};
use whyslow_model::{Cell, Column, FdKind, Nanos, Table};

/// The view.
pub(super) static VIEW: View = View {
    name: "fds",
    of_calls: true,
    summary: "descriptors through time: what each led to, when it was open, what went through it",
    by: &["fd", "role", "process", "kind"],
    table,
};

fn table(facts: &Facts, ask: &Ask) -> Result<Table, AskError> {
    let by = VIEW.grouping(ask)?;
    let served = served_ports(facts);
    let lives: Vec<&FdLife> =
        facts.world.fds.iter().map(|(_, life)| life).filter(|life| shown(facts, life, &ask.fds)).collect();
    let mut notes: Vec<String> = nothing_because(facts, "descriptors").into_iter().collect();
    if facts.world.fds.dropped > 0 {
        let dropped = words::plural(facts.world.fds.dropped, "descriptor");
        notes.push(format!(
            "{dropped} not shown: they were closed, and more were opened than are kept apart."
        ));
    }
    if facts.world.snapshot_rows == 0 && lives.iter().any(|life| life.target(&facts.world).is_none()) {
        notes.push(
            "What was open before the trace began shows in lsof -nP -p PID, or with strace -yy.".to_string(),
        );
    }
    if by != "fd" {
        return grouped(facts, ask, by, &lives, &served, notes);
    }
    let table = Table {
        name: VIEW.name,
        question: "What was each descriptor, when was it open, and what went through it?".to_string(),
        columns: vec![
            Column::new("process", "process"),
            Column::new("fd", "fd"),
            Column::new("kind", "kind"),
            Column::optional("state", "state", 1),
            Column::optional("opened", "opened", 5),
            Column::optional("closed", "closed", 5),
            Column::optional("reads", "reads", 3),
            Column::optional("bytes_read", "read", 2),
            Column::optional("writes", "writes", 3),
            Column::optional("bytes_written", "written", 2),
            Column::optional("total", "time", 4),
            Column::optional("local", "local", 6),
            Column::new("target", "target"),
        ],
        rows: lives.iter().map(|life| row(facts, life)).collect(),
        total: None,
        notes,
    };
    finish(table, ask, "none")
}

fn row(facts: &Facts, life: &FdLife) -> Vec<Cell> {
    let moment =
        |ts: whyslow_model::Timestamp| Cell::text(Some(ts.time_of_day()).filter(|text| !text.is_empty()));
    let traffic = Traffic::of(life);
    let mut cells = vec![
        Cell::Text(process_name(facts, life.process)),
        // Sorted as text, 10 would stand before 9.
        u64::try_from(life.fd).map_or(Cell::Unknown, Cell::Count),
        Cell::Text(life.kind.word().to_string()),
        Cell::Text(state(life)),
        moment(life.opened),
        moment(life.closed),
    ];
    cells.extend(traffic.cells(facts));
    cells.push(Cell::text(life.local()));
    let other_end = life.target(&facts.world).filter(|_| !life.listening);
    cells.push(Cell::text(other_end.or_else(|| life.local().map(str::to_string))));
    cells
}

/// The socket's state where one is known, else whether it is open.
fn state(life: &FdLife) -> String {
    if !life.is_open() {
        return "closed".to_string();
    }
    if life.listening {
        return "LISTEN".to_string();
    }
    match &life.state {
        _ if life.kind.is_socket() && life.end_seen => "peer closed".to_string(),
        Some(state) => state.to_string(),
        None => "open".to_string(),
    }
}

fn shown(facts: &Facts, life: &FdLife, filter: &FdFilter) -> bool {
    let FdFilter { port: asked_port, peer, file, listen, state: asked_state, pid, fd } = filter;
    let ends = || [life.local(), life.peer()].into_iter().flatten();
    let path = || {
        if life.kind.is_socket() {
            life.name.as_deref().map(str::to_string)
        } else {
            life.target(&facts.world)
        }
    };
    asked_port.is_none_or(|asked| ends().any(|end| port(end) == Some(asked)))
        && peer.as_deref().is_none_or(|asked| life.peer().is_some_and(|peer| peer.contains(asked)))
        && file.as_deref().is_none_or(|asked| path().is_some_and(|path| path_matches(&path, asked)))
        && (!listen || life.listening && life.is_open())
        && asked_state.as_deref().is_none_or(|asked| state_matches(life, asked))
        && pid.is_none_or(|asked| facts.world.threads.process(life.process).pid == Some(asked))
        && fd.is_none_or(|asked| life.fd == asked)
}

fn state_matches(life: &FdLife, asked: &str) -> bool {
    // lsof's own spelling: TCP:LISTEN.
    let asked = asked.rsplit(':').next().unwrap_or(asked).replace('-', "_");
    state(life).eq_ignore_ascii_case(&asked) || asked.eq_ignore_ascii_case("open") && life.is_open()
}

/// The port of `10.0.0.1:6379`, `*:80`, `[::1]:80`.
fn port(end: &str) -> Option<u16> {
    end.rsplit_once(':')?.1.parse().ok()
}

/// Ports on which each process listens: a connection that ends there was accepted.
fn served_ports(facts: &Facts) -> HashSet<(ProcessId, u16)> {
    let listening = facts.world.fds.iter().map(|(_, life)| life).filter(|life| life.listening);
    listening.filter_map(|life| Some((life.process, port(life.local()?)?))).collect()
}

/// What a descriptor is for its process, and the address that stands for it.
fn role(life: &FdLife, served: &HashSet<(ProcessId, u16)>) -> (&'static str, String) {
    let local_port = life.local().and_then(port);
    if !life.kind.is_socket() {
        return (life.kind.word(), String::new());
    }
    if life.listening {
        let local = life.local().unwrap_or_default();
        let by_path = life.kind == FdKind::Unix;
        return ("listens", if by_path { pattern_of(local).into_owned() } else { local.to_string() });
    }
    let accepted = life.origin == whyslow_facts::Origin::Accept
        || local_port.is_some_and(|port| served.contains(&(life.process, port)));
    match (accepted, life.peer()) {
        (true, _) => ("clients", local_port.map_or(String::new(), |port| format!("on port {port}"))),
        (false, Some(peer)) if life.kind == FdKind::Unix => ("peer", pattern_of(peer).into_owned()),
        (false, Some(peer)) => ("peer", peer.to_string()),
        (false, None) => ("socket", String::new()),
    }
}

/// Reads and writes of descriptors.
#[derive(Clone, Copy, Default)]
struct Traffic {
    reads: u64,
    read: u64,
    writes: u64,
    written: u64,
    ns: u64,
}

impl Traffic {
    fn of(life: &FdLife) -> Traffic {
        let mut traffic = Traffic::default();
        if let Some(io) = &life.reads {
            (traffic.reads, traffic.read) = (io.calls.count, io.calls.bytes);
            traffic.ns = traffic.ns.saturating_add(io.calls.total_ns);
        }
        if let Some(io) = &life.writes {
            (traffic.writes, traffic.written) = (io.calls.count, io.calls.bytes);
            traffic.ns = traffic.ns.saturating_add(io.calls.total_ns);
        }
        traffic
    }

    fn add(&mut self, other: Traffic) {
        self.reads += other.reads;
        self.read += other.read;
        self.writes += other.writes;
        self.written += other.written;
        self.ns = self.ns.saturating_add(other.ns);
    }

    /// Unknown where the capture shows no calls (a snapshot) or no durations.
    fn cells(&self, facts: &Facts) -> [Cell; 5] {
        if facts.world.calls == 0 {
            return std::array::from_fn(|_| Cell::Unknown);
        }
        let timed = facts.capture.has_durations();
        [
            Cell::Count(self.reads),
            Cell::Bytes(self.read),
            Cell::Count(self.writes),
            Cell::Bytes(self.written),
            if timed { Cell::Duration(Nanos::new(self.ns)) } else { Cell::Unknown },
        ]
    }
}

/// Descriptors of one role, kind or process.
#[derive(Default)]
struct Group {
    all: u64,
    open: u64,
    hosts: HashSet<String>,
    traffic: Traffic,
}

fn grouped(
    facts: &Facts,
    ask: &Ask,
    by: &'static str,
    lives: &[&FdLife],
    served: &HashSet<(ProcessId, u16)>,
    notes: Vec<String>,
) -> Result<Table, AskError> {
    let mut groups: HashMap<(String, String, &'static str), Group> = HashMap::new();
    for life in lives {
        let (group, address) = match by {
            "process" => (process_name(facts, life.process), String::new()),
            "kind" => (life.kind.word().to_string(), String::new()),
            _ => {
                let (role, address) = role(life, served);
                (role.to_string(), address)
            }
        };
        let kind = if by == "process" { "" } else { life.kind.word() };
        let group = groups.entry((group, address, kind)).or_default();
        group.all += 1;
        group.open += life.is_open() as u64;
        group.traffic.add(Traffic::of(life));
        if let Some((host, _)) = life.peer().and_then(|peer| peer.rsplit_once(':')) {
            group.hosts.insert(host.to_string());
        }
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    // Roles from the outside in: what is offered, to whom, and what is used for it.
    let order = |role: &str| {
        ["listens", "clients", "peer", "socket"].iter().position(|known| *known == role).unwrap_or(9)
    };
    groups.sort_by(|(a, x), (b, y)| (order(&a.0), y.all, a).cmp(&(order(&b.0), x.all, b)));
    let heading = match by {
        "process" => Column::new("process", "process"),
        "kind" => Column::new("kind", "kind"),
        _ => Column::new("role", "role"),
    };
    let mut columns = vec![heading];
    if by == "role" {
        columns.extend([Column::optional("kind", "kind", 5), Column::new("address", "address")]);
    }
    columns.extend([
        Column::new("descriptors", "descriptors"),
        Column::new("open", "open"),
        Column::optional("hosts", "hosts", 4),
        Column::optional("reads", "reads", 3),
        Column::optional("bytes_read", "read", 1),
        Column::optional("writes", "writes", 3),
        Column::optional("bytes_written", "written", 1),
        Column::optional("total", "time", 2),
    ]);
    let rows = groups
        .into_iter()
        .map(|((group, address, kind), figures)| {
            let mut cells = vec![Cell::Text(group)];
            if by == "role" {
                cells.extend([
                    Cell::Text(kind.to_string()),
                    Cell::text(Some(address).filter(|address| !address.is_empty())),
                ]);
            }
            cells.extend([Cell::Count(figures.all), Cell::Count(figures.open)]);
            let hosts = figures.hosts.len() as u64;
            cells.push(Cell::count((hosts > 0).then_some(hosts)));
            cells.extend(figures.traffic.cells(facts));
            cells
        })
        .collect();
    let question = match by {
        "role" => "What does it offer, to whom, and which peers does it use?".to_string(),
        by => format!("How many descriptors, and how much went through them, by {by}?"),
    };
    finish(Table { name: VIEW.name, question, columns, rows, total: None, notes }, ask, "none")
}

#[cfg(test)]
mod tests {
    use super::*;
    use whyslow_model::{Event, FdEntry, Sink, SocketEnds};

    fn facts() -> Facts {
        let mut facts = Facts::default();
        let mut socket = |fd: i32, local: &str, peer: Option<&str>, state: &str| {
            facts.push(Event::Fd(Box::new(FdEntry {
                pid: Some(10),
                fd: Some(fd),
                kind: FdKind::Tcp,
                ends: Some(SocketEnds { local: Some(local.to_string()), peer: peer.map(str::to_string) }),
                state: Some(state.to_string()),
                ..FdEntry::default()
            })));
        };
        socket(3, "*:8706", None, "LISTEN");
        socket(4, "10.0.0.1:8706", Some("10.0.0.7:50001"), "ESTABLISHED");
        socket(5, "10.0.0.1:8706", Some("10.0.0.8:50002"), "CLOSE_WAIT");
        socket(6, "10.0.0.1:41000", Some("172.16.0.21:6379"), "ESTABLISHED");
        facts
    }

    fn count(filter: FdFilter) -> usize {
        (VIEW.table)(&facts(), &Ask { fds: filter, ..Ask::default() }).unwrap().rows.len()
    }

    #[test]
    fn asked_as_lsof_is_asked() {
        assert_eq!(count(FdFilter::default()), 4);
        assert_eq!(count(FdFilter { port: Some(6379), ..FdFilter::default() }), 1);
        assert_eq!(count(FdFilter { port: Some(8706), ..FdFilter::default() }), 3);
        assert_eq!(count(FdFilter { peer: Some("10.0.0.7".to_string()), ..FdFilter::default() }), 1);
        assert_eq!(count(FdFilter { listen: true, ..FdFilter::default() }), 1);
        assert_eq!(count(FdFilter { state: Some("TCP:close_wait".to_string()), ..FdFilter::default() }), 1);
        assert_eq!(count(FdFilter { state: Some("open".to_string()), ..FdFilter::default() }), 4);
        assert_eq!(count(FdFilter { pid: Some(10), fd: Some(6), ..FdFilter::default() }), 1);
        assert_eq!(count(FdFilter { pid: Some(11), ..FdFilter::default() }), 0);
        assert_eq!(count(FdFilter { file: Some("/tmp".to_string()), ..FdFilter::default() }), 0);
    }

    #[test]
    fn roles() {
        let ask = Ask { by: Some("role".to_string()), ..Ask::default() };
        let table = (VIEW.table)(&facts(), &ask).unwrap();
        let texts: Vec<Vec<&str>> = table
            .rows
            .iter()
            .map(|row| {
                row.iter()
                    .filter_map(|cell| if let Cell::Text(text) = cell { Some(text.as_str()) } else { None })
                    .collect()
            })
            .collect();
        assert_eq!(
            texts,
            [
                ["listens", "tcp", "*:8706"],
                ["clients", "tcp", "on port 8706"],
                ["peer", "tcp", "172.16.0.21:6379"]
            ]
        );
        assert_eq!(table.rows[1][3..6], [Cell::Count(2), Cell::Count(2), Cell::Count(2)]);
    }
}
