use super::*;
use proptest::prelude::*;
use std::os::fd::AsRawFd;
use whyslow_model::{Errno, Ret};

fn call<'a>(pid: Tid, name: &'a str, args: &'a str, ret: i64) -> Call<'a> {
    let errno = if ret < 0 { Errno::EBADF } else { Errno::NONE };
    Call { tid: pid, pid: Some(pid), ret: Ret::Value(ret), errno, ..Call::new(name, args) }
}

fn run(names: &mut FdNames, pid: Tid, calls: &[(&str, &str, i64)]) {
    for (name, args, ret) in calls {
        let call = call(pid, name, args, *ret);
        names.before(&call);
        names.after(&call);
    }
}

fn name(names: &FdNames, pid: Tid, fd: i32) -> Option<String> {
    names.fd(pid, fd).map(Cow::into_owned)
}

#[test]
fn descriptors_come_and_go() {
    let mut names = FdNames::recorded();
    run(
        &mut names,
        7,
        &[
            ("openat", r#"AT_FDCWD, "/etc/pass\167d", O_RDONLY|O_CLOEXEC"#, 3),
            ("dup2", "3, 5", 5),
            ("epoll_create1", "EPOLL_CLOEXEC", 4),
            ("chdir", r#""/srv/a""#, 0),
            ("open", r#""../b/./c", O_RDONLY"#, 6),
            ("open", r#""/very/lo"..., O_RDONLY"#, 8),
            ("close", "3", 0),
            ("close", "3", -1),
            ("fcntl", "4, F_SETFD, 0", 0),
        ],
    );
    let of = |fd| name(&names, 7, fd);
    assert_eq!(of(3), None);
    assert_eq!(of(5).as_deref(), Some("/etc/passwd"));
    assert_eq!(of(4).as_deref(), Some("anon_inode:[eventpoll]"));
    assert_eq!(of(6).as_deref(), Some("/srv/b/c"));
    assert_eq!((of(8), of(-1), of(AT_FDCWD).as_deref()), (None, None, Some("/srv/a")));
}

#[test]
fn forks_share_until_one_changes() {
    let mut names = FdNames::recorded();
    run(&mut names, 7, &[("open", r#""/a", O_RDONLY|O_CLOEXEC"#, 3), ("open", r#""/b", O_RDONLY"#, 4)]);
    run(&mut names, 7, &[("clone", "child_stack=NULL, flags=CLONE_CHILD_SETTID|SIGCHLD", 8)]);
    run(&mut names, 7, &[("clone", "flags=CLONE_VM|CLONE_FILES|CLONE_THREAD", 9)]);
    run(&mut names, 7, &[("clone", "flags=CLONE_FILES|SIGCHLD", 10), ("close", "4", 0)]);
    assert_eq!((name(&names, 7, 4), name(&names, 8, 4).as_deref()), (None, Some("/b")));
    assert_eq!((name(&names, 9, 3), name(&names, 10, 4)), (None, None));
    assert_eq!(name(&names, 10, 3).as_deref(), Some("/a"));
    run(&mut names, 8, &[("execve", r#""/bin/x", ["x"], 0x1 /* 2 vars */"#, 0)]);
    assert_eq!((name(&names, 8, 3), name(&names, 7, 3).as_deref()), (None, Some("/a")));
    names.exited(7);
    assert_eq!((name(&names, 7, 3), name(&names, 10, 3).as_deref()), (None, Some("/a")));
    names.exited(10);
    names.exited(8);
    assert_eq!((names.slots, names.tables.len(), names.shared.len()), (0, 0, 0));
}

#[test]
fn ranges() {
    let mut names = FdNames::recorded();
    for fd in 3..8 {
        run(&mut names, 7, &[("eventfd2", "0, 0", fd)]);
    }
    run(
        &mut names,
        7,
        &[("close_range", "6, 4294967295, 0", 0), ("close_range", "3, 3, CLOSE_RANGE_CLOEXEC", 0)],
    );
    assert_eq!((3..8).filter(|fd| name(&names, 7, *fd).is_some()).count(), 3);
    run(&mut names, 7, &[("execve", r#""/x", [], []"#, 0)]);
    assert_eq!((3..8).filter(|fd| name(&names, 7, *fd).is_some()).count(), 2);
}

#[test]
fn live_descriptors_of_ourselves() {
    let pid = std::process::id();
    let mut names = FdNames::live();
    let (one, other) = std::os::unix::net::UnixStream::pair().expect("a pair");
    let link =
        |fd: i32| std::fs::read_link(format!("/proc/self/fd/{fd}")).expect("a link").display().to_string();
    let (one, other) = ((one.as_raw_fd(), one), (other.as_raw_fd(), other));
    let args = format!("AF_UNIX, SOCK_STREAM|SOCK_CLOEXEC, 0, [{}, {}]", one.0, other.0);
    run(&mut names, pid, &[("socketpair", &args, 0)]);
    assert_eq!(names.name(pid, one.0).map(str::to_string), Some(link(one.0)));
    assert_eq!(names.name(pid, other.0).map(str::to_string), Some(link(other.0)));
    // A file that no call told of, and a working directory.
    let file = tempfile::NamedTempFile::new().expect("a file");
    let fd = file.as_file().as_raw_fd();
    assert_eq!(names.name(pid, fd), None);
    assert_eq!(name(&names, pid, fd), Some(link(fd)));
    let cwd = std::env::current_dir().expect("a working directory").display().to_string();
    assert_eq!(name(&names, pid, AT_FDCWD), Some(cwd));
    // A link to it is resolved; what only shares the number is not taken.
    let args = format!("AT_FDCWD, \"/proc/self/root{}\", O_RDONLY", file.path().display());
    run(&mut names, pid, &[("openat", &args, fd.into())]);
    assert_eq!(name(&names, pid, fd), Some(link(fd)));
    run(&mut names, pid, &[("pipe2", &format!("[{fd}, {}], 0", one.0), 0)]);
    assert_eq!((names.name(pid, fd), names.name(pid, one.0)), (None, None));
}

#[test]
fn a_snapshot_shows_what_strace_would() {
    let pid = std::process::id();
    let (reader, writer) = std::io::pipe().expect("a pipe");
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a listener");
    let mut names = FdNames::recorded();
    let mut sink = |event: whyslow_model::Event<'_>| {
        if let whyslow_model::Event::Fd(entry) = event {
            names.open_at_attach(&entry);
        }
    };
    let root = crate::target::ProcRoot::live();
    crate::target::snapshot(&[pid], &root, whyslow_model::SourceId(0), &mut sink);
    for fd in [0, reader.as_raw_fd(), writer.as_raw_fd(), listener.as_raw_fd()] {
        let link = std::fs::read_link(format!("/proc/self/fd/{fd}")).expect("a link").display().to_string();
        let link = link.strip_suffix(" (deleted)").unwrap_or(&link);
        assert_eq!(names.name(pid, fd), Some(link));
    }
    let anonymous = |kind, name: &str, inode| {
        shown(&FdEntry { kind, name: Some(name.into()), inode, ..FdEntry::default() })
    };
    assert_eq!(anonymous(FdKind::Epoll, "[eventpoll:3,4]", None).as_deref(), Some("anon_inode:[eventpoll]"));
    assert_eq!(anonymous(FdKind::Inotify, "inotify", None).as_deref(), Some("anon_inode:inotify"));
    assert_eq!(anonymous(FdKind::Anonymous, "net", Some(4)).as_deref(), Some("net:[4]"));
}

const CALLS: &[&str] = &[
    "openat",
    "open",
    "socket",
    "socketpair",
    "pipe2",
    "dup2",
    "fcntl",
    "close",
    "close_range",
    "clone",
    "execve",
    "chdir",
    "fchdir",
    "memfd_create",
    "accept4",
];

proptest! {
    #[test]
    fn any_calls_are_survived_and_counted(
        calls in prop::collection::vec((1u32..6, prop::sample::select(CALLS), r#"(AT_FDCWD|[0-9]|\[3, 4\]|"/?[a-c./]{0,6}"|CLONE_FILES|F_DUPFD|O_CLOEXEC)(, (AT_FDCWD|[0-9]|"[a-c./]{0,6}"|O_CLOEXEC|\[3, 4\])){0,4}"#, -1i64..9), 0..80),
    ) {
        let mut names = FdNames::recorded();
        for (pid, name, args, ret) in &calls {
            run(&mut names, *pid, &[(name, args, *ret)]);
        }
        for pid in 0..16 {
            names.exited(pid);
        }
        prop_assert_eq!((names.tables.len(), names.shared.len()), (0, 0));
        prop_assert_eq!(names.slots, 0);
    }
}
