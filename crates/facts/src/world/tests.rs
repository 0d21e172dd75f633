//! Descriptors, threads and files through time.

use crate::{Facts, FdLife, Origin};
use whyslow_model::{
    Call, CallFlags, Errno, Event, Exit, FdEntry, FdKind, Nanos, ProcessInfo, Ret, Sink, SourceId, Timestamp,
};

/// Facts that calls are pushed into by text.
#[derive(Default)]
struct Trace {
    facts: Facts,
    line: u64,
}

impl Trace {
    fn call(&mut self, tid: u32, name: &str, args: &str, ret: i64) {
        self.push(tid, name, args, ret, CallFlags::default());
    }

    fn push(&mut self, tid: u32, name: &str, args: &str, ret: i64, flags: CallFlags) {
        self.line += 1;
        let mut call = Call::new(name, args);
        call.tid = tid;
        call.line = self.line;
        call.ts = Timestamp::new(self.line * 1_000_000);
        call.dur = Nanos::new(1_000);
        call.flags = flags;
        call.ret = Ret::Value(ret.max(-1));
        call.errno = if ret < 0 { Errno((-ret) as u16) } else { Errno::NONE };
        self.facts.push(Event::Call(&call));
    }

    fn enter(&mut self, tid: u32, name: &str, args: &str) {
        self.line += 1;
        let mut call = Call::new(name, args);
        call.tid = tid;
        call.ts = Timestamp::new(self.line * 1_000_000);
        self.facts.push(Event::Enter(&call));
    }

    fn exit(&mut self, tid: u32) {
        let exit =
            Exit { source: SourceId(0), line: 0, tid, ts: Timestamp::UNKNOWN, status: Some(0), signal: None };
        self.facts.push(Event::Exit(exit));
    }

    /// What fd `fd` of the process of thread `tid` is now.
    fn fd(&mut self, tid: u32, fd: i32) -> Option<&FdLife> {
        let thread = self.facts.world.threads.find(tid)?;
        let process = self.facts.world.threads.thread(thread).process;
        self.facts.world.life_of(process, fd)
    }

    fn target(&mut self, tid: u32, fd: i32) -> Option<String> {
        let thread = self.facts.world.threads.find(tid)?;
        let process = self.facts.world.threads.thread(thread).process;
        self.facts.world.life_of(process, fd)?.target(&self.facts.world)
    }
}

#[test]
fn generations_of_a_number_are_not_mixed() {
    let mut trace = Trace::default();
    for (path, bytes) in [("/a", 10), ("/b", 20)] {
        trace.call(1, "openat", &format!("AT_FDCWD, \"{path}\", O_RDONLY"), 5);
        trace.call(1, "read", "5, \"\", 4096", bytes);
        trace.call(1, "close", "5", 0);
    }
    trace.facts.finish();
    let files = &trace.facts.world.files;
    assert_eq!(files.find("/a").unwrap().bytes_read(), 10);
    assert_eq!(files.find("/b").unwrap().bytes_read(), 20);
}

#[test]
fn close_frees_the_number_when_it_is_entered() {
    let mut trace = Trace::default();
    trace.call(1, "openat", "AT_FDCWD, \"/a\", O_RDONLY", 5);
    trace.call(1, "clone", "child_stack=0x7f, flags=CLONE_VM|CLONE_FILES|CLONE_THREAD", 2);
    trace.enter(1, "close", "5");
    trace.call(2, "openat", "AT_FDCWD, \"/b\", O_RDONLY", 5);
    trace.push(1, "close", "5", 0, CallFlags::JOINED);
    assert_eq!(trace.target(2, 5).as_deref(), Some("/b"));
}

#[test]
fn fork_inherits_and_exec_closes_the_marked() {
    let mut trace = Trace::default();
    trace.call(1, "execve", "\"/bin/parent\", [\"parent\"], 0x7ffd", 0);
    trace.call(1, "openat", "AT_FDCWD, \"/kept\", O_RDONLY", 3);
    trace.call(1, "openat", "AT_FDCWD, \"/closed\", O_RDONLY|O_CLOEXEC", 4);
    trace.call(1, "clone", "child_stack=NULL, flags=CLONE_CHILD_CLEARTID|SIGCHLD, child_tidptr=0x7f", 20);
    trace.call(20, "execve", "\"/bin/child\", [\"child\"], 0x7ffd", 0);
    assert_eq!(trace.target(20, 3).as_deref(), Some("/kept"));
    assert!(trace.fd(20, 4).is_none());
    assert_eq!(trace.target(1, 4).as_deref(), Some("/closed"), "the parent keeps its own");
    trace.call(20, "close", "3", 0);
    assert!(trace.fd(1, 3).is_some_and(FdLife::is_open), "the child's close does not end the parent's");
    let child = trace.facts.world.threads.find_process(20).unwrap();
    assert_eq!(trace.facts.world.threads.process(child).name(), Some("child"));
    trace.exit(20);
    assert!(trace.facts.world.threads.process(child).exited);
}

#[test]
fn a_child_seen_before_its_clone_returns_belongs_to_the_caller() {
    let mut trace = Trace::default();
    trace.call(1, "execve", "\"/bin/x\", [\"x\"], 0x7ffd", 0);
    trace.enter(1, "clone3", "{flags=CLONE_VM|CLONE_FILES|CLONE_THREAD, child_tid=0x7f");
    trace.call(2, "set_robust_list", "0x7f, 24", 0);
    trace.push(1, "clone3", "{flags=CLONE_VM|CLONE_FILES|CLONE_THREAD}, 88", 2, CallFlags::JOINED);
    trace.call(2, "openat", "AT_FDCWD, \"/a\", O_RDONLY", 3);
    assert_eq!(trace.target(1, 3).as_deref(), Some("/a"));
    assert_eq!(trace.facts.world.threads.processes().count(), 1);
}

#[test]
fn dup_shares_and_dup2_replaces() {
    let mut trace = Trace::default();
    trace.call(1, "openat", "AT_FDCWD, \"/log\", O_WRONLY|O_APPEND", 3);
    trace.call(1, "openat", "AT_FDCWD, \"/dev/null\", O_WRONLY", 1);
    trace.call(1, "dup2", "3, 1", 1);
    assert_eq!(trace.target(1, 1).as_deref(), Some("/log"));
    trace.call(1, "close", "3", 0);
    assert!(trace.fd(1, 1).is_some_and(FdLife::is_open));
    trace.call(1, "fcntl", "1, F_DUPFD_CLOEXEC, 10", 10);
    assert_eq!(trace.target(1, 10).as_deref(), Some("/log"));
}

#[test]
fn sockets_know_their_ends() {
    let mut trace = Trace::default();
    trace.call(1, "socket", "AF_INET, SOCK_STREAM|SOCK_CLOEXEC, IPPROTO_TCP", 3);
    trace.call(
        1,
        "bind",
        "3, {sa_family=AF_INET, sin_port=htons(8706), sin_addr=inet_addr(\"0.0.0.0\")}, 16",
        0,
    );
    trace.call(1, "listen", "3, 128", 0);
    trace.call(1, "accept4", "3, {sa_family=AF_INET, sin_port=htons(52220), sin_addr=inet_addr(\"10.0.0.9\")}, [16], SOCK_NONBLOCK", 7);
    let client = trace.fd(1, 7).unwrap();
    assert_eq!((client.kind, client.origin), (FdKind::Tcp, Origin::Accept));
    assert_eq!(client.peer(), Some("10.0.0.9:52220"));
    assert_eq!(client.local(), Some("0.0.0.0:8706"));
    trace.call(1, "socket", "AF_INET, SOCK_STREAM, IPPROTO_IP", 8);
    trace.call(
        1,
        "connect",
        "8, {sa_family=AF_INET, sin_port=htons(6379), sin_addr=inet_addr(\"127.0.0.1\")}, 16",
        -115,
    );
    assert_eq!(trace.target(1, 8).as_deref(), Some("127.0.0.1:6379"));
    trace.call(1, "socketpair", "AF_UNIX, SOCK_STREAM, 0, [9, 10]", 0);
    assert_eq!(trace.fd(1, 10).unwrap().kind, FdKind::Unix);
    trace.call(1, "pipe2", "[11, 12], O_CLOEXEC", 0);
    assert_eq!(trace.fd(1, 12).unwrap().kind, FdKind::Pipe);
    trace.call(1, "close_range", "9, 4294967295, 0", 0);
    assert!(trace.fd(1, 9).is_none() && trace.fd(1, 12).is_none() && trace.fd(1, 8).is_some());
}

#[test]
fn a_snapshot_tells_what_was_open_before() {
    let mut trace = Trace::default();
    let row = |fd, name: &str, kind| FdEntry {
        pid: Some(14985),
        fd: Some(fd),
        kind,
        name: Some(name.to_string()),
        comm: Some("java".to_string()),
        ..FdEntry::default()
    };
    trace.facts.push(Event::Fd(Box::new(row(1, "/dev/null", FdKind::DevNull))));
    trace.facts.push(Event::Fd(Box::new(row(23, "/data/app.log", FdKind::File))));
    trace.call(21124, "write", "23, \"x\", 1", 1);
    trace.call(30751, "write", "1, \"x\", 1", 1);
    assert_eq!(trace.target(21124, 23).as_deref(), Some("/data/app.log"));
    assert_eq!(trace.fd(30751, 1).unwrap().kind, FdKind::DevNull);
    trace.facts.finish();
    assert_eq!(trace.facts.world.files.find("/data/app.log").unwrap().bytes_written(), 1);
}

#[test]
fn a_snapshot_of_threads_tells_whose_each_is() {
    let mut trace = Trace::default();
    for (pid, tid, name) in
        [(100, None, "/a"), (200, None, "/b"), (100, Some(101), "/a"), (200, Some(201), "/b")]
    {
        trace.facts.push(Event::Process(ProcessInfo {
            pid,
            tid,
            comm: Some("worker".into()),
            ..ProcessInfo::default()
        }));
        let entry =
            FdEntry { pid: Some(pid), tid, fd: Some(3), name: Some(name.into()), ..FdEntry::default() };
        trace.facts.push(Event::Fd(Box::new(entry)));
    }
    trace.call(201, "read", "3, \"\", 512", 0);
    trace.call(101, "read", "3, \"\", 512", 0);
    assert_eq!(trace.target(201, 3).as_deref(), Some("/b"));
    assert_eq!(trace.target(101, 3).as_deref(), Some("/a"));
    assert_eq!(trace.facts.world.snapshot_rows, 2, "a thread's row tells nothing that its process's did not");
}

#[test]
fn relative_paths_are_joined() {
    let mut trace = Trace::default();
    trace.call(1, "chdir", "\"/srv\"", 0);
    trace.call(1, "openat", "AT_FDCWD, \"data\", O_RDONLY|O_DIRECTORY", 3);
    trace.call(1, "newfstatat", "3, \"7.txt\", {st_mode=S_IFREG|0644, st_size=5, ...}, 0", 0);
    trace.call(1, "newfstatat", "3, \"\", {st_mode=S_IFDIR|0755, st_size=4096, ...}, AT_EMPTY_PATH", 0);
    assert_eq!(trace.facts.world.files.find("/srv/data/7.txt").map(|file| file.stats), Some(1));
    assert_eq!(trace.fd(1, 3).unwrap().size, Some(4096));
}

#[test]
fn a_temporary_file_has_a_life() {
    let mut trace = Trace::default();
    for i in 0..3 {
        let path = format!("/tmp/9046db9e-fe25-11e8-b13f-0242ac11000{i}/{i}.txt");
        trace.call(1, "openat", &format!("AT_FDCWD, \"{path}\", O_WRONLY|O_CREAT|O_TRUNC, 0666"), 3);
        trace.call(1, "write", "3, \"x\"..., 100", 100);
        trace.call(1, "close", "3", 0);
        trace.call(1, "openat", &format!("AT_FDCWD, \"{path}\", O_RDONLY"), 3);
        trace.call(1, "read", "3, \"x\"..., 4096", 100);
        trace.call(1, "close", "3", 0);
        trace.call(1, "unlink", &format!("\"{path}\""), 0);
    }
    let temp = &trace.facts.world.files.temp["/tmp/{uuid}/{n}.txt"];
    assert_eq!((temp.files, temp.read_back_files, temp.written, temp.read_back), (3, 3, 300, 300));
}

#[test]
fn many_threads_and_files_stay_bounded_and_nothing_is_lost() {
    let mut trace = Trace::default();
    trace.call(1, "execve", "\"/bin/x\", [\"x\"], 0x7ffd", 0);
    let children = 30_000;
    for i in 0..children {
        let tid = 100 + i;
        trace.call(1, "clone", "child_stack=NULL, flags=CLONE_VM|CLONE_FILES|CLONE_THREAD", tid as i64);
        trace.call(tid, "stat", &format!("\"/data/{i}/x\", 0x7f"), -2);
        trace.exit(tid);
    }
    trace.facts.finish();
    let world = &trace.facts.world;
    assert!(world.threads.iter().count() < 3000, "{}", world.threads.iter().count());
    assert!(world.files.iter().count() <= 12_288);
    let stats: u64 =
        world.syscalls().iter().filter(|(name, _)| name == "stat").map(|(_, stats)| stats.count).sum();
    assert_eq!(stats, children as u64);
    let by_file: u64 = world.files.iter().map(|(_, file)| file.stats).sum::<u64>()
        + world.files.merged.values().map(|file| file.stats).sum::<u64>();
    assert_eq!(by_file, children as u64);
}

#[test]
fn reads_in_sequence_and_reads_at_offsets_are_told_apart() {
    let mut trace = Trace::default();
    trace.call(1, "openat", r#"AT_FDCWD, "/data/a", O_RDWR"#, 3);
    for _ in 0..3 {
        trace.call(1, "read", r#"3, "x", 1"#, 1);
    }
    // A pread names its offset and leaves the descriptor's own alone.
    trace.call(1, "pread64", r#"3, "y"..., 512, 8192"#, 512);
    trace.call(1, "pread64", r#"3, "y"..., 512, 8704"#, 512);
    trace.call(1, "lseek", "3, 100, SEEK_SET", 100);
    trace.call(1, "read", r#"3, "x", 128"#, 1);
    trace.call(1, "fsync", "3", 0);
    let life = trace.fd(1, 3).expect("open");
    let reads = life.reads.as_ref().expect("reads");
    assert_eq!(life.offset, 101);
    assert_eq!(life.extent, 9216);
    // The second and third byte, and the second pread; the first read follows nothing.
    assert_eq!(reads.in_sequence, 3);
    assert_eq!(reads.after_seek, 1);
    assert_eq!((reads.one_byte, reads.longest_one_byte_run), (3, 3));
    assert_eq!(life.seeks.count, 1);
    assert_eq!(life.syncs.count, 1);
    trace.call(1, "close", "3", 0);
    let file = trace.facts.world.files.find("/data/a").expect("used");
    assert_eq!((file.syncs.count, file.seeks.count), (1, 1));
}

#[test]
fn an_fstat_tells_what_a_descriptor_is() {
    let mut trace = Trace::default();
    trace.call(1, "lseek", "1, 0, SEEK_CUR", 0);
    trace.call(1, "fstat", "1, {st_mode=S_IFCHR|0666, st_rdev=makedev(0x1, 0x3), ...}", 0);
    trace.call(1, "fstat", "0, {st_mode=S_IFIFO|0600, st_size=0, ...}", 0);
    trace.call(1, "fstat", "2, {st_mode=S_IFCHR|0620, st_rdev=makedev(0x88, 0x1), ...}", 0);
    let kinds = [0, 1, 2].map(|fd| trace.fd(1, fd).map(|life| life.kind));
    assert_eq!(kinds, [Some(FdKind::Pipe), Some(FdKind::DevNull), Some(FdKind::Terminal)]);
}

#[test]
fn a_child_taken_for_a_thread_is_a_process_once_it_executes() {
    let mut trace = Trace::default();
    trace.call(1, "execve", r#""/usr/bin/go", ["go"], 0x7f"#, 0);
    trace.call(1, "openat", r#"AT_FDCWD, "/a", O_RDONLY|O_CLOEXEC"#, 3);
    trace.call(1, "clone", "child_stack=0x7f, flags=CLONE_VM|CLONE_THREAD", 2);
    trace.call(2, "gettid", "", 2);
    // A fork of thread 1 and a new thread of thread 2 are in flight; the forked child shows up first.
    trace.enter(1, "clone", "child_stack=NULL, flags=CLONE_VM|CLONE_VFORK|SIGCHLD");
    trace.enter(2, "clone", "child_stack=0x7f, flags=CLONE_VM|CLONE_THREAD");
    trace.call(9, "execve", r#""/usr/bin/asm", ["asm"], 0x7f"#, 0);
    trace.call(1, "clone", "child_stack=NULL, flags=CLONE_VM|CLONE_VFORK|SIGCHLD", 9);
    let threads = &mut trace.facts.world.threads;
    let of = |threads: &mut crate::world::threads::Threads, tid| {
        let thread = threads.find(tid).unwrap();
        threads.thread(thread).process
    };
    let (parent, child) = (of(threads, 1), of(threads, 9));
    assert_ne!(parent, child);
    assert_eq!(threads.process(parent).name(), Some("go"));
    assert_eq!(threads.process(child).name(), Some("asm"));
    assert_eq!(threads.process(child).parent, Some(parent));
    assert!(trace.fd(1, 3).is_some());
    assert!(trace.fd(9, 3).is_none());
}

/// Of any number of threads and descriptors as many are kept as a sane capture has, and the rest is counted.
#[test]
fn hosts_of_threads_and_descriptors_stay_bounded() {
    let mut facts = Facts::default();
    for tid in 1..10_000 {
        facts.push(Event::Call(&Call { tid, ret: Ret::Value(1), ..Call::new("read", "3, \"x\", 1") }));
    }
    for fd in 1..30_000 {
        let args = format!("{fd}, \"x\", 1");
        facts.push(Event::Call(&Call { tid: 1, ret: Ret::Value(1), ..Call::new("read", &args) }));
    }
    facts.finish();
    let threads = facts.world.threads.iter().count() as u64;
    assert!(threads < 7_000, "{threads}");
    assert_eq!(facts.world.threads.rest_calls() + threads, 10_000);
    let lives = facts.world.fds.iter().count() as u64;
    assert!(lives < 13_000, "{lives}");
    assert_eq!(facts.world.fds.refused + lives, 29_999 + 1);
    assert_eq!(facts.capture.notes.len(), 2);
}

#[test]
fn a_program_that_another_runs_has_its_own_name() {
    let mut trace = Trace::default();
    let mut tell = |comm: &str, exe: Option<&str>, parent: Option<u32>, executed: bool| {
        trace.facts.push(Event::Process(ProcessInfo {
            pid: parent.map_or(7, |_| 8),
            comm: Some(comm.into()),
            exe: exe.map(Into::into),
            parent,
            executed,
            ..ProcessInfo::default()
        }));
    };
    tell("bash", Some("/usr/bin/bash"), None, false);
    tell("bash", None, Some(7), false);
    tell("dd", None, Some(7), true);
    let name = |pid| {
        let process = trace.facts.world.threads.find_process(pid).expect("it is told");
        trace.facts.world.threads.process(process).name().map(str::to_string)
    };
    assert_eq!((name(7).as_deref(), name(8).as_deref()), (Some("bash"), Some("dd")));
}

#[test]
fn what_is_written_and_read_in_turns_is_a_socket() {
    let kind = |lines: &[(u32, &str, &str, i64)]| {
        let mut trace = Trace::default();
        for _ in 0..6 {
            for (tid, name, args, ret) in lines {
                trace.call(*tid, name, args, *ret);
            }
        }
        trace.facts.world.fds.iter().find(|(_, life)| life.fd == 4).map(|(_, life)| life.kind)
    };
    let write = (7, "write", r#"4, "ask", 3"#, 3);
    let read = (7, "read", r#"4, "answer", 8192"#, 6);
    assert_eq!(kind(&[write, read]), Some(FdKind::Socket));
    // One way only, as much as was asked for, or by several threads, which may be processes.
    assert_eq!(kind(&[read]), Some(FdKind::Unknown));
    assert_eq!(kind(&[write, (7, "read", r#"4, "answer", 6"#, 6)]), Some(FdKind::Unknown));
    assert_eq!(kind(&[write, (8, "read", r#"4, "answer", 8192"#, 6)]), Some(FdKind::Unknown));
    // Several threads that find nothing at times: no file does that.
    let by = |tid| {
        [
            (tid, "write", r#"4, "ask", 3"#, 3),
            (tid, "read", "4, 0xc0, 8192", -11),
            (tid, "read", r#"4, "answer", 8192"#, 6),
        ]
    };
    assert_eq!(kind(&[by(7), by(8)].concat()), Some(FdKind::Socket));
    // All of a large answer, as far as it is there, and then nothing.
    let large = [write, (7, "read", r#"4, "answer", 4096"#, 4096), (7, "read", "4, 0xc0, 4096", -11)];
    assert_eq!(kind(&large), Some(FdKind::Socket));
    let event =
        [(7, "write", r#"4, "\\1", 8"#, 8), (7, "read", r#"4, "\\1", 8"#, 8), (7, "read", "4, 0xc0, 8", -11)];
    assert_eq!(kind(&event), Some(FdKind::Unknown));
    let waits = [&by(7)[..1], &by(7)[2..], &by(8)[..1], &by(8)[2..]].concat();
    assert_eq!(kind(&waits), Some(FdKind::Unknown));
}

#[test]
fn a_request_names_the_server_that_it_is_for_but_not_where_it_is_passed_on() {
    let mut trace = Trace::default();
    let request = |fd: i32, host: &str| format!(r#"{fd}, "GET / HTTP/1.1\r\nHost: {host}\r\n\r\n", 40"#);
    trace.call(7, "write", &request(4, "prices:8000"), 40);
    trace.call(7, "read", &request(5, "shop.example"), 40);
    trace.call(7, "write", &request(6, "shop.example"), 40);
    let peer = |fd: i32| {
        let (_, life) = trace.facts.world.fds.iter().find(|(_, life)| life.fd == fd).expect("it is used");
        (life.kind, life.peer().map(str::to_string))
    };
    assert_eq!(peer(4), (FdKind::Socket, Some("prices:8000".to_string())));
    assert_eq!(peer(6), (FdKind::Socket, None));
}

#[test]
fn who_waits_for_connections_that_never_come_listens() {
    let listens = |ret: Ret, errno: Errno, flags: CallFlags| {
        let mut facts = Facts::default();
        let mut call = Call::new("accept4", "3<UNIX-STREAM:[7,\"/run/a.sock\"]>, NULL, NULL, 0");
        (call.tid, call.ts, call.ret, call.errno, call.flags) = (9, Timestamp::new(5), ret, errno, flags);
        facts.push(Event::Call(&call));
        facts.finish();
        facts.world.fds.iter().map(|(_, life)| life).find(|life| life.fd == 3).map(|life| life.listening)
    };
    assert_eq!(listens(Ret::Unknown, Errno::NONE, CallFlags::END_NOT_SEEN), Some(true));
    assert_eq!(listens(Ret::Value(-1), Errno::EAGAIN, CallFlags::default()), Some(true));
    assert_eq!(listens(Ret::Value(-1), Errno::EINVAL, CallFlags::default()), Some(false));
}

#[test]
fn the_name_of_a_unix_socket_is_that_of_its_end_and_names_the_peer_of_the_other() {
    let mut facts = Facts::default();
    for (tid, args) in
        [(1, "4<UNIX-STREAM:[9->7]>, \"x\", 1"), (2, "5<UNIX-STREAM:[7->9,\"/run/a.sock\"]>, \"x\", 1")]
    {
        let mut call = Call::new("write", args);
        (call.tid, call.ts, call.ret) = (tid, Timestamp::new(5), Ret::Value(1));
        facts.push(Event::Call(&call));
    }
    facts.finish();
    let ends = |fd| {
        let life = facts.world.fds.iter().map(|(_, life)| life).find(|life| life.fd == fd)?;
        Some((life.local().map(str::to_string), life.peer().map(str::to_string)))
    };
    let name = || Some("/run/a.sock".to_string());
    assert_eq!((ends(4), ends(5)), (Some((None, name())), Some((name(), None))));
}

#[test]
fn a_file_that_is_stated_as_a_fifo_is_a_pipe() {
    let mut facts = Facts::default();
    for (name, args, ret) in [
        ("openat", "AT_FDCWD, \"/tmp/p\", O_WRONLY", 3),
        ("newfstatat", "3, \"\", {st_mode=S_IFIFO|0644, st_size=0, ...}, AT_EMPTY_PATH", 0),
    ] {
        let mut call = Call::new(name, args);
        (call.tid, call.ts, call.ret) = (1, Timestamp::new(5), Ret::Value(ret));
        facts.push(Event::Call(&call));
    }
    facts.finish();
    let kinds: Vec<FdKind> = facts.world.fds.iter().map(|(_, life)| life.kind).collect();
    assert_eq!(kinds, [FdKind::Pipe]);
    assert!(facts.world.files.iter().any(|(_, file)| &*file.path == "/tmp/p" && file.fifo));
}
