use super::snapshot::{SnapshotSummary, snapshot};
use super::{ProcRoot, Selection};
use std::collections::BTreeSet;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use whyslow_model::{Event, FdEntry, FdKind, ProcessInfo, SourceId, Tid};

#[derive(Default)]
struct Told {
    processes: Vec<ProcessInfo>,
    fds: Vec<FdEntry>,
    notes: Vec<String>,
    summary: SnapshotSummary,
}

fn told(pids: &[Tid], root: &ProcRoot) -> Told {
    let mut told = Told::default();
    let mut sink = |event: Event<'_>| match event {
        Event::Process(info) => told.processes.push(info),
        Event::Fd(entry) => told.fds.push(*entry),
        Event::Note(note) => told.notes.push(note.text),
        other => panic!("{other:?}"),
    };
    let summary = snapshot(pids, root, SourceId(3), &mut sink);
    Told { summary, ..told }
}

#[test]
fn hostile_names() {
    let directory = tempfile::tempdir().expect("a directory");
    let name = |bytes: &[u8]| {
        use std::os::unix::ffi::OsStrExt;
        directory.path().join(Path::new(std::ffi::OsStr::from_bytes(bytes)))
    };
    let paths = [&b"new\nline"[..], b"\xff\xfe", b"kept (deleted)", b"socket:[1]", b"x -> y"].map(name);
    let files: Vec<File> = paths.iter().map(|path| File::create(path).expect("a file")).collect();
    let gone = File::create(name(b"gone (deleted)")).expect("a file");
    std::fs::remove_file(name(b"gone (deleted)")).expect("removed");
    let found = told(&[std::process::id()], &ProcRoot::live());
    let entry = |file: &File| {
        found.fds.iter().find(|entry| entry.fd == Some(file.as_raw_fd())).expect("its descriptor")
    };
    for (file, path) in files.iter().zip(&paths) {
        let entry = entry(file);
        assert_eq!(entry.name.as_deref(), Some(&*path.to_string_lossy()));
        assert_eq!((entry.kind, entry.deleted, entry.source), (FdKind::File, false, SourceId(3)));
    }
    let gone = entry(&gone);
    assert!(
        gone.deleted && gone.name.as_ref().is_some_and(|name| name.ends_with("gone (deleted)")),
        "{gone:?}"
    );
}

#[test]
fn how_it_is_open() {
    let path = tempfile::NamedTempFile::new().expect("a file");
    let open = |options: &mut std::fs::OpenOptions| options.open(path.path()).expect("opened");
    let files = [
        (open(File::options().read(true)), true, false),
        (open(File::options().append(true)), false, true),
        (open(File::options().read(true).write(true)), true, true),
        (open(File::options().read(true).custom_flags(libc::O_PATH)), false, false),
    ];
    let found = told(&[std::process::id()], &ProcRoot::live());
    for (file, readable, writable) in &files {
        let entry =
            found.fds.iter().find(|entry| entry.fd == Some(file.as_raw_fd())).expect("its descriptor");
        assert_eq!((entry.readable, entry.writable), (Some(*readable), Some(*writable)), "{entry:?}");
    }
}

#[test]
fn threads_by_name() {
    let (stop, wait) = std::sync::mpsc::channel::<()>();
    let (named, started) = std::sync::mpsc::channel();
    let thread = std::thread::Builder::new().name("pool-1-thread-7".into()).spawn(move || {
        named.send(rustix::thread::gettid().as_raw_nonzero().get() as Tid).expect("sent");
        let _ = wait.recv();
    });
    let thread = thread.expect("a thread");
    let tid = started.recv().expect("its number");
    let found = told(&[std::process::id()], &ProcRoot::live());
    let row = found.processes.iter().find(|info| info.tid == Some(tid)).expect("its row");
    assert_eq!((row.pid, row.comm.as_deref()), (std::process::id(), Some("pool-1-thread-7")));
    assert!(row.start.is_known());
    assert_eq!(found.processes.iter().filter(|info| info.tid.is_none()).count(), 1);
    drop(stop);
    thread.join().expect("it ends");
}

#[test]
fn many_descriptors_are_all_told() {
    // As many as the limit of this process lets be; the numbers are what is checked, not the time.
    let pairs =
        5_000.min(rustix::process::getrlimit(rustix::process::Resource::Nofile).current.unwrap_or(1024) / 8);
    let pairs: Vec<_> =
        (0..pairs).map(|_| std::os::unix::net::UnixStream::pair().expect("a pair of sockets")).collect();
    let found = told(&[std::process::id()], &ProcRoot::live());
    let numbers: BTreeSet<i32> = found.fds.iter().filter_map(|entry| entry.fd).collect();
    assert!(
        pairs
            .iter()
            .all(|(one, two)| numbers.contains(&one.as_raw_fd()) && numbers.contains(&two.as_raw_fd()))
    );
    assert_eq!(found.summary.left_out, 0);
}

#[test]
fn the_ended_and_the_hidden() {
    let directory = tempfile::tempdir().expect("a directory");
    let root = ProcRoot::at(directory.path());
    let found = told(&[7], &root);
    assert_eq!((found.summary.gone, found.processes.len()), (1, 0));
    // A process without anything but its stat: it is told, and so is what cannot be seen.
    std::fs::create_dir_all(directory.path().join("proc/7/fd")).expect("a directory");
    let stat = "7 (x) S 1 1 1 0 -1 64 0 0 0 0 0 0 0 0 20 0 1 0 400 0 0";
    std::fs::write(directory.path().join("proc/7/stat"), stat).expect("written");
    std::fs::write(directory.path().join("proc/stat"), "cpu 1\nbtime 1000000000\n").expect("written");
    std::fs::write(directory.path().join("proc/7/fd/5"), "no link").expect("written");
    let found = told(&[7], &root);
    assert_eq!(found.processes[0].start.get(), Some(1_000_000_004_000_000_000));
    assert_eq!((found.fds.len(), found.fds[0].fd, found.fds[0].kind), (1, Some(5), FdKind::Unknown));
    std::fs::remove_dir_all(directory.path().join("proc/7/fd")).expect("removed");
    std::fs::write(directory.path().join("proc/7/fd"), "no directory").expect("written");
    let found = told(&[7], &root);
    assert_eq!((found.summary.unreadable, found.notes.len()), (1, 1));
}

#[test]
fn the_whole_host() {
    // Some end meanwhile, and some may hide: no matter.
    let all = Selection { all: true, ..Selection::default() }.resolve(&ProcRoot::live()).expect("processes");
    let found = told(&all.pids(), &ProcRoot::live());
    assert!(found.summary.processes > 0 && found.summary.open > 0, "{:?}", found.summary);
    assert_eq!(found.fds.len() as u64, found.summary.open);
}
