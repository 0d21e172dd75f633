//! Files: two threads write 23 files each with known bytes, read them back and remove them at once; what was added up is
//! held against what was done.

use super::{Seen, TIMES, only, record};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;
use whyslow_model::{FdKind, FileIo, FileOp, SocketEnds};
use whyslow_record::{Mode, Options};

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("files-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder.canonicalize().unwrap()
}

/// Writes, syncs, reads back and removes `number`.txt: inode numbers come again and again.
fn one(folder: &Path, number: usize) {
    let path = folder.join(format!("{number}.txt"));
    let mut file = std::fs::File::create(&path).unwrap();
    for _ in 0..3 {
        file.write_all(&vec![7; 1_000 + number]).unwrap();
    }
    drop(file);
    let mut file = std::fs::File::open(&path).unwrap();
    let mut buffer = [0; 512];
    while file.read(&mut buffer).unwrap() > 0 {}
    drop(file);
    std::fs::remove_file(&path).unwrap();
}

/// Records what is done with files, and nothing else.
fn files_alone(options: &mut Options) {
    options.files = true;
    options.mode = Mode::None;
    options.sched = false;
}

fn tid() -> u32 {
    rustix::thread::gettid().as_raw_nonzero().get() as u32
}

/// Rows of one thread, file and way, added up.
fn sum(seen: &Seen, tid: u32, path: &Path, op: FileOp) -> (u64, u64) {
    let rows = seen.files.iter().filter(|io| io.tid == tid && io.op == op);
    let rows = rows.filter(|io| io.path.as_deref() == path.to_str());
    rows.fold((0, 0), |(calls, bytes), io| (calls + io.calls, bytes + io.bytes))
}

fn assert_adds_up(seen: &Seen) {
    let calls: u64 = seen.files.iter().map(|io| io.calls).sum();
    let loss = seen.losses.iter().find(|loss| loss.table == "files").expect("a row of losses");
    assert_eq!(loss.lost + calls, loss.produced, "{loss:?}");
    for io in &seen.files {
        assert!(io.calls > 0 && io.timed <= io.calls && io.errors <= io.calls, "{io:?}");
        assert!(io.longest.or_zero() <= io.total.or_zero(), "{io:?}");
        assert!(io.first <= io.last, "{io:?}");
    }
}

#[test]
fn bytes_calls_and_paths_are_those_of_the_threads() {
    let folder = folder("known");
    let there = folder.clone();
    let work = move || {
        let other = {
            let folder = there.clone();
            std::thread::spawn(move || {
                (TIMES..2 * TIMES).for_each(|number| one(&folder, number));
                tid()
            })
        };
        (0..TIMES).for_each(|number| one(&there, number));
        other.join().unwrap()
    };
    // The other thread is made while recording: a thread of a watched process is watched.
    let options = only(|options| {
        files_alone(options);
        options.follow = true;
    });
    let Some((seen, other, _)) = record(options, work, |_| ()) else { return };
    assert_adds_up(&seen);
    for number in 0..2 * TIMES {
        let tid = if number < TIMES { seen.tid } else { other };
        let path = folder.join(format!("{number}.txt"));
        let bytes = 3 * (1_000 + number as u64);
        let reads = bytes.div_ceil(512) + 1;
        let told = [FileOp::Write, FileOp::Read, FileOp::Open].map(|op| sum(&seen, tid, &path, op));
        assert_eq!(told, [(3, bytes), (reads, bytes), (2, 0)], "{}", path.display());
    }
    let ours = |io: &&FileIo| io.path.as_deref().is_some_and(|path| Path::new(path).starts_with(&folder));
    for io in seen.files.iter().filter(ours) {
        assert_eq!((io.pid, io.kind, io.errors), (std::process::id(), FdKind::File, 0), "{io:?}");
        assert!(io.file.is_some() && io.total.is_known(), "{io:?}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn pipes_and_copies_have_both_their_sides() {
    let folder = folder("copies");
    let (from, to) = (folder.join("from"), folder.join("to"));
    std::fs::write(&from, vec![7; 5_000]).unwrap();
    let paths = (from.clone(), to.clone());
    let work = move || {
        let (from, to) = paths;
        let (from, to) = (std::fs::File::open(from).unwrap(), std::fs::File::create(to).unwrap());
        for _ in 0..TIMES {
            let mut at = 0;
            let sent = rustix::fs::sendfile(&to, &from, Some(&mut at), 1_000).unwrap();
            assert_eq!(sent, 1_000);
        }
        rustix::fs::fdatasync(&to).unwrap();
        let (mut out, mut into) = std::io::pipe().unwrap();
        for _ in 0..TIMES {
            into.write_all(b"twelve bytes").unwrap();
            out.read_exact(&mut [0; 12]).unwrap();
        }
        // Not open: fails, and counts as a call on no known file.
        // SAFETY: a read from a descriptor that is not there.
        unsafe { libc::read(1_000_000, [0u8; 4].as_mut_ptr().cast(), 4) };
    };
    let options = only(files_alone);
    let Some((seen, ..)) = record(options, work, |_| ()) else { return };
    assert_adds_up(&seen);
    let times = TIMES as u64;
    assert_eq!(sum(&seen, seen.tid, &from, FileOp::Read), (times, times * 1_000));
    assert_eq!(sum(&seen, seen.tid, &to, FileOp::Write), (times, times * 1_000));
    assert_eq!(sum(&seen, seen.tid, &to, FileOp::Sync), (1, 0));
    let pipes = |op: FileOp| {
        let rows =
            seen.files.iter().filter(|io| io.tid == seen.tid && io.kind == FdKind::Pipe && io.op == op);
        rows.map(|io| (io.calls, io.bytes, io.path.clone(), io.file)).collect::<Vec<_>>()
    };
    // The test's own channels are no pipes.
    let wanted = [(times, times * 12, None, None)];
    assert_eq!((pipes(FileOp::Read), pipes(FileOp::Write)), (wanted.to_vec(), wanted.to_vec()));
    assert!(
        seen.files.iter().any(|io| io.path.is_none() && io.errors == 1 && io.tid == seen.tid),
        "{:?}",
        seen.files
    );
    std::fs::remove_dir_all(&folder).unwrap();
}

/// Sends and receives 23 times in turns over a connection; the other end is served by a thread.
fn turns(mut asks: impl Read + Write, mut serves: impl Read + Write + Send + 'static) {
    let other = std::thread::spawn(move || {
        for _ in 0..TIMES {
            serves.read_exact(&mut [0; 5]).unwrap();
            serves.write_all(b"answer!").unwrap();
        }
    });
    for _ in 0..TIMES {
        asks.write_all(b"asked").unwrap();
        asks.read_exact(&mut [0; 7]).unwrap();
    }
    other.join().unwrap();
}

#[test]
fn sockets_are_told_by_the_service_that_they_lead_to() {
    let folder = folder("services");
    let path = folder.join("a.sock");
    let there = path.clone();
    let work = move || {
        let tcp = ["127.0.0.1:0", "[::1]:0"].map(|address| {
            let listener = std::net::TcpListener::bind(address).unwrap();
            let service = listener.local_addr().unwrap();
            // Two connections, whose rows add up.
            for _ in 0..2 {
                let asks = std::net::TcpStream::connect(service).unwrap();
                turns(asks, listener.accept().unwrap().0);
            }
            service.to_string()
        });
        let listener = std::os::unix::net::UnixListener::bind(&there).unwrap();
        let asks = std::os::unix::net::UnixStream::connect(&there).unwrap();
        turns(asks, listener.accept().unwrap().0);
        // A pair leads to no service.
        let (one, other) = std::os::unix::net::UnixStream::pair().unwrap();
        turns(one, other);
        let server = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        let asks = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        asks.connect(server.local_addr().unwrap()).unwrap();
        (0..TIMES).for_each(|_| assert_eq!(asks.send(b"datagram").unwrap(), 8));
        (tcp, server.local_addr().unwrap().to_string())
    };
    let options = only(|options| {
        files_alone(options);
        options.follow = true;
    });
    let Some((seen, (tcp, udp), _)) = record(options, work, |_| ()) else { return };
    assert_adds_up(&seen);
    let of = |kind: FdKind, ends: &SocketEnds, op: FileOp| {
        let rows = seen.files.iter().filter(|io| io.kind == kind && io.op == op && io.ends == *ends);
        rows.fold((0, 0), |(calls, bytes), io| (calls + io.calls, bytes + io.bytes))
    };
    let asks = |name: &str| SocketEnds { local: None, peer: Some(name.to_string()) };
    let serves = |name: &str| SocketEnds { local: Some(name.to_string()), peer: None };
    let times = TIMES as u64;
    let [v4, v6] = [&*tcp[0], &*tcp[1]];
    for (kind, name, connections) in
        [(FdKind::Tcp, v4, 2), (FdKind::Tcp, v6, 2), (FdKind::Unix, path.to_str().unwrap(), 1)]
    {
        let turns = connections * times;
        for (ends, sent, received) in [(asks(name), 5, 7), (serves(name), 7, 5)] {
            assert_eq!(of(kind, &ends, FileOp::Write), (turns, turns * sent), "{name}");
            assert_eq!(of(kind, &ends, FileOp::Read), (turns, turns * received), "{name}");
        }
    }
    assert_eq!(of(FdKind::Udp, &asks(&udp), FileOp::Write), (times, times * 8));
    assert_eq!(of(FdKind::Unix, &SocketEnds::default(), FileOp::Write), (0, 0));
    assert_eq!(of(FdKind::Socket, &SocketEnds::default(), FileOp::Write), (2 * times, times * 12));
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn sizes_and_calls_that_go_on_where_the_one_before_ended() {
    let folder = folder("order");
    let path = folder.join("read");
    std::fs::write(&path, vec![7; 10_000]).unwrap();
    let there = path.clone();
    let work = move || {
        use std::os::unix::fs::FileExt;
        let mut file = std::fs::File::open(&there).unwrap();
        // Ten pieces in order, then ten from the last one to the first.
        let mut piece = [0; 1_000];
        (0..10).for_each(|_| file.read_exact(&mut piece).unwrap());
        (0..10).rev().for_each(|at| file.read_exact_at(&mut piece, at * 1_000).unwrap());
    };
    let options = only(files_alone);
    let Some((seen, ..)) = record(options, work, |_| ()) else { return };
    let rows: Vec<&FileIo> =
        seen.files.iter().filter(|io| io.path.as_deref() == path.to_str() && io.op == FileOp::Read).collect();
    // On another CPU a row of its own begins.
    let in_order: u64 = rows.iter().filter_map(|io| io.in_order).sum();
    let calls: u64 = rows.iter().map(|io| io.calls).sum();
    assert_eq!(calls, 20, "{rows:?}");
    assert!((8..=9).contains(&in_order), "{rows:?}");
    assert!(rows.iter().all(|io| io.size == Some(10_000)), "{rows:?}");
    std::fs::remove_dir_all(&folder).unwrap();
}

/// More files at a time than a table has rows: what makes place is kept.
#[test]
fn rows_that_make_place_are_not_lost() {
    let folder = folder("many");
    let there = folder.clone();
    let many = 9_000;
    let work = move || {
        for _ in 0..2 {
            for number in 0..many {
                let mut file = std::fs::File::options()
                    .append(true)
                    .create(true)
                    .open(there.join(number.to_string()))
                    .unwrap();
                file.write_all(b"seven77").unwrap();
                // A machine that is busy takes the rows away later.
                if number % 128 == 0 {
                    std::thread::sleep(Duration::from_millis(5));
                }
            }
        }
    };
    let options = only(files_alone);
    let Some((seen, ..)) = record(options, work, |_| ()) else { return };
    assert_adds_up(&seen);
    let loss = seen.losses.iter().find(|loss| loss.table == "files").unwrap();
    assert_eq!(loss.lost, 0, "of {} calls", loss.produced);
    for number in 0..many {
        let path = folder.join(number.to_string());
        assert_eq!(sum(&seen, seen.tid, &path, FileOp::Write), (2, 14), "{}", path.display());
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

/// Runs `body` in a child process, which makes nothing but system calls; true where it says that it did what it should.
fn in_child(body: impl Fn() -> bool) -> bool {
    // SAFETY: the child makes system calls alone, with what was allocated before, and leaves by _exit.
    unsafe {
        match libc::fork() {
            0 => libc::_exit(i32::from(!body())),
            -1 => false,
            child => {
                let mut status = 0;
                libc::waitpid(child, &raw mut status, 0) == child && status == 0
            }
        }
    }
}

/// Makes the file and writes 23 times four bytes to it.
fn write_to(path: &std::ffi::CStr) -> bool {
    // SAFETY: a path that ends in NUL and a buffer of the length given.
    unsafe {
        let fd = libc::open(path.as_ptr(), libc::O_CREAT | libc::O_WRONLY, 0o600);
        let wrote = (0..TIMES).all(|_| libc::write(fd, c"four".as_ptr().cast(), 4) == 4);
        fd >= 0 && wrote && libc::close(fd) == 0 && libc::unlink(path.as_ptr()) == 0
    }
}

/// A path is told as its process sees it: below its own root, and through the mounts of its own namespace.
#[test]
fn paths_are_those_of_the_process() {
    let folder = folder("roots");
    let (inside, mounted) = (folder.join("inside"), folder.join("mounted"));
    std::fs::create_dir_all(inside.join("deep")).unwrap();
    std::fs::create_dir_all(&mounted).unwrap();
    let text = |path: &Path| std::ffi::CString::new(path.to_str().unwrap()).unwrap();
    let (root, at, through) = (text(&inside), text(&mounted), text(&mounted.join("deep/bound.txt")));
    let work = move || {
        let in_root = in_child(|| {
            // SAFETY: paths that end in NUL.
            let entered = unsafe { libc::chroot(root.as_ptr()) == 0 && libc::chdir(c"/".as_ptr()) == 0 };
            entered && write_to(c"/deep/chrooted.txt")
        });
        let in_mount = in_child(|| {
            let private = libc::MS_REC | libc::MS_PRIVATE;
            let none = std::ptr::null();
            // SAFETY: paths that end in NUL; the mounts are of a namespace that ends with the child.
            let mounted = unsafe {
                libc::unshare(libc::CLONE_NEWNS) == 0
                    && libc::mount(none, c"/".as_ptr(), none, private, none.cast()) == 0
                    && libc::mount(root.as_ptr(), at.as_ptr(), none, libc::MS_BIND, none.cast()) == 0
            };
            mounted && write_to(&through)
        });
        (in_root, in_mount)
    };
    let options = only(|options| {
        files_alone(options);
        options.follow = true;
    });
    let Some((seen, (in_root, in_mount), _)) = record(options, work, |_| ()) else { return };
    assert_adds_up(&seen);
    let written = |path: &str| -> (u64, u64) {
        let rows = seen.files.iter().filter(|io| io.op == FileOp::Write && io.path.as_deref() == Some(path));
        rows.fold((0, 0), |(calls, bytes), io| (calls + io.calls, bytes + io.bytes))
    };
    let wanted = (TIMES as u64, 4 * TIMES as u64);
    for (did, what, path) in [
        (in_root, "chroot", "/deep/chrooted.txt"),
        (in_mount, "bind mount", mounted.join("deep/bound.txt").to_str().unwrap()),
    ] {
        match did {
            true => assert_eq!(written(path), wanted, "{what}: {:?}", seen.files),
            false => println!("note: no {what} here, so its path was not compared"),
        }
    }
    std::fs::remove_dir_all(&folder).unwrap();
}
