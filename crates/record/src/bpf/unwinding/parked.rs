//! Goroutines that wait and are on no thread: counted some times a second by what they wait for and where the program called for it. What
//! they come to is a row a place (table `parked`).

use crate::clock::{monotonic_ns, thread_cpu_ns};
use std::collections::HashMap;
use std::io::Read;
use std::path::Path;
use whyslow_model::{Parked, ParkedFor};
use whyslow_privacy::files;
use whyslow_unwind::{FrameId, Frames, LanguageFrame, Unwinder, inside};

/// What counting may take in the long run, of one CPU: one part of so many.
const SHARE: u64 = 200;
/// Between two counts of a process, at least and at most, ns.
const PAUSE_NS: (u64, u64) = (100_000_000, 2_000_000_000);
/// A process without goroutines is asked about again after the shortest pause, and then after this times the last one each time: its runtime
/// may be known by then.
const PATIENCE: u64 = 2;
/// Goroutines that are looked at in one count; of more the next count looks at the next ones.
const MOST: usize = 1024;
/// Sites told apart in a process.
const MAX_SITES: usize = 1024;

/// The file of what was counted so far, and the one that becomes it.
const FILE: &str = "parked.json";
const NEW_FILE: &str = "parked.new";
/// A longer one is none of ours.
const MOST_BYTES: u64 = 64 << 20;

/// What a recorder that was killed had counted; nothing where it had not.
///
/// # Errors
/// In words, where the file is not as it was written.
pub(crate) fn kept(spool: &Path) -> Result<Vec<Parked>, String> {
    if std::fs::symlink_metadata(spool.join(FILE)).is_err() {
        return Ok(Vec::new());
    }
    let file = inside::open(spool, Path::new(FILE)).map_err(|error| error.to_string())?;
    let mut text = Vec::new();
    file.take(MOST_BYTES).read_to_end(&mut text).map_err(|error| error.to_string())?;
    serde_json::from_slice(&text).map_err(|error| format!("it is damaged: {error}"))
}

/// What waits where: for what, the words for it, the function, its file and line.
type Site = (ParkedFor, String, Box<str>, Box<str>, u32);

/// What was counted of a process.
#[derive(Default)]
struct Counted {
    due: u64,
    /// How long it was left alone since it had none, ns.
    without: u64,
    /// Which goroutine the next count begins with.
    from: u64,
    counts: u64,
    /// By site: goroutines of all counts, each count scaled to all of them.
    sites: HashMap<Site, f64>,
}

/// The goroutines of all processes.
#[derive(Default)]
pub(super) struct ParkedGoroutines {
    processes: HashMap<u32, Counted>,
}

impl ParkedGoroutines {
    /// Counts those of the processes that are due.
    pub(super) fn look(&mut self, unwinder: &mut Unwinder, pids: impl Iterator<Item = u32>) {
        let now = monotonic_ns();
        for pid in pids {
            let counted = self.processes.entry(pid).or_default();
            if now >= counted.due {
                counted.look(unwinder, pid, now);
            }
        }
    }

    /// Writes down what was counted so far, in place of what was. A recorder that is killed loses what came since.
    pub(super) fn keep(&self, spool: &Path) {
        let rows = self.rows();
        if rows.is_empty() {
            return;
        }
        // Where there is no room, it is as if the recorder had been killed before.
        let (new, kept) = (spool.join(NEW_FILE), spool.join(FILE));
        let _ = serde_json::to_vec(&rows)
            .map_err(std::io::Error::from)
            .and_then(|text| files::write(&new, &text))
            .and_then(|()| std::fs::rename(&new, &kept));
    }

    /// What they waited for, the most first.
    pub(super) fn rows(&self) -> Vec<Parked> {
        let mut pids: Vec<&u32> = self.processes.keys().collect();
        pids.sort_unstable();
        pids.into_iter().flat_map(|pid| self.processes[pid].rows(*pid)).collect()
    }
}

impl Counted {
    fn look(&mut self, unwinder: &mut Unwinder, pid: u32, now: u64) {
        let began = thread_cpu_ns();
        let mut stacks: HashMap<Vec<FrameId>, u32> = HashMap::new();
        let all = unwinder.parked(pid, (self.from, MOST), &mut |_, stack| {
            *stacks.entry(stack.to_vec()).or_default() += 1;
        });
        if all == 0 {
            self.without = (self.without * PATIENCE).clamp(PAUSE_NS.0, PAUSE_NS.1);
            self.due = now + self.without;
            return;
        }
        let looked = all.saturating_sub(self.from).min(MOST as u64);
        self.from = if self.from + looked >= all { 0 } else { self.from + looked };
        self.counts += 1;
        let scale = all as f64 / looked.max(1) as f64;
        for (stack, count) in stacks {
            let Some(site) = site(unwinder.frames(), &stack) else { continue };
            if self.sites.len() < MAX_SITES || self.sites.contains_key(&site) {
                *self.sites.entry(site).or_default() += f64::from(count) * scale;
            }
        }
        let took = thread_cpu_ns().saturating_sub(began);
        self.due = now + (took * SHARE).clamp(PAUSE_NS.0, PAUSE_NS.1);
    }

    fn rows(&self, pid: u32) -> impl Iterator<Item = Parked> + '_ {
        let mut sites: Vec<(&Site, f64)> = self.sites.iter().map(|(site, sum)| (site, *sum)).collect();
        sites.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(b.0)));
        let text = |text: &str| whyslow_model::visible::line(text).into_owned();
        sites.into_iter().map(move |((waits, call, function, file, line), sum)| Parked {
            pid,
            waits: *waits,
            call: text(call),
            function: text(function),
            place: (*line > 0).then(|| text(&format!("{file}:{line}"))),
            goroutines: sum.round() as u64,
            looks: self.counts,
        })
    }
}

/// What functions of the runtime, the library and modules that many use wait for, by their beginnings; in the words of Go's own traces where
/// they have one. The outermost that is known decides: a condition is made of a lock, and an answer of a channel.
const WAITS: [(&str, ParkedFor, &str); 35] = [
    ("runtime.chanrecv", ParkedFor::Receive, "chan receive"),
    ("runtime.chansend", ParkedFor::Send, "chan send"),
    ("runtime.selectgo", ParkedFor::Select, "select"),
    ("runtime.block", ParkedFor::Other, "select (no cases)"),
    ("time.Sleep", ParkedFor::Sleep, "sleep"),
    ("internal/poll.(*FD).Accept", ParkedFor::Accept, "accept"),
    ("internal/poll.", ParkedFor::Io, "IO wait"),
    ("sync.(*Mutex).", ParkedFor::Lock, "sync.Mutex.Lock"),
    ("internal/sync.(*Mutex).", ParkedFor::Lock, "sync.Mutex.Lock"),
    ("sync.(*RWMutex).RLock", ParkedFor::Lock, "sync.RWMutex.RLock"),
    ("sync.(*RWMutex).", ParkedFor::Lock, "sync.RWMutex.Lock"),
    ("golang.org/x/sync/semaphore.(*Weighted).", ParkedFor::Lock, "semaphore.Weighted.Acquire"),
    ("golang.org/x/time/rate.(*Limiter).", ParkedFor::Sleep, "rate.Limiter.Wait"),
    ("sync.(*WaitGroup).Wait", ParkedFor::Group, "sync.WaitGroup.Wait"),
    ("golang.org/x/sync/errgroup.(*Group).Wait", ParkedFor::Group, "errgroup.Group.Wait"),
    ("sync.(*Cond).Wait", ParkedFor::Condition, "sync.Cond.Wait"),
    ("net.(*TCPListener).", ParkedFor::Accept, "accept"),
    ("net.(*UnixListener).", ParkedFor::Accept, "accept"),
    ("net/http.(*Server).", ParkedFor::Accept, "accept"),
    ("google.golang.org/grpc.(*Server).", ParkedFor::Accept, "accept"),
    ("net.(*Resolver).", ParkedFor::Answer, "name look-up"),
    ("net.(*Dialer).", ParkedFor::Connection, "connect"),
    ("crypto/tls.(*Dialer).", ParkedFor::Connection, "connect"),
    ("net/http.(*Transport).getConn", ParkedFor::Connection, "net/http connection"),
    ("net/http.(*persistConn).roundTrip", ParkedFor::Answer, "HTTP answer"),
    ("net/http.(*http2ClientConn).", ParkedFor::Answer, "HTTP answer"),
    ("net/http.(*bodyEOFSignal).Read", ParkedFor::Answer, "HTTP answer"),
    ("net/http.http2transportResponseBody.Read", ParkedFor::Answer, "HTTP answer"),
    ("google.golang.org/grpc.(*ClientConn).Invoke", ParkedFor::Answer, "gRPC answer"),
    ("database/sql.(*DB).conn", ParkedFor::Connection, "database/sql connection"),
    ("database/sql.(*DB).queryDC", ParkedFor::Answer, "database/sql answer"),
    ("database/sql.(*DB).execDC", ParkedFor::Answer, "database/sql answer"),
    ("database/sql.(*Rows).", ParkedFor::Answer, "database/sql answer"),
    ("database/sql.resultFromStatement", ParkedFor::Answer, "database/sql answer"),
    ("database/sql.rowsiFromStatement", ParkedFor::Answer, "database/sql answer"),
];

/// What a goroutine waits for, and the innermost function that is not of Go's library, nor of a module that was fetched where there is
/// another one; `None` where there is none.
fn site(frames: &Frames, stack: &[FrameId]) -> Option<Site> {
    let stack: Vec<&LanguageFrame> = stack.iter().filter_map(|id| frames.get(*id)).collect();
    let root = stack.last().and_then(|first| first.file.strip_suffix("runtime/asm_amd64.s"))?;
    let is_library = |frame: &LanguageFrame| match root {
        // Built with -trimpath: packages of the library have no dot before their first slash.
        "" => {
            let package = frame.function.split('/').next().unwrap_or_default();
            let is_path = frame.function.contains('/');
            !(frame.function.starts_with("main.") || is_path && package.contains('.'))
        }
        root => frame.file.starts_with(root),
    };
    let is_fetched = |frame: &LanguageFrame| frame.file.contains("/vendor/") || frame.file.contains("@v");
    let own = |at: &usize| !is_library(stack[*at]);
    let of_program = |at: &usize| own(at) && !is_fetched(stack[*at]);
    let all = 0..stack.len();
    let at = all.clone().find(of_program).or_else(|| all.clone().find(own))?;
    let waits = stack[..at].iter().rev().find_map(|frame| {
        let known = WAITS.iter().find(|(name, ..)| frame.function.starts_with(name));
        known.map(|(_, waits, call)| (*waits, (*call).to_string()))
    });
    let outermost = || Some((ParkedFor::Other, stack[..at].last()?.function.to_string()));
    let (waits, call) = waits.or_else(outermost)?;
    let waits = if serves(&stack, at) { of_request(waits) } else { waits };
    let LanguageFrame { function, file, line, .. } = stack[at];
    Some((waits, call, function.clone(), file.clone(), *line))
}

/// What calls the program for each request.
const SERVERS: [&str; 4] = [
    "net/http.(*conn).serve",
    "net/http.(*http2serverConn).runHandler",
    "google.golang.org/grpc.(*Server).handleStream",
    "net/rpc.(*service).call",
];

/// True where the program waits while it serves a request, and not for the client that asks: what it reads of the request, what it writes to
/// the client, and what goes both ways (WebSocket) is not its work.
fn serves(stack: &[&LanguageFrame], at: usize) -> bool {
    let is_clients = |frame: &&LanguageFrame| {
        let function = &frame.function;
        let of_server = ["net/http.(*body)", "net/http.(*response)", "net/http.(*http2responseWriter)"];
        let of_server = of_server
            .iter()
            .chain(&["net/http.(*http2requestBody)", "google.golang.org/grpc.(*serverStream)"]);
        let mut of_server = of_server.chain(&["net/http.checkConnErrorWriter"]);
        of_server.any(|name| function.starts_with(name))
            || function.contains("websocket")
            || function.contains("gobwas/ws")
    };
    let (within, around) = stack.split_at(at);
    around.iter().any(|frame| SERVERS.iter().any(|name| frame.function.starts_with(name)))
        && !within.iter().any(is_clients)
}

/// What is waited for while a request waits.
fn of_request(waits: ParkedFor) -> ParkedFor {
    use ParkedFor::{Answer, Condition, Group, HandOff, Io, Other, Receive, Select};
    match waits {
        Io => Answer,
        Receive | Select | Condition | Group | Other => HandOff,
        known => known,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of a stack, innermost first: functions with their files, each at line 88.
    fn told(stack: &[(&str, &str)]) -> Option<String> {
        let mut frames = Frames::default();
        frames.language("go");
        let ids: Vec<FrameId> =
            stack.iter().filter_map(|(function, file)| frames.id(function, file, 88)).collect();
        site(&frames, &ids).map(|(_, waits, function, file, line)| {
            let file = file.rsplit('/').next().unwrap_or_default();
            format!("{waits} at {function} ({file}:{line})")
        })
    }

    #[test]
    fn waits_are_told_at_the_line_of_the_program() {
        let exit = ("runtime.goexit", "/usr/local/go/src/runtime/asm_amd64.s");
        let park = ("runtime.gopark", "/usr/local/go/src/runtime/proc.go");
        let receive = ("runtime.chanrecv1", "/usr/local/go/src/runtime/chan.go");
        let take = ("main.take", "/srv/order/order.go");
        let told_so = Some("chan receive at main.take (order.go:88)".to_string());
        assert_eq!(told(&[park, receive, take, exit]), told_so);
        let sema = ("sync.runtime_SemacquireMutex", "/usr/local/go/src/runtime/sema.go");
        let slow = ("internal/sync.(*Mutex).lockSlow", "/usr/local/go/src/internal/sync/mutex.go");
        let lock = ("sync.(*Mutex).Lock", "/usr/local/go/src/sync/mutex.go");
        let told_so = Some("sync.Mutex.Lock at main.take (order.go:88)".to_string());
        assert_eq!(told(&[park, sema, slow, lock, take, exit]), told_so);
        // What was fetched is passed over where there is the program's own code.
        let fetched = ("github.com/x/pool.(*Pool).Get", "/root/go/pkg/mod/github.com/x/pool@v1.2.0/pool.go");
        let told_so = Some("chan receive at main.take (order.go:88)".to_string());
        assert_eq!(told(&[park, receive, fetched, take, exit]), told_so);
        assert!(told(&[park, receive, fetched, exit]).is_some_and(|words| words.contains("(*Pool).Get")));
        // An answer is waited for in a select, and by a client that a handler asks.
        let select = ("runtime.selectgo", "/usr/local/go/src/runtime/select.go");
        let trip = ("net/http.(*persistConn).roundTrip", "/usr/local/go/src/net/http/transport.go");
        let get = ("net/http.(*Client).Get", "/usr/local/go/src/net/http/client.go");
        let serve = ("net/http.(*conn).serve", "/usr/local/go/src/net/http/server.go");
        let told_so = Some("HTTP answer at main.take (order.go:88)".to_string());
        assert_eq!(told(&[park, select, trip, get, take, serve, exit]), told_so);
        // What is read while a request is served is an answer, but for what the client sends.
        let waits = |stack: &[(&str, &str)]| {
            let mut frames = Frames::default();
            frames.language("go");
            let ids: Vec<FrameId> =
                stack.iter().filter_map(|(function, file)| frames.id(function, file, 88)).collect();
            site(&frames, &ids).map(|(waits, ..)| waits)
        };
        let read = ("internal/poll.(*FD).Read", "/usr/local/go/src/internal/poll/fd_unix.go");
        assert_eq!(waits(&[park, read, take, serve, exit]), Some(ParkedFor::Answer));
        assert_eq!(waits(&[park, read, take, exit]), Some(ParkedFor::Io));
        let body = ("net/http.(*body).Read", "/usr/local/go/src/net/http/transfer.go");
        assert_eq!(waits(&[park, read, body, take, serve, exit]), Some(ParkedFor::Io));
        let socket = (
            "github.com/gorilla/websocket.(*Conn).NextReader",
            "/root/go/pkg/mod/github.com/gorilla/websocket@v1.5.0/conn.go",
        );
        assert_eq!(waits(&[park, read, socket, take, serve, exit]), Some(ParkedFor::Io));
        assert_eq!(waits(&[park, receive, take, serve, exit]), Some(ParkedFor::HandOff));
        assert_eq!(waits(&[park, receive, take, exit]), Some(ParkedFor::Receive));
        assert_eq!(waits(&[park, sema, slow, lock, take, serve, exit]), Some(ParkedFor::Lock));
        // A server that waits for clients, and a connection that nothing is asked on.
        let poll = ("internal/poll.(*FD).Accept", "/usr/local/go/src/internal/poll/fd_unix.go");
        let listen = ("net/http.(*Server).Serve", "/usr/local/go/src/net/http/server.go");
        let told_so = Some("accept at main.take (order.go:88)".to_string());
        assert_eq!(told(&[park, poll, listen, take, exit]), told_so);
        let read = ("internal/poll.(*FD).Read", "/usr/local/go/src/internal/poll/fd_unix.go");
        assert_eq!(told(&[park, read, serve, exit]), None);
        // Nothing but the library's own.
        assert_eq!(
            told(&[park, receive, ("os/signal.loop", "/usr/local/go/src/os/signal/a.go"), exit]),
            None
        );
        // Built with -trimpath.
        let exit = ("runtime.goexit", "runtime/asm_amd64.s");
        let park = ("runtime.gopark", "runtime/proc.go");
        let read = ("internal/poll.(*FD).Read", "internal/poll/fd_unix.go");
        let serve = ("net/http.(*conn).serve", "net/http/server.go");
        assert_eq!(told(&[park, read, serve, exit]), None);
        let told_so = Some("IO wait at example.org/shop/db.(*Pool).ask (db.go:88)".to_string());
        assert_eq!(
            told(&[park, read, ("example.org/shop/db.(*Pool).ask", "example.org/shop/db/db.go"), exit]),
            told_so
        );
    }
}
