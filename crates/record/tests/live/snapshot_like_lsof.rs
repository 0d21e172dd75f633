//! The snapshot at attach tells of live processes what lsof tells of them, as the lsof reader understands it.

use crate::common::skipped;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use whyslow_model::{Event, FdEntry, FdKind, SourceId, Tid};
use whyslow_read::{Input, ReadOptions};
use whyslow_record::target::{ProcRoot, Selection, snapshot};

/// A process that is ended with the test.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start(program: &str, arguments: &[&str]) -> Option<Server> {
    let mut command = Command::new(program);
    let started =
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
    started.inspect_err(|error| skipped(format_args!("{program}: {error}"))).ok().map(Server)
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").and_then(|socket| socket.local_addr()).expect("a port").port()
}

fn connect(port: u16) -> TcpStream {
    let start = Instant::now();
    loop {
        match TcpStream::connect(("127.0.0.1", port)) {
            Ok(stream) => return stream,
            Err(error) => assert!(start.elapsed() < Duration::from_secs(20), "port {port}: {error}"),
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn by_lsof(pid: Tid) -> Option<Vec<FdEntry>> {
    let output = Command::new("lsof").args(["-nP", "+c0", "-p", &pid.to_string()]).output();
    let data = output.inspect_err(|error| skipped(format_args!("lsof: {error}"))).ok()?.stdout;
    let mut found = Vec::new();
    let mut sink = |event: Event<'_>| {
        if let Event::Fd(entry) = event {
            found.push(*entry);
        }
    };
    let input = [Input::Bytes { name: "lsof.txt".into(), data }];
    whyslow_read::read(&input, &ReadOptions { threads: 1 }, &(), &mut sink).expect("a table");
    Some(found)
}

fn by_snapshot(pid: Tid) -> Vec<FdEntry> {
    let mut found = Vec::new();
    let mut sink = |event: Event<'_>| {
        if let Event::Fd(entry) = event {
            found.push(*entry);
        }
    };
    let summary = snapshot(&[pid], &ProcRoot::live(), SourceId(0), &mut sink);
    assert_eq!((summary.processes, summary.gone, summary.unreadable, summary.left_out), (1, 0, 0, 0));
    assert_eq!(summary.open, found.len() as u64);
    found
}

/// An entry as text, without what the two are known to tell differently.
fn comparable(entry: &FdEntry) -> (String, String) {
    let key = match (&entry.fd, &entry.role) {
        (Some(fd), _) => format!("{fd:05}"),
        (None, role) => format!("{role:?} {:?}", entry.name),
    };
    use FdKind::{Anonymous, Epoll, Event, Inotify, Netlink, Signal, Timer, Unix};
    // lsof may not know netlink's protocols, and leaves out the peers of unix sockets unless asked.
    let name = entry.name.as_ref().filter(|_| entry.kind != Netlink).map(|name| without_tokens(name));
    let peer = |peer: &String| Some(peer.clone()).filter(|_| entry.kind != Unix);
    let ends = entry.ends.as_ref().map(|ends| (ends.local.clone(), ends.peer.as_ref().and_then(peer)));
    let ends = ends.filter(|ends| *ends != (None, None));
    // All anonymous inodes share one number, or none.
    let anonymous = matches!(entry.kind, Anonymous | Epoll | Event | Inotify | Signal | Timer);
    let inode = entry.inode.filter(|_| !anonymous);
    let access = entry.fd.map(|_| (entry.readable, entry.writable));
    let row = format!(
        "{:?} {:?} {name:?} {ends:?} {:?} inode {inode:?} {access:?} deleted {} {:?} {:?}",
        entry.pid, entry.kind, entry.state, entry.deleted, entry.comm, entry.user
    );
    (key, row)
}

/// `[eventpoll:3=0x55b0,6=0x55b1]` without what the program registered with each descriptor, which lsof does not show.
fn without_tokens(name: &str) -> String {
    let Some(list) = name.strip_prefix("[eventpoll:").and_then(|rest| rest.strip_suffix(']')) else {
        return name.to_string();
    };
    let fds: Vec<&str> = list.split(',').map(|one| one.split('=').next().unwrap_or(one)).collect();
    format!("[eventpoll:{}]", fds.join(","))
}

fn assert_alike(pid: Tid) -> Vec<FdEntry> {
    let ours = by_snapshot(pid);
    let Some(lsof) = by_lsof(pid) else { return ours };
    let table = |entries: &[FdEntry]| entries.iter().map(comparable).collect::<BTreeMap<_, _>>();
    let (mine, theirs) = (table(&ours), table(&lsof));
    assert!(theirs.len() > 5, "lsof shows {} rows", theirs.len());
    let differing: Vec<String> = mine
        .keys()
        .chain(theirs.keys())
        .filter(|key| mine.get(*key) != theirs.get(*key))
        .map(|key| format!("{key}\n   snapshot {:?}\n   lsof     {:?}", mine.get(key), theirs.get(key)))
        .collect();
    assert!(differing.is_empty(), "{}", differing.join("\n"));
    ours
}

/// One of each kind of descriptor.
const ZOO: &str = r#"
import socket,os,select,time,mmap,sys
d=sys.argv[1]
a=socket.socket(); a.bind(("127.0.0.1",0)); a.listen()
b=socket.create_connection(a.getsockname()); c,_=a.accept()
unbound=socket.socket()
u=socket.socket(socket.AF_INET,socket.SOCK_DGRAM); u.bind(("0.0.0.0",0))
uc=socket.socket(socket.AF_INET,socket.SOCK_DGRAM); uc.connect(("127.0.0.1",u.getsockname()[1]))
p=socket.socketpair()
x=socket.socket(socket.AF_UNIX); x.bind(d+"/x.sock"); x.listen()
y=socket.socket(socket.AF_UNIX); y.connect(d+"/x.sock"); z,_=x.accept()
ab=socket.socket(socket.AF_UNIX,socket.SOCK_DGRAM); ab.bind("\0whyslow-zoo-%d"%os.getpid())
un=socket.socket(socket.AF_UNIX)
n=socket.socket(socket.AF_NETLINK,socket.SOCK_RAW,0); n.bind((0,0)); n2=socket.socket(socket.AF_NETLINK,socket.SOCK_RAW,0)
e=select.epoll(); e.register(a); e.register(b)
r,w=os.pipe()
f=open(d+"/f","w+"); f.write("12345"); f.flush(); g=open(d+"/gone","w"); os.unlink(d+"/gone")
h=open("/dev/null"); i=os.open("/tmp",os.O_RDONLY); z0=open("/dev/zero"); pr=open("/proc/self/status")
ev=os.eventfd(3); mf=os.memfd_create("mem"); pf=os.pidfd_open(os.getpid())
ns=open("/proc/self/ns/net")
m=mmap.mmap(os.open("/etc/passwd",os.O_RDONLY),0,prot=mmap.PROT_READ)
sh=mmap.mmap(-1,4096)
os.mkfifo(d+"/fifo"); ff=os.open(d+"/fifo",os.O_RDWR)
try:
    s=socket.socket(socket.AF_INET6); s.bind(("::1",0)); s.listen(); s2=socket.create_connection(s.getsockname()[:2])
except OSError: pass
print("ready",flush=True)
time.sleep(600)
"#;

#[test]
fn a_zoo_of_descriptors() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().to_str().expect("UTF-8");
    let Some(mut server) = start("python3", &["-c", ZOO, path]) else { return };
    let mut line = String::new();
    let output = server.0.stdout.take().expect("its output is a pipe");
    BufReader::new(output).read_line(&mut line).expect("a line");
    assert_eq!(line, "ready\n");
    let found = assert_alike(server.0.id());
    // What lsof does not tell: who is at the other end of a unix socket, and the protocol of a netlink one.
    let unix = found.iter().filter(|entry| entry.kind == FdKind::Unix);
    let peers: Vec<String> = unix.filter_map(|entry| entry.ends.as_ref()?.peer.clone()).collect();
    assert!(peers.contains(&format!("{path}/x.sock")), "{peers:?}");
    let held = format!("{},python3", server.0.id());
    assert_eq!(peers.iter().filter(|peer| peer.starts_with(&held)).count(), 3, "{peers:?}");
    assert!(
        found.iter().any(|entry| entry.kind == FdKind::Netlink && entry.name.as_deref() == Some("ROUTE"))
    );
    let file = format!("{path}/f");
    let file = found.iter().find(|entry| entry.name.as_ref() == Some(&file)).expect("the file");
    assert_eq!((file.size, file.offset), (Some(5), Some(5)));
}

#[test]
fn redis_with_clients() {
    let port = free_port();
    let directory = tempfile::tempdir().expect("a directory");
    let port_text = port.to_string();
    let arguments = ["--port", &port_text, "--save", "", "--dir", directory.path().to_str().expect("UTF-8")];
    let Some(server) = start("redis-server", &arguments) else { return };
    let mut clients: Vec<TcpStream> = (0..5).map(|_| connect(port)).collect();
    // Each has been answered, so each has been accepted.
    for client in &mut clients {
        client.write_all(b"PING\r\n").expect("sent");
        client.read_exact(&mut [0; 7]).expect("+PONG");
    }
    let found = assert_alike(server.0.id());
    let connected = found.iter().filter(|entry| entry.state.as_deref() == Some("ESTABLISHED")).count();
    assert_eq!(connected, clients.len());
    // By its port, too.
    let selection = Selection { ports: vec![port], ..Selection::default() };
    let resolved = selection.resolve(&ProcRoot::live()).expect("a target");
    assert_eq!(resolved.pids(), [server.0.id()]);
    assert!(resolved.processes[0].tids.len() > 1, "redis has threads of its own");
}

#[test]
fn nginx_master_and_worker() {
    let port = free_port();
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().to_str().expect("UTF-8");
    let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .iter()
        .map(|name| format!("{name}_temp_path {path}/{name};"))
        .collect();
    let configuration = format!(
        "daemon off; worker_processes 1; pid {path}/pid; error_log {path}/error.log; events {{}}\n\
         http {{ access_log {path}/access.log; {temporary} server {{ listen 127.0.0.1:{port}; }} }}\n"
    );
    std::fs::write(directory.path().join("conf"), configuration).expect("written");
    let arguments = ["-c", &format!("{path}/conf"), "-e", &format!("{path}/error.log")];
    let Some(server) = start("nginx", &arguments) else { return };
    let mut client = connect(port);
    client.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").expect("sent");
    client.read_exact(&mut [0; 12]).expect("an answer");
    let selection = Selection { pids: vec![server.0.id()], children: true, ..Selection::default() };
    let processes = selection.resolve(&ProcRoot::live()).expect("a target").pids();
    let outcome = std::panic::catch_unwind(|| {
        assert_eq!(processes.len(), 2);
        processes.iter().for_each(|pid| drop(assert_alike(*pid)));
    });
    // The worker would outlive a master that is killed.
    let master = rustix::process::Pid::from_raw(server.0.id() as i32).expect("a pid");
    rustix::process::kill_process(master, rustix::process::Signal::TERM).expect("a signal");
    let start = Instant::now();
    let worker = processes.iter().find(|pid| **pid != server.0.id());
    while worker.is_some_and(|pid| Path::new(&format!("/proc/{pid}")).exists()) {
        assert!(start.elapsed() < Duration::from_secs(20), "nginx does not end");
        std::thread::sleep(Duration::from_millis(20));
    }
    if let Err(panic) = outcome {
        std::panic::resume_unwind(panic);
    }
}

#[test]
fn sockets_of_another_network_namespace() {
    let program = r#"
import socket,time,subprocess
subprocess.run(["ip","link","set","lo","up"],stderr=subprocess.DEVNULL)
a=socket.socket(); a.bind(("127.0.0.1",47113)); a.listen()
p=socket.socketpair()
print("ready",flush=True)
time.sleep(600)
"#;
    let Some(mut server) = start("unshare", &["-n", "python3", "-c", program]) else { return };
    let mut line = String::new();
    let output = server.0.stdout.take().expect("its output is a pipe");
    BufReader::new(output).read_line(&mut line).expect("its output");
    if line != "ready\n" {
        return skipped("no network namespace can be made here");
    }
    let found = by_snapshot(server.0.id());
    let listener = found.iter().find(|entry| entry.state.as_deref() == Some("LISTEN")).expect("the listener");
    let local = listener.ends.as_ref().and_then(|ends| ends.local.as_deref());
    assert_eq!((listener.kind, local), (FdKind::Tcp, Some("127.0.0.1:47113")));
    let unix = found.iter().filter(|entry| entry.kind == FdKind::Unix);
    let held = format!("{},python3,", server.0.id());
    let peers = unix.filter_map(|entry| entry.ends.as_ref()?.peer.clone());
    assert_eq!(peers.filter(|peer| peer.starts_with(&held)).count(), 2);
    // A port of that namespace leads to it.
    let selection = Selection { ports: vec![47113], ..Selection::default() };
    assert_eq!(selection.resolve(&ProcRoot::live()).expect("a target").pids(), [server.0.id()]);
}
