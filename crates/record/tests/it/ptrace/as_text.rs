//! What the recorder reads of a program's memory, printed: as strace prints the same calls.

use super::program::{options, tracee};
use std::ffi::{OsStr, OsString};
use whyslow_model::{Errno, Ret, SourceId};
use whyslow_record::Clock;
use whyslow_record::decode::{self, CallText, NoNames, PrintOptions};
use whyslow_record::ptrace::{RawEvent, Recorder};

/// The calls of the program as lines, without addresses.
fn lines(args: &[&str]) -> Option<Vec<String>> {
    let args: Vec<OsString> = args.iter().map(OsString::from).collect();
    let mut recorder = Recorder::spawn(OsStr::new(tracee()?), &args, options()).unwrap();
    let (mut lines, mut text) = (Vec::new(), CallText::default());
    let mut print = |event: RawEvent<'_>| {
        let RawEvent::Call(raw) = event else { return };
        decode::print(&raw, &NoNames, &PrintOptions::default(), &mut text);
        let call = text.to_call(&raw, Clock { offset: 0 }, SourceId(0), 1);
        assert_eq!(call.cpu, None, "ptrace does not see the CPU");
        let (name, args) = (String::from_utf8_lossy(call.name), String::from_utf8_lossy(call.args));
        let ret = match call.ret {
            Ret::Value(_) if call.errno != Errno::NONE => call.errno.to_string(),
            Ret::Value(value) => value.to_string(),
            Ret::Unknown => "?".to_string(),
        };
        lines.push(format!("{name}({args}) = {ret}"));
    };
    recorder.run(&mut || false, &mut print).unwrap();
    Some(lines)
}

#[test]
fn memory_becomes_straces_text() {
    let Some(lines) = lines(&["memory"]) else { return };
    for expected in [
        "openat(AT_FDCWD, \"/nonexistent/file\", O_RDONLY) = ENOENT",
        "connect(3, {sa_family=AF_UNIX, sun_path=\"/nonexistent/socket\"}, 110) = ENOENT",
        "openat(AT_FDCWD, 0x5000, O_RDONLY) = EFAULT",
        "openat(AT_FDCWD, 0x1, O_RDONLY) = EFAULT",
        "exit_group(0) = ?",
    ] {
        assert!(lines.iter().any(|line| line == expected), "{expected}\nis not in\n{}", lines.join("\n"));
    }
    for beginning in ["write(4, \"question\", 8) = 8", "read(5, \"question\", 64) = 8", "execve(\"/"] {
        assert!(lines.iter().any(|line| line.starts_with(beginning)), "{beginning}\n{}", lines.join("\n"));
    }
}
