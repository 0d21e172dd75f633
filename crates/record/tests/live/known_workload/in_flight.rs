//! Calls that are under way as the recording begins or ends: how long they took within it, and the path that they wait for.

use super::{falls_asleep, only, record, thread_falls_asleep};
use std::fs::{File, OpenOptions};
use std::path::Path;
use std::time::Duration;
use whyslow_model::Nanos;

/// Opens a pipe for writing, which ends the wait of who opens it for reading.
fn release(pipe: &Path) {
    drop(OpenOptions::new().write(true).open(pipe).unwrap());
}

#[test]
fn what_never_returns_shows_its_path() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = |name: &str| {
        let path = folder.path().join(name);
        rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
        path
    };
    let (before, within) = (pipe("waited-for-before"), pipe("waited-for-within"));
    let (tell, told) = std::sync::mpsc::channel();
    let opens = before.clone();
    let all_along = std::thread::spawn(move || {
        tell.send(rustix::thread::gettid().as_raw_nonzero().get() as u32).unwrap();
        File::open(opens).unwrap()
    });
    let waits = told.recv().unwrap();
    falls_asleep(waits);
    let opens = within.clone();
    let work = move || {
        let (tell, told) = std::sync::mpsc::channel();
        let waiter = std::thread::spawn(move || {
            tell.send(rustix::thread::gettid().as_raw_nonzero().get() as u32).unwrap();
            File::open(opens).unwrap()
        });
        falls_asleep(told.recv().unwrap());
        waiter
    };
    let options = only(|options| options.tids = vec![waits]);
    let recorded = record(options, work, |_| ());
    release(&before);
    all_along.join().unwrap();
    let Some((seen, waiter, _)) = recorded else { return };
    release(&within);
    waiter.join().unwrap();
    for path in [before, within] {
        let line = format!("openat(AT_FDCWD, \"{}\", O_RDONLY|O_CLOEXEC <unfinished ...>", path.display());
        let shown = seen.unfinished.iter().filter(|shown| shown.ends_with(&line)).count();
        assert_eq!(shown, 1, "{line} in {:#?}", seen.unfinished);
    }
}

/// A recorder may read its own memory whatever it has given up: only another process shows whether it has kept the right to read.
#[test]
fn what_another_process_never_returns_from_shows_its_path() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("waited-for-by-cat");
    rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    let mut cat = std::process::Command::new("cat").arg(&path).spawn().unwrap();
    thread_falls_asleep(cat.id(), cat.id());
    let recorded = record(only(|options| options.tids = vec![cat.id()]), || (), |_| ());
    release(&path);
    cat.wait().unwrap();
    let Some((seen, ..)) = recorded else { return };
    let line = format!("openat(AT_FDCWD, \"{}\", O_RDONLY <unfinished ...>", path.display());
    assert!(seen.unfinished.iter().any(|shown| shown.ends_with(&line)), "{line} in {:#?}", seen.unfinished);
}

#[test]
fn what_began_before_took_as_long_as_it_was_watched() {
    const WAITS: Duration = Duration::from_millis(40);
    // The thread waits to be told to go on, before the recording and for a while of it.
    let recorded = record(only(|_| ()), || (), |_| std::thread::sleep(WAITS));
    let Some((seen, ..)) = recorded else { return };
    let [took] = seen.began_before[..] else { panic!("{:?}", seen.began_before) };
    assert!(took >= Nanos::new(WAITS.as_nanos() as u64) && took < Nanos::from_secs(60), "{took}");
}
