//! Lines of every shape that strace and ltrace write, and the events they become.

use crate::common::{bytes, see, skipped};
use whyslow_model::line::LineThread;
use whyslow_model::{Event, LineFormat};
use whyslow_read::{Input, ReadOptions, read};

/// The events of a log, one a line.
fn events(log: &str) -> Vec<String> {
    see(&[bytes("log", log.as_bytes())], 1).events
}

#[track_caller]
fn check(log: &str, expected: &[&str]) {
    assert_eq!(events(log), expected);
}

#[test]
fn a_whole_line() {
    check(
        "21124 10:34:34.289915 sendto(669, \"*4\\r\\n\", 89, 0, NULL, 0) = 89 <0.000051>\n",
        &[
            "call 1-1 tid 21124 at 38074.289915000 for 51000ns: sendto(669, \"*4\\r\\n\", 89, 0, NULL, 0) = 89  [] []",
        ],
    );
}

#[test]
fn halves_are_joined_with_both_line_numbers() {
    check(
        "21124 10:34:34.290015 poll([{fd=669, events=POLLIN}], 1, 2000 <unfinished ...>\n\
         5 10:34:35.000000 close(3) = 0 <0.000001>\n\
         21124 10:34:36.069123 <... poll resumed> ) = 1 ([{fd=669, revents=POLLIN}]) <1.779099>\n\
         21124 10:34:36.069195 recvfrom(669,  <unfinished ...>\n\
         21124 10:34:36.069256 <... recvfrom resumed> \"*2\", 8192, 0, NULL, NULL) = 44\n",
        &[
            "enter 1-1 tid 21124 at 38074.290015000 for -: poll([{fd=669, events=POLLIN}], 1, 2000) = ?  [] []",
            "call 2-2 tid 5 at 38075.000000000 for 1000ns: close(3) = 0  [] []",
            "call 1-3 tid 21124 at 38074.290015000 for 1779099000ns: poll([{fd=669, events=POLLIN}], 1, 2000) = 1  [([{fd=669, revents=POLLIN}])] [\"joined\"]",
            "enter 4-4 tid 21124 at 38076.069195000 for -: recvfrom(669,) = ?  [] []",
            // Without -T, a joined call lasts from its first half to its second.
            "call 4-5 tid 21124 at 38076.069195000 for 61000ns: recvfrom(669, \"*2\", 8192, 0, NULL, NULL) = 44  [] [\"joined\"]",
        ],
    );
}

#[test]
fn what_a_call_gives_back_in_its_arguments_is_joined_as_in_a_whole_line() {
    let call = "clone3({flags=CLONE_VM, stack_size=0x7fff80} => {parent_tid=[12]}, 88) = 12";
    let halves = "7 1795227758.000000 clone3({flags=CLONE_VM, stack_size=0x7fff80} <unfinished ...>\n\
                  7 1795227758.000050 <... clone3 resumed> => {parent_tid=[12]}, 88) = 12 <0.000050>\n";
    let joined = events(halves);
    assert!(joined.last().is_some_and(|told| told.contains(call)), "{joined:?}");
}

#[test]
fn halves_without_the_other() {
    let log = "7 1.5 <... read resumed>\"x\", 1) = 1 <0.5>\n\
               7 1795227758.000000 <... read resumed>\"x\", 1) = 1 <0.500000>\n\
               8 1795227759.000000 futex(0x7f, FUTEX_WAIT, 2, NULL <unfinished ...>\n\
               8 1795227760.000000 close(3) = 0\n\
               9 1795227761.000000 read(0,  <unfinished ...>\n\
               9 1795227762.000000 +++ killed by SIGKILL +++\n\
               10 1795227763.000000 pause( <unfinished ...>\n";
    check(
        log.split_once('\n').unwrap().1,
        &[
            "call 1-1 tid 7 at 1795227757.500000000 for 500000000ns: read(\"x\", 1) = 1  [] [\"no start\"]",
            "enter 2-2 tid 8 at 1795227759.000000000 for -: futex(0x7f, FUTEX_WAIT, 2, NULL) = ?  [] []",
            "call 2-2 tid 8 at 1795227759.000000000 for -: futex(0x7f, FUTEX_WAIT, 2, NULL) = ?  [] [\"no end\"]",
            "call 3-3 tid 8 at 1795227760.000000000 for -: close(3) = 0  [] []",
            "enter 4-4 tid 9 at 1795227761.000000000 for -: read(0,) = ?  [] []",
            "call 4-4 tid 9 at 1795227761.000000000 for -: read(0,) = ?  [] [\"no end\"]",
            "exit tid 9 at 1795227762.000000000: None Some(\"SIGKILL\")",
            "enter 6-6 tid 10 at 1795227763.000000000 for -: pause() = ?  [] []",
            "call 6-6 tid 10 at 1795227763.000000000 for -: pause() = ?  [] [\"no end\"]",
        ],
    );
}

#[test]
fn results_signals_and_exits() {
    check(
        "restart_syscall(<... resuming interrupted read ...>) = 0\n\
         nanosleep({1, 0}, 0x7ffc) = ? ERESTART_RESTARTBLOCK (Interrupted by signal)\n\
         --- SIGPIPE {si_signo=SIGPIPE, si_code=SI_USER, si_pid=14985, si_uid=0} ---\n\
         --- SIGCHLD (Child exited) @ 0 (0) ---\n\
         --- stopped by SIGSTOP ---\n\
         umask(022)                              = 022\n\
         syscall_0x1ff(0x1, 0x2) = -1 ENOSYS (Function not implemented) (INJECTED)\n\
         openat(AT_FDCWD, \"/x) = 4\", O_RDONLY) = 3</x) = 4>\n\
         exit_group(0) = ?\n\
         +++ exited with 3 +++\n",
        &[
            "call 1-1 tid 0 at - for -: restart_syscall(<... resuming interrupted read ...>) = 0  [] []",
            "call 2-2 tid 0 at - for -: nanosleep({1, 0}, 0x7ffc) = ? ERESTART_RESTARTBLOCK [(Interrupted by signal)] []",
            "signal tid 0 at -: SIGPIPE {si_signo=SIGPIPE, si_code=SI_USER, si_pid=14985, si_uid=0}",
            "signal tid 0 at -: SIGCHLD (Child exited) @ 0 (0)",
            "signal tid 0 at -: SIGSTOP ",
            "call 6-6 tid 0 at - for -: umask(022) = 18  [] []",
            "call 7-7 tid 0 at - for -: syscall_0x1ff*(0x1, 0x2) = -1 ENOSYS [(Function not implemented) (INJECTED)] []",
            "call 8-8 tid 0 at - for -: openat(AT_FDCWD, \"/x) = 4\", O_RDONLY) = 3  [</x) = 4>] []",
            "call 9-9 tid 0 at - for -: exit_group(0) = ?  [] []",
            "exit tid 0 at -: Some(3) None",
        ],
    );
}

#[test]
fn calls_torn_by_other_output() {
    // strace to the terminal: its own messages and the program's output stand in the middle of lines.
    check(
        "close(3) = 0\n\
         write(2, \"hello\"..., 5hello\n\
         ) = 5\n\
         clone(Process 9195 attached\n\
         child_stack=0, flags=SIGCHLD) = 9195\n\
         wait4(-1, Process 9194 suspended\n\
         [pid  9195] close(1)                    = 0\n\
         [pid  9194] <... wait4 resumed> [{WIFEXITED(s)}], 0, NULL) = 9195\n",
        &[
            "call 1-1 tid 0 at - for -: close(3) = 0  [] []",
            "call 2-3 tid 0 at - for -: write(2, \"hello\"..., 5hello) = 5  [] [\"joined\"]",
            "call 4-5 tid 0 at - for -: clone(child_stack=0, flags=SIGCHLD) = 9195  [] [\"joined\"]",
            "call 7-7 tid 9195 at - for -: close(1) = 0  [] []",
            "call 6-8 tid 9194 at - for -: wait4(-1, [{WIFEXITED(s)}], 0, NULL) = 9195  [] [\"joined\"]",
        ],
    );
}

#[test]
fn midnight_relative_times_and_names() {
    check(
        "1 23:59:59.900000 close(3) = 0\n1 00:00:00.100000 close(4) = 0\n",
        &[
            "call 1-1 tid 1 at 86399.900000000 for -: close(3) = 0  [] []",
            "call 2-2 tid 1 at 86400.100000000 for -: close(4) = 0  [] []",
        ],
    );
    check(
        "     0.000700 close(3) = 0\n     0.000020 close(4) = 0\n     1.000000 close(5) = 0\n",
        &[
            "call 1-1 tid 0 at 0.000000000 for -: close(3) = 0  [] []",
            "call 2-2 tid 0 at 0.000020000 for -: close(4) = 0  [] []",
            "call 3-3 tid 0 at 1.000020000 for -: close(5) = 0  [] []",
        ],
    );
    check(
        "read(fd=3, buf=\"a=b, c\", count=832) = 832\n\
         5961<sh> \x1b[1mclose\x1b[0m(3) = 0\n\
         \x1b[31mclose\x1b[0m(4) = 0\n\
         \x20> /lib/libc.so.6(close+0x5) [0x123]\n",
        &[
            "call 1-1 tid 0 at - for -: read(3, \"a=b, c\", 832) = 832  [] []",
            "Process(ProcessInfo { pid: 5961, tid: Some(5961), comm: Some(\"sh\"), user: None, parent: None, exe: None, cmdline: None, uid: None, cgroup: None, container: None, \
             start: Timestamp(18446744073709551615), end: Timestamp(18446744073709551615), fd_limit: None, executed: false })",
            "call 2-2 tid 5961 at - for -: close(3) = 0  [] []",
            "call 3-3 tid 0 at - for -: close(4) = 0  [] []",
            "frame tid 0: /lib/libc.so.6(close+0x5) [0x123]",
        ],
    );
}

#[test]
fn execve_by_a_thread_takes_over_the_process() {
    check(
        "124 execve(\"/bin/x\", [\"x\"], 0x7f <unfinished ...>\n\
         123 +++ superseded by execve in pid 124 +++\n\
         123 <... execve resumed>) = 0\n",
        &[
            "enter 1-1 tid 124 at - for -: execve(\"/bin/x\", [\"x\"], 0x7f) = ?  [] []",
            "exit tid 124 at -: None None",
            "call 1-3 tid 123 at - for -: execve(\"/bin/x\", [\"x\"], 0x7f) = 0  [] [\"joined\"]",
        ],
    );
}

#[test]
fn damaged_and_foreign_lines() {
    let seen = see(
        &[bytes(
            "t.st",
            b"11091 08:36:23.528815 stat(\"/x\", 0x7f) = 0 <0.000001>\r\n\
              i1091 08:36:23.528915 stat(\"/x\", 0x7f) = 0 <0.000001>\n\
              11091 08:36:23.52\n\
              11091 08:36:23.529815 something else\n\
              hello from the program\n\
              # sudo strace -p 11091\n\
              \n\
              strace: Process 12 attached\n\
              strace: ptrace(PTRACE_SEIZE, 1): Operation not permitted\n\
              [ Process PID=4 runs in 32 bit mode. ]\n\
              \x20| 00000  48 65 6c  Hel |\n\
              11091 08:36:24.000000 read(3, \"abc\", 51",
        )],
        1,
    );
    assert_eq!(seen.events.len(), 1);
    assert_eq!(
        seen.notes,
        [
            "Reject t.st:2: expected a call with its result, `name(arguments) = result`, found `i1091 08:36:23.528915 stat(\"/x\", 0x7f) = 0 <0.000001>`; the line is not used",
            "Reject t.st:4: expected a call with its result, `name(arguments) = result`, found `11091 08:36:23.529815 something else`; the line is not used",
            "Tracer t.st:9: the tracer says `strace: ptrace(PTRACE_SEIZE, 1): Operation not permitted`",
            "Truncated t.st:12: the capture ends in the middle of this line: `11091 08:36:24.000000 read(3, \"abc\", 51`; it is not used",
        ]
    );
    let source = &seen.sources[0];
    for figure in ["lines: 12", "events: 5", "rejects: 3", "foreign: 3", "clock: TimeOfDay"] {
        assert!(source.contains(figure), "{figure} in {source}");
    }
}

#[test]
fn a_cut_last_line_is_not_read_as_a_smaller_figure() {
    let seen = see(&[bytes("t", b"close(3) = 0 <0.000100>\nread(3, \"\", 5) = 512")], 1);
    assert_eq!(seen.events.len(), 1);
    assert!(seen.notes[0].starts_with("Truncated"), "{:?}", seen.notes);
    // Without durations nothing tells; pasted text often lacks its last line's end.
    assert_eq!(events("close(3) = 0\nread(3, \"\", 5) = 5").len(), 2);
}

#[test]
fn a_table_behind_the_log() {
    let seen = see(
        &[bytes(
            "t",
            b"close(3) = 0\n+++ exited with 0 +++\n\
              % time     seconds  usecs/call     calls    errors syscall\n\
              ------ ----------- ----------- --------- --------- ----------------\n\
              100.00    0.000237           4        57         3 close\n\
              ------ ----------- ----------- --------- --------- ----------------\n\
              100.00    0.000237           4        57         3 total\n",
        )],
        1,
    );
    assert_eq!(seen.events.len(), 3, "{seen:#?}");
    assert!(seen.events[2].starts_with("Counts("));
    assert!(
        seen.sources[0].contains("lines: 7") && seen.sources[0].contains("events: 7"),
        "{:?}",
        seen.sources
    );
}

#[test]
fn ltrace_lines() {
    check(
        "[pid 12] 10:00:00.000100 puts(\"x\") = 5 <0.000010>\n\
         [pid 12] 10:00:00.000200 SYS_openat(0xffffff9c, 0x7f, 0x80000, 0) = -2 <0.000533>\n\
         12 10:00:00.000300 libfoo.so->std::string::append(char const*)(0x1, \"y\") = \"ab = c\"\n\
         12 10:00:00.000400   strlen(\"ab\") = 2\n\
         12 10:00:00.000500 getuid( <unfinished ...>\n\
         12 10:00:00.000900 <... getuid resumed> ) = 0 <0.000399>\n\
         12 10:00:00.001000 write@SYS(1, \"x\", 1) = 1\n\
         12 10:00:00.001100 free(0x7f) = <void>\n\
         12 10:00:00.001200 +++ exited (status 0) +++\n",
        &[
            "call 1-1 tid 12 at 36000.000100000 for 10000ns: puts*(\"x\") = 5  [] [\"library\"]",
            "call 2-2 tid 12 at 36000.000200000 for 533000ns: SYS_openat(0xffffff9c, 0x7f, 0x80000, 0) = -1 ENOENT [] []",
            "call 3-3 tid 12 at 36000.000300000 for -: libfoo.so->std::string::append*(char const*)(0x1, \"y\") = ?  [\"ab = c\"] [\"library\"]",
            "call 4-4 tid 12 at 36000.000400000 for -: strlen*(\"ab\") = 2  [] [\"library\"]",
            "enter 5-5 tid 12 at 36000.000500000 for -: getuid*() = ?  [] [\"library\"]",
            "call 5-6 tid 12 at 36000.000500000 for 399000ns: getuid*() = 0  [] [\"library\", \"joined\"]",
            "call 7-7 tid 12 at 36000.001000000 for -: write@SYS(1, \"x\", 1) = 1  [] []",
            "call 8-8 tid 12 at 36000.001100000 for -: free*(0x7f) = ?  [<void>] [\"library\"]",
            "exit tid 12 at 36000.001200000: Some(0) None",
        ],
    );
}

/// What [`Call::write_line`] composes is what strace printed, to the byte, for all calls that strace prints in one piece.
#[test]
fn composed_lines_are_those_of_strace() {
    let folder = tempfile::tempdir().expect("a folder");
    let trace = folder.path().join("trace.st");
    // The reader knows no zone: the clock of the lines is taken for UTC.
    let command = "cd /; ls /nonexistent; umask 027; cat /etc/hostname > /dev/null; sleep 0.01; kill -USR1 $$; (exit 3)";
    let mut strace = std::process::Command::new("strace");
    strace.args(["-f", "-ttT", "-y", "-o"]).arg(&trace).args(["sh", "-c", command]);
    let ran = strace.stderr(std::process::Stdio::null()).status();
    if ran.is_err() || !trace.exists() {
        skipped("strace cannot run here");
        return;
    }
    let format = LineFormat { who: LineThread::Plain, ..LineFormat::STRACE };
    let (mut same, mut differing) = (0, Vec::new());
    let mut sink = |event: Event<'_>| {
        let (line, raw) = match &event {
            Event::Call(call) if call.raw_end.is_empty() => {
                let mut line = Vec::new();
                call.write_line(&format, &mut line);
                (line, call.raw)
            }
            Event::Signal(signal) => {
                let mut line = Vec::new();
                signal.write_line(&format, &mut line);
                (line, signal.raw)
            }
            _ => return,
        };
        match line == raw {
            true => same += 1,
            false => differing.push(format!(
                "{}\n{}",
                String::from_utf8_lossy(raw),
                String::from_utf8_lossy(&line)
            )),
        }
    };
    read(&[Input::File(trace)], &ReadOptions { threads: 1 }, &(), &mut sink).expect("the trace can be read");
    println!("{same} lines compared");
    assert!(
        differing.is_empty(),
        "{} of {}:\n{}",
        differing.len(),
        differing.len() + same,
        differing.join("\n")
    );
    assert!(same > 50, "{same} lines");
}
