//! Stacks of JavaScript under real Node.js, in all of its compilers' code: the node of the path, and those that
//! `WHYSLOW_NODES` names, set apart by colons.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};
use whyslow_unwind::runtimes::{Detected, RUNTIMES, Registers, Runtime, StackMemory};
use whyslow_unwind::{Frame, Frames, Process, ReadError};

/// Stops a thread while its caller reads, again and again: for each line of its input one stop, which the next line ends.
const STOPPER: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
int main(int argc, char **argv) {
    int tid = atoi(argv[1]);
    char line[16];
    while (fgets(line, sizeof line, stdin)) {
        struct user_regs_struct regs;
        if (ptrace(PTRACE_ATTACH, tid, 0, 0)) return 1;
        if (waitpid(tid, 0, __WALL) != tid || ptrace(PTRACE_GETREGS, tid, 0, &regs)) return 2;
        printf("%llu %llu %llu\n", regs.rip, regs.rsp, regs.rbp);
        fflush(stdout);
        if (!fgets(line, sizeof line, stdin)) return 0;
        if (ptrace(PTRACE_DETACH, tid, 0, 0)) return 3;
    }
    return 0;
}
"#;

/// A program under Node.js, ended when dropped.
struct Program {
    child: Child,
    _output: BufReader<ChildStdout>,
    stopper: Child,
    commands: ChildStdin,
    registers: BufReader<ChildStdout>,
    process: Process,
    runtime: Box<dyn Runtime>,
    frames: Frames,
    file: PathBuf,
    text: String,
    _folder: tempfile::TempDir,
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.stopper.kill();
        let _ = self.stopper.wait();
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The nodes to test under.
fn nodes() -> Vec<PathBuf> {
    let more = std::env::var("WHYSLOW_NODES").unwrap_or_default();
    let named = more.split(':').filter(|path| !path.is_empty()).map(PathBuf::from);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|folder| folder.join("node")).find(|file| file.is_file());
    let all: Vec<PathBuf> = found.into_iter().chain(named).collect();
    if all.is_empty() {
        println!("skipped: no node is on the path");
    }
    all
}

/// Starts a program, which writes a line when it is ready.
fn start(node: &Path, flags: &[&str], name: &str, text: &str) -> Program {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join(name);
    std::fs::write(&file, text).expect("written");
    let source = folder.path().join("stopper.c");
    std::fs::write(&source, STOPPER).expect("written");
    let stopper = folder.path().join("stopper");
    let built = Command::new("cc").arg("-o").arg(&stopper).arg(&source).status().expect("cc runs");
    assert!(built.success());
    let mut child =
        Command::new(node).args(flags).arg(&file).stdout(Stdio::piped()).spawn().expect("node starts");
    let mut output = BufReader::new(child.stdout.take().expect("piped"));
    let mut line = String::new();
    output.read_line(&mut line).expect("read");
    assert_eq!(line, "ready\n");
    let pid = child.id();
    let mut stopper = Command::new(stopper)
        .arg(pid.to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("starts");
    let commands = stopper.stdin.take().expect("piped");
    let registers = BufReader::new(stopper.stdout.take().expect("piped"));
    let process = Process::open(pid).expect("its memory");
    let kind = RUNTIMES.iter().find(|kind| kind.name == "V8").expect("there is one");
    let begin = Instant::now();
    let Detected::Found(runtime) = (kind.detect)(&process) else { panic!("V8 is not found in {node:?}") };
    println!("{} {flags:?}, found in {:?}", runtime.version(), begin.elapsed());
    Program {
        child,
        _output: output,
        stopper,
        commands,
        registers,
        process,
        runtime,
        frames: Frames::default(),
        file,
        text: text.to_string(),
        _folder: folder,
    }
}

/// A copy of the top of a stack, as a recorder has it.
struct Copied<'a> {
    process: &'a Process,
    from: u64,
    bytes: Vec<u8>,
}

impl StackMemory for Copied<'_> {
    fn word(&self, address: u64) -> Result<u64, ReadError> {
        let at = address.checked_sub(self.from).map(|at| at as usize);
        let copied = at.and_then(|at| self.bytes.get(at..)?.first_chunk());
        copied.map_or_else(|| self.process.u64(address), |word| Ok(u64::from_ne_bytes(*word)))
    }
}

/// One stack.
struct Stack {
    frames: Vec<Frame>,
    took: Duration,
    error: bool,
}

impl Program {
    /// The stack of the main thread now; `None` where it runs no code of V8.
    fn stack(&mut self) -> Option<Stack> {
        self.commands.write_all(b"stop\n").expect("told");
        let mut line = String::new();
        self.registers.read_line(&mut line).expect("read");
        let words: Vec<u64> = line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        let [ip, sp, bp] = words[..] else { panic!("not stopped: {line}") };
        self.process.read_mappings().expect("its mappings");
        let begin = Instant::now();
        let mut bytes = vec![0; 8192];
        if self.process.read(sp, &mut bytes).is_err() {
            bytes.clear();
        }
        let memory = Copied { process: &self.process, from: sp, bytes };
        let (mut registers, mut ids, mut steps, mut error) = (Registers { ip, sp, bp }, Vec::new(), 0, false);
        for _ in 0..512 {
            let (process, frames) = (&self.process, &mut self.frames);
            match self.runtime.step(process, &registers, &memory, frames, &mut ids) {
                Ok(Some(caller)) => registers = caller,
                Ok(None) => break,
                Err(why) => {
                    println!("{why} at {:x}", registers.ip);
                    error = true;
                    break;
                }
            }
            steps += 1;
        }
        let took = begin.elapsed();
        self.commands.write_all(b"go\n").expect("told");
        let frames = ids.into_iter().filter_map(|id| self.frames.get(id).cloned()).collect();
        (steps > 0).then_some(Stack { frames, took, error })
    }

    /// So many stacks of a time in which it computes.
    fn stacks(&mut self, count: usize) -> Vec<Stack> {
        let until = Instant::now() + Duration::from_secs(8);
        let mut all = Vec::new();
        while all.len() < count && Instant::now() < until {
            all.extend(self.stack());
            std::thread::sleep(Duration::from_millis(3));
        }
        all
    }

    /// The line of the program's text that has a mark as its comment.
    fn line(&self, mark: &str) -> u32 {
        let mark = format!("// {mark}");
        self.text.lines().position(|line| line.trim_end().ends_with(&mark)).expect("marked") as u32 + 1
    }

    /// A stack's functions and lines of the program's own, innermost first: `name:line`.
    fn own(&self, stack: &Stack) -> Vec<String> {
        let file = self.file.to_str().expect("text");
        let own = stack.frames.iter().filter(|frame| &*frame.file == file);
        own.map(|frame| format!("{}:{}", frame.function, frame.line)).collect()
    }
}

const NESTED: &str = r#"
class Store {
    constructor() { this.sum = 0; }
    save(rows) {
        for (const row of rows) {
            this.sum += weigh(row, 40); // save
        }
        return this.sum;
    }
}
function weigh(row, depth) {
    if (depth > 0) {
        return weigh(row, depth - 1) + 1; // recurse
    }
    return compute(row); // weigh
}
function compute(row) {
    let sum = 0;
    for (let i = 0; i < 300; i++) {
        sum += (row * i) % 7;
    }
    return sum;
}
const store = new Store();
const rows = Array.from({ length: 100 }, (_, i) => i);
const grüße = async () => {
    await null;
    rows.map(() => store.save(rows)); // arrow
};
async function main() {
    console.log('ready');
    for (;;) {
        await grüße();
    }
}
main();
"#;

#[test]
fn explore() {
    for node in nodes() {
        for flags in [&["--no-opt", "--no-sparkplug"][..], &["--always-sparkplug", "--no-opt"], &[]] {
            let mut program = start(&node, flags, "nested.js", NESTED);
            std::thread::sleep(Duration::from_millis(300));
            let stacks = program.stacks(300);
            let mut seen: BTreeMap<Vec<String>, usize> = BTreeMap::new();
            for stack in &stacks {
                let own = program.own(stack);
                let mut short = own.clone();
                short.dedup();
                if stack.error {
                    short.push("ERROR".into());
                }
                *seen.entry(short).or_default() += 1;
            }
            let mut all: Vec<_> = seen.into_iter().collect();
            all.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
            let deep = stacks.iter().map(|s| s.frames.len()).max();
            let mut took: Vec<_> = stacks.iter().map(|s| s.took.as_micros()).collect();
            took.sort();
            println!(
                "  {} stacks, deepest {deep:?}, median {} max {} us",
                stacks.len(),
                took[took.len() / 2],
                took[took.len() - 1]
            );
            for (stack, count) in all.iter().take(6) {
                println!("  {count} {stack:?}");
            }
        }
    }
}
