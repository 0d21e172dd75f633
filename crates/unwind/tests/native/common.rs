//! What tests of whole stacks share: programs that they start, samples of these, and waiting for something.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use whyslow_unwind::{Registers, UnwindLimits, Unwinder};

/// A program of a test, killed when the test ends.
pub(crate) struct Program {
    pub(crate) child: Child,
    output: BufReader<std::process::ChildStdout>,
    _folder: TempDir,
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Program {
    /// Starts it; its folder is kept as long.
    pub(crate) fn start(command: &mut Command, folder: TempDir) -> Program {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("started");
        let output = BufReader::new(child.stdout.take().expect("piped"));
        Program { child, output, _folder: folder }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The next line that it prints.
    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("a line");
        line.trim().to_owned()
    }
}

/// Compiles a text; `None` where there is no compiler.
fn compile(folder: &Path, name: &str, text: &str, flags: &[&str]) -> Option<PathBuf> {
    let (source, target) = (folder.join(name), folder.join("program"));
    std::fs::write(&source, text).expect("written");
    let compiler = if name.ends_with(".cc") { "g++" } else { "gcc" };
    let all = ["-O2", "-fomit-frame-pointer", "-g", "-pthread", "-o"];
    let made = Command::new(compiler).args(all).arg(&target).arg(&source).args(flags).status();
    match made {
        Err(_) => {
            println!("skipped: no {compiler}");
            None
        }
        Ok(status) => {
            assert!(status.success(), "{compiler}");
            Some(target)
        }
    }
}

pub(crate) fn start(name: &str, text: &str, flags: &[&str]) -> Option<Program> {
    let folder = tempfile::tempdir().expect("a folder");
    let program = compile(folder.path(), name, text, flags)?;
    Some(Program::start(&mut Command::new(program), folder))
}

pub(crate) fn until<T>(what: &str, mut ready: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + Duration::from_secs(10);
    loop {
        if let Some(found) = ready() {
            return found;
        }
        assert!(Instant::now() < end, "not in time: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// An unwinder that knows the code of a process.
pub(crate) fn watching(pid: u32) -> Unwinder {
    let mut unwinder = Unwinder::new(UnwindLimits::default());
    unwinder.began(pid);
    until("its code", || {
        unwinder.look();
        unwinder.ready(pid).then_some(())
    });
    unwinder
}

/// That these functions call each other in this order, innermost first.
pub(crate) fn assert_chain(names: &[String], chain: &[&str]) {
    let at = names.iter().position(|name| name == chain[0]);
    let found = at.and_then(|at| names.get(at..at + chain.len()));
    assert!(found.is_some_and(|found| found == chain), "{chain:?} in {names:?}");
}

/// Prints the registers and the top of the stack of a running process, again and again: `ip sp bp start`, then the bytes.
const TRACER: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int n, char **args) {
    int pid = atoi(args[1]), times = atoi(args[2]); size_t bytes = atoi(args[3]);
    if (ptrace(PTRACE_SEIZE, pid, 0, 0)) return 1;
    char *room = malloc(bytes);
    for (int i = 0; i < times; i++) {
        ptrace(PTRACE_INTERRUPT, pid, 0, 0);
        waitpid(pid, 0, __WALL);
        struct user_regs_struct r;
        ptrace(PTRACE_GETREGS, pid, 0, &r);
        struct iovec to = {room, bytes}, from = {(void *)r.rsp, bytes};
        ssize_t got = process_vm_readv(pid, &to, 1, &from, 1, 0);
        printf("%llu %llu %llu %zd\n", r.rip, r.rsp, r.rbp, got);
        fwrite(room, 1, got > 0 ? got : 0, stdout);
        ptrace(PTRACE_CONT, pid, 0, 0);
        usleep(700 + i * 37 % 500);
    }
}
"#;

/// Samples of a running process.
pub(crate) fn samples(pid: u32, times: usize, bytes: usize) -> Vec<(Registers, Vec<u8>)> {
    let folder = tempfile::tempdir().expect("a folder");
    let tracer = compile(folder.path(), "tracer.c", TRACER, &["-D_GNU_SOURCE"]).expect("a compiler");
    let arguments = [pid.to_string(), times.to_string(), bytes.to_string()];
    let output = Command::new(tracer).args(arguments).output().expect("run").stdout;
    let mut rest = &output[..];
    let mut all = Vec::new();
    while !rest.is_empty() {
        let mut line = String::new();
        rest.read_line(&mut line).expect("a line");
        let numbers: Vec<u64> = line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        let (copy, behind) = rest.split_at(numbers[3] as usize);
        all.push((Registers { ip: numbers[0], sp: numbers[1], bp: numbers[2], leaf: None }, copy.to_vec()));
        rest = behind;
    }
    assert_eq!(all.len(), times);
    all
}
