//! Stacks of JavaScript under real Node.js, in all of its compilers' code: the node of the path, and those that
//! `WHYSLOW_NODES` names, set apart by colons.

use std::cell::Cell;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};
use whyslow_unwind::registers::{Registers, StackMemory};
use whyslow_unwind::runtimes::{Detected, LanguageRuntime, RUNTIMES};
use whyslow_unwind::{Frames, LanguageFrame, MemoryError, Process};

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
    runtime: Box<dyn LanguageRuntime>,
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

/// The first number of a node's version.
fn major(node: &Path) -> u32 {
    let version =
        Command::new(node).args(["-p", "process.versions.node"]).output().expect("node runs").stdout;
    let version = String::from_utf8_lossy(&version);
    version.split('.').next().and_then(|major| major.parse().ok()).expect("a version")
}

/// Starts a program whose V8 can be read.
fn start(node: &Path, flags: &[&str], name: &str, text: &str) -> Program {
    open(node, flags, name, text).expect("V8 is found")
}

/// Starts a program, which writes a line when it is ready; why its V8 cannot be read, where it cannot.
fn open(node: &Path, flags: &[&str], name: &str, text: &str) -> Result<Program, String> {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join(name);
    std::fs::write(&file, text).expect("written");
    let source = folder.path().join("stopper.c");
    std::fs::write(&source, STOPPER).expect("written");
    let stopper = folder.path().join("stopper");
    let built = Command::new("cc").arg("-o").arg(&stopper).arg(&source).status().expect("cc runs");
    assert!(built.success());
    // Maglev is of Node.js 20 and newer.
    let without_maglev = flags.contains(&"--no-opt") && major(node) >= 20;
    let mut child = Command::new(node)
        .args(flags)
        .args(without_maglev.then_some("--no-maglev"))
        .arg(&file)
        .stdout(Stdio::piped())
        .spawn()
        .expect("node starts");
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
    let runtime = match (kind.detect)(&process) {
        Detected::Found(runtime) => runtime,
        other => {
            for child in [&mut stopper, &mut child] {
                child.kill().and_then(|()| child.wait()).expect("ended");
            }
            return Err(if let Detected::Unknown(why) = other { why } else { "there is none".into() });
        }
    };
    println!("{} {flags:?}, found in {:?}", runtime.version(), begin.elapsed());
    Ok(Program {
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
    })
}

/// A copy of the top of a stack, as a recorder has it.
struct Copied<'a> {
    process: &'a Process,
    from: u64,
    bytes: Vec<u8>,
}

impl StackMemory for Copied<'_> {
    fn word(&self, address: u64) -> Result<u64, MemoryError> {
        let at = address.checked_sub(self.from).map(|at| at as usize);
        let copied = at.and_then(|at| self.bytes.get(at..)?.first_chunk());
        copied.map_or_else(|| self.process.u64(address), |word| Ok(u64::from_ne_bytes(*word)))
    }
}

/// One stack.
struct Stack {
    frames: Vec<LanguageFrame>,
    took: Duration,
    error: bool,
}

impl Program {
    /// Stops the main thread: its registers.
    fn stop(&mut self) -> Registers {
        self.commands.write_all(b"stop\n").expect("told");
        let mut line = String::new();
        self.registers.read_line(&mut line).expect("read");
        let words: Vec<u64> = line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        let [ip, sp, bp] = words[..] else { panic!("not stopped: {line}") };
        self.process.read_mappings().expect("its mappings");
        Registers { ip, sp, bp, leaf: None }
    }

    /// Lets it go on.
    fn go(&mut self) {
        self.commands.write_all(b"go\n").expect("told");
    }

    /// True where registers are in V8's code.
    fn runtime_knows(&mut self, registers: &Registers) -> bool {
        let (process, mut ids) = (&self.process, Vec::new());
        let step = self.runtime.step(process, registers, process, &mut self.frames, &mut ids);
        matches!(step, Ok(Some(_)))
    }

    /// The stack of the main thread now; `None` where it runs no code of V8.
    fn stack(&mut self) -> Option<Stack> {
        let registers = self.stop();
        let begin = Instant::now();
        let (sp, mut bytes) = (registers.sp, vec![0; 8192]);
        if self.process.read(sp, &mut bytes).is_err() {
            bytes.clear();
        }
        let memory = Copied { process: &self.process, from: sp, bytes };
        let (mut registers, mut ids, mut steps, mut error) = (registers, Vec::new(), 0, false);
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
        self.go();
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

    /// A stack's functions and lines of the program's own, innermost first.
    fn own(&self, stack: &Stack) -> Vec<(String, u32)> {
        let file = self.file.to_str().expect("text");
        let own = stack.frames.iter().filter(|frame| &*frame.file == file);
        own.map(|frame| (frame.function.to_string(), frame.line)).collect()
    }
}

/// Each function of it is in a place of its own; a comment marks the lines of calls.
const NESTED: &str = r#"
class Store {
    constructor() { this.sum = 0; }
    save(rows) {
        for (const row of rows) { // save loop
            this.sum += weigh(row, 40); // save
        }
        return this.sum;
    }
}
function weigh(row, depth) { // weigh begins
    if (depth > 0) {
        return weigh(row, depth - 1) + 1; // recurse
    }
    return compute(row); // weigh
}
function compute(row) { // compute begins
    let sum = 0;
    for (let i = 0; i < 300; i++) {
        sum += (row * i) % 7;
    }
    return sum;
} // compute ends
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

/// Ways to run a program: interpreted, by the baseline compiler, by all compilers, with a collector that moves much, and by Maglev,
/// which Node.js 24 runs.
const WAYS: [&[&str]; 5] = [
    &["--no-opt", "--no-sparkplug"],
    &["--always-sparkplug", "--no-opt"],
    &[],
    &["--gc-interval=500", "--always-sparkplug"],
    &["--maglev", "--no-turbofan", "--no-maglev-inlining"],
];

#[test]
fn nested_functions_are_named_in_all_kinds_of_code() {
    for node in nodes() {
        for flags in WAYS {
            if flags.contains(&"--maglev") && major(&node) < 24 {
                continue;
            }
            let mut program = start(&node, flags, "nested.js", NESTED);
            let stacks = program.stacks(150);
            assert!(stacks.len() >= 50, "{} stacks", stacks.len());
            let line = |mark: &str| program.line(mark);
            let (save, looped, arrow) = (line("save"), line("save loop"), line("arrow"));
            let weigh = line("weigh begins")..=line("weigh");
            let compute = line("compute begins")..=line("compute ends");
            let (mut right, mut deepest) = (0, 0);
            for stack in &stacks {
                let own = program.own(stack);
                deepest = deepest.max(own.iter().filter(|(name, _)| name == "weigh").count());
                let mut rank = 0;
                let mut exact = !stack.error;
                for (depth, (name, at)) in own.iter().enumerate() {
                    // What each can be called by, and where it can be.
                    let (own_rank, fits, call) = match name.as_str() {
                        "compute" => (1, compute.contains(at), false),
                        "weigh" => (2, weigh.contains(at), [line("recurse"), line("weigh")].contains(at)),
                        "save" | "Store.save" => (3, (looped - 1..=save + 2).contains(at), *at == save),
                        "(anonymous)" => (4, *at == arrow, true),
                        "grüße" => (5, (arrow - 2..=arrow).contains(at), *at == arrow),
                        "main" => (6, true, true),
                        _ => panic!("{name} is no function that runs: {own:?}"),
                    };
                    assert!(own_rank >= rank, "{own:?}");
                    assert!(fits, "{name} is not at {at}: {own:?}");
                    exact &= depth == 0 || call;
                    rank = own_rank;
                }
                right += usize::from(exact);
            }
            let mut took: Vec<_> = stacks.iter().map(|stack| stack.took.as_micros()).collect();
            took.sort_unstable();
            let (all, median) = (stacks.len(), took[took.len() / 2]);
            println!("    {right} of {all} right, up to {deepest} calls deep, {median} us a stack");
            assert!(right * 100 >= all * 95, "{right} of {all}");
            assert!(deepest >= 35, "{deepest}");
        }
    }
}

/// A module with names of several kinds, in UTF-16, called by node's own timers.
const MODULE: &str = r#"
const größe = '→';
class Account {
    #total = 0;
    static async open(name) {
        await null;
        spin(3); // open
        return new Account(name);
    }
    get total() {
        return spin(3) + this.#total; // total
    }
    #add(n) {
        this.#total += spin(n); // add
    }
    pay(n) {
        this.#add(n); // pay
    }
}
class Savings extends Account {
    pay(n) {
        super.pay(n + 1); // super
    }
}
const plain = {
    run: function () { return spin(3); }, // run
};
function spin(ms) {
    const until = Date.now() + ms;
    let n = größe.length;
    while (Date.now() < until) n = (n * 3) % 1001; // spin
    return n;
}
console.log('ready');
const savings = new Savings();
setInterval(function tick() {
    savings.pay(3); // tick
    savings.total; // get
    plain.run(); // tick run
    Account.open('x');
}, 1);
"#;

#[test]
fn methods_and_modules_are_named_as_engineers_do() {
    for node in nodes() {
        for flags in [&["--no-opt"][..], &[]] {
            let mut program = start(&node, flags, "a module.mjs", MODULE);
            let stacks = program.stacks(250);
            let seen: Vec<Vec<(String, u32)>> = stacks.iter().map(|stack| program.own(stack)).collect();
            let count = |name: &str, mark: &str| {
                let wanted = (name.to_string(), program.line(mark));
                seen.iter().filter(|stack| stack.contains(&wanted)).count()
            };
            for (name, mark) in [
                ("Savings.pay", "super"),
                ("Account.pay", "pay"),
                ("run", "run"),
                ("tick", "tick"),
                ("tick", "tick run"),
            ] {
                let found = count(name, mark);
                // What is inlined has no class of its own.
                let short = name.rsplit('.').next().map_or(0, |short| count(short, mark));
                println!("    {name} at {mark}: {found}, {short} with the short name");
                assert!(found + short > 0, "{name} at {mark}: {seen:?}");
            }
            assert!(count("open", "open") + count("Account.open", "open") > 0);
            assert!(count("#add", "add") > 0 && count("get total", "total") + count("total", "total") > 0);
            let internal =
                |frame: &LanguageFrame| frame.file.starts_with("node:internal/timers") && frame.line > 0;
            assert!(stacks.iter().any(|stack| stack.frames.iter().any(internal)));
            assert!(stacks.iter().all(|stack| !stack.error));
        }
    }
}

/// Words of a stack, some of which are others.
struct Damaged<'a> {
    process: &'a Process,
    seed: Cell<u64>,
    words: &'a [u64],
}

impl Damaged<'_> {
    fn random(&self) -> u64 {
        let mut seed = self.seed.get();
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        self.seed.set(seed);
        seed
    }
}

impl StackMemory for Damaged<'_> {
    fn word(&self, address: u64) -> Result<u64, MemoryError> {
        let random = self.random();
        match random % 8 {
            0 => Ok(self.words[random as usize / 8 % self.words.len()]),
            1 => Ok(self.words[random as usize / 8 % self.words.len()] ^ (1 << (random >> 32 & 63))),
            2 => Ok(random),
            3 => Err(MemoryError::Unreadable(address)),
            _ => self.process.u64(address),
        }
    }
}

#[test]
fn a_damaged_stack_does_no_harm() {
    for node in nodes() {
        let mut program = start(&node, &[], "nested.js", NESTED);
        let registers = loop {
            let registers = program.stop();
            if program.runtime_knows(&registers) {
                break registers;
            }
            program.go();
        };
        let mut bytes = vec![0; 1 << 13];
        program.process.read(registers.sp, &mut bytes).expect("its stack");
        let words: Vec<u64> = bytes.as_chunks().0.iter().map(|word| u64::from_ne_bytes(*word)).collect();
        let memory =
            Damaged { process: &program.process, seed: Cell::new(0x9e37_79b9_7f4a_7c15), words: &words };
        let begin = Instant::now();
        for round in 0..4000 {
            let (mut at, mut ids) = (registers, Vec::new());
            if round % 2 == 1 {
                at.bp = registers.sp + memory.random() % 1024 * 8;
            }
            for _ in 0..64 {
                match program.runtime.step(&program.process, &at, &memory, &mut program.frames, &mut ids) {
                    Ok(Some(caller)) => at = caller,
                    Ok(None) | Err(_) => break,
                }
            }
        }
        println!("    4000 stacks took {:?}", begin.elapsed());
        assert!(begin.elapsed() < Duration::from_secs(30));
        program.go();
    }
}

#[test]
fn other_programs_have_no_v8() {
    let kind = RUNTIMES.iter().find(|kind| kind.name == "V8").expect("there is one");
    let process = Process::open(std::process::id()).expect("our own");
    assert!(matches!((kind.detect)(&process), Detected::Absent));
}

/// Two functions alike, which become a part of their caller.
const INLINED: &str = r#"
function first(n) {
    let sum = 0;
    for (let i = 0; i < n; i++) sum = (sum + i * 3) % 1009; // first
    return sum;
}
function second(n) {
    let sum = 0;
    for (let i = 0; i < n; i++) sum = (sum + i * 3) % 1009; // second
    return sum;
}
function both(n) {
    const sum = first(n); // call first
    return sum + second(n); // call second
}
console.log('ready');
let all = 0;
for (;;) { all += both(2000); } // loop
"#;

#[test]
fn inlined_functions_are_told_apart() {
    for node in nodes() {
        let mut program = start(&node, &[], "inlined.js", INLINED);
        let stacks = program.stacks(200);
        let chain = |name: &str| {
            let call = format!("call {name}");
            vec![
                (name.to_string(), program.line(name)),
                ("both".to_string(), program.line(&call)),
                ("(anonymous)".to_string(), program.line("loop")),
            ]
        };
        let count =
            |chain: Vec<(String, u32)>| stacks.iter().filter(|stack| program.own(stack) == chain).count();
        let (first, second) = (count(chain("first")), count(chain("second")));
        println!("    {first} in the first, {second} in the second, of {}", stacks.len());
        assert!((first + second) * 100 >= stacks.len() * 95);
        assert!(first * 4 >= stacks.len() && second * 4 >= stacks.len());
    }
}

#[test]
fn a_file_without_symbols_of_its_own_is_read() {
    for node in nodes() {
        let folder = tempfile::tempdir().expect("a folder");
        let bare = folder.path().join("node");
        let stripped = Command::new("strip").arg("-o").arg(&bare).arg(&node).status();
        if !stripped.is_ok_and(|status| status.success()) {
            println!("skipped: it cannot be stripped");
            continue;
        }
        match open(&bare, &[], "inlined.js", INLINED) {
            Ok(mut program) => {
                let stacks = program.stacks(30);
                let named = |stack: &Stack| program.own(stack).iter().any(|(name, _)| name == "both");
                assert!(stacks.iter().filter(|stack| named(stack)).count() * 10 >= stacks.len() * 9);
            }
            // V8 13 exports less.
            Err(why) => assert!(why.starts_with("V8 13.") && why.ends_with("bytecodes are"), "{why}"),
        }
    }
}
