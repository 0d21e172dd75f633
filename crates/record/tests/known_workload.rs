//! A known workload, recorded: every call of it is there.
#![cfg(feature = "bpf")]

use std::time::Duration;
use whyslow_record::{Mode, Options, Session};

#[test]
fn smoke() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = std::process::Command::new("sh")
        .args(["-c", "read x; cat /etc/hostname >/dev/null; ls / >/dev/null; kill -0 $$"])
        .stdin(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let options = Options {
        pids: vec![child.id()],
        mode: Mode::Full,
        spool: folder.path().into(),
        ..Options::default()
    };
    let mut session = match Session::start(options) {
        Ok(session) => session,
        Err(error) => panic!("{error}"),
    };
    eprintln!("attach {:?} per call {:?}", session.attach_took(), session.per_call());
    drop(child.stdin.take());
    child.wait().unwrap();
    std::thread::sleep(Duration::from_millis(100));
    eprintln!("{:?}", session.tick().unwrap());
    let recorded = session.stop().unwrap();
    eprintln!("{:?} {:?} {:?}", recorded.losses, recorded.trouble, recorded.notes);
    for entry in std::fs::read_dir(folder.path()).unwrap() {
        let entry = entry.unwrap();
        eprintln!("{:?} {}", entry.file_name(), entry.metadata().unwrap().len());
    }
}
