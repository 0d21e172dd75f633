//! Native stacks of C and C++ programs without frame pointers: each frame has the name that the program's text gives it.

use object::{Object, ObjectSymbol};
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use whyslow_unwind::runtimes::{Detected, Runtime, RuntimeKind};
use whyslow_unwind::{Cut, FrameId, Frames, Process, ReadError, Registers, StackMemory};
use whyslow_unwind::{Outcome, StackCopy, StackEntry, UnwindLimits, Unwinder};

/// A program of a test, killed when the test ends.
struct Program {
    child: Child,
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
    fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The next line that it prints.
    fn line(&mut self) -> String {
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

fn start(name: &str, text: &str, flags: &[&str]) -> Option<Program> {
    let folder = tempfile::tempdir().expect("a folder");
    let program = compile(folder.path(), name, text, flags)?;
    let mut child =
        Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("started");
    let output = BufReader::new(child.stdout.take().expect("piped"));
    Some(Program { child, output, _folder: folder })
}

/// Functions by the addresses that a process has them at.
struct Symbols {
    process: Process,
    files: HashMap<String, Vec<(u64, u64, String)>>,
}

impl Symbols {
    fn new(pid: u32) -> Symbols {
        Symbols { process: Process::open(pid).expect("opened"), files: HashMap::new() }
    }

    fn name(&mut self, address: u64) -> String {
        let Some(mapping) = self.process.mapping(address).cloned() else { return "nowhere".into() };
        let Ok(bytes) = std::fs::read(&*mapping.path) else { return mapping.path.to_string() };
        let bias = whyslow_unwind::Image::open(&self.process, &mapping).expect("an image").bias();
        let functions = self.files.entry(mapping.path.to_string()).or_insert_with(|| {
            let file = object::File::parse(&*bytes).expect("an object");
            file.symbols()
                .chain(file.dynamic_symbols())
                .filter(|symbol| symbol.kind() == object::SymbolKind::Text && symbol.size() > 0)
                .map(|s| (s.address(), s.size(), s.name().unwrap_or_default().to_owned()))
                .collect()
        });
        let at = address.wrapping_sub(bias);
        let found = functions.iter().find(|(start, size, _)| *start <= at && at < start + size);
        found.map_or_else(|| format!("[{}]", mapping.name()), |(.., name)| name.clone())
    }

    /// The names of a native stack, innermost first.
    fn names(&mut self, stack: &[StackEntry]) -> Vec<String> {
        let inside = |(at, entry): (usize, &StackEntry)| match entry {
            StackEntry::Native(address) => self.name(address - u64::from(at > 0)),
            StackEntry::Language(_) => "language".to_owned(),
        };
        stack.iter().enumerate().map(inside).collect()
    }
}

fn until<T>(what: &str, mut ready: impl FnMut() -> Option<T>) -> T {
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
fn watching(pid: u32) -> Unwinder {
    let mut unwinder = Unwinder::new(UnwindLimits::default());
    unwinder.began(pid);
    until("its code", || {
        unwinder.look();
        unwinder.ready(pid).then_some(())
    });
    unwinder
}

/// The whole stack of a thread as soon as it is blocked in a function of this name.
fn blocked_in(unwinder: &mut Unwinder, symbols: &mut Symbols, tid: u32, function: &str) -> Vec<String> {
    let pid = symbols.process.pid();
    let mut last = (Outcome::NotReady, Vec::new());
    let end = Instant::now() + Duration::from_secs(10);
    while Instant::now() < end {
        unwinder.look();
        let mut stack = Vec::new();
        let outcome = unwinder.blocked(pid, tid, &mut stack);
        let names = symbols.names(&stack);
        if outcome == Outcome::Whole && names.iter().any(|name| name == function) {
            return names;
        }
        if !stack.is_empty() {
            last = (outcome, names);
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    panic!("never blocked in {function}; last: {last:?}");
}

/// That these functions call each other in this order, innermost first.
fn assert_chain(names: &[String], chain: &[&str]) {
    let at = names.iter().position(|name| name == chain[0]);
    let found = at.and_then(|at| names.get(at..at + chain.len()));
    assert!(found.is_some_and(|found| found == chain), "{chain:?} in {names:?}");
}

const BLOCKED: &str = r#"
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#define OUT __attribute__((noinline, noclone))
static int pipes[2];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int sink;
static void told(const char *what) { char line[64]; int n = snprintf(line, 64, "%s %ld\n", what, syscall(SYS_gettid)); write(1, line, n); }
OUT int read_row(int fd) { char b[300]; int n = read(fd, b, sizeof b); sink += b[0]; return n + 1; }
OUT int load_table(int fd) { int n = read_row(fd); sink += n; return n * 2; }
OUT int recurse(int depth, int fd) { volatile char room[40]; room[depth % 40] = 1; int n = depth == 0 ? load_table(fd) : recurse(depth - 1, fd); sink += room[0]; return n + 1; }
void *reader(void *x) { told("reader"); int n = recurse(30, pipes[0]); sink += n; return x; }
OUT int take_lock(void) { pthread_mutex_lock(&lock); sink++; pthread_mutex_unlock(&lock); return sink; }
OUT int save_row(int n) { int got = take_lock(); sink += got; return got + n; }
void *locker(void *x) { told("locker"); int n = save_row(3); sink += n; return x; }
OUT int nap(int s) { struct timespec t = {s, 0}; int r = nanosleep(&t, 0); sink += r; return r + 1; }
/* The frame of a variable size is found by its frame pointer. */
OUT int nap_with_room(int n) { char *room = alloca(n); memset(room, 1, n); int r = nap(1000); sink += room[n / 2]; return r; }
void *sleeper(void *x) { told("sleeper"); int n = nap_with_room(500 + sink); sink += n; return x; }
OUT int wait_events(int fd) { struct pollfd p = {fd, POLLIN, 0}; int r = poll(&p, 1, -1); sink += r; return r + 1; }
void *poller(void *x) { told("poller"); int n = wait_events(pipes[0]); sink += n; return x; }
/* A handler of a signal waits; below it is what was interrupted. */
OUT void on_signal(int s) { int n = nap(1000); sink += n + s; }
OUT int interrupted(void) { raise(SIGUSR1); sink++; return sink; }
void *signalled(void *x) { told("signalled"); int n = interrupted(); sink += n; return x; }
int cmp(const void *a, const void *b) { if (!sink) sink = 1; static int once; if (!once++) { int n = nap(1000); sink += n; } return *(int *)a - *(int *)b; }
/* libc calls us back. */
void *sorter(void *x) { told("sorter"); int v[4] = {3, 1, 2, 0}; qsort(v, 4, sizeof *v, cmp); sink += v[0]; return x; }
OUT int run(void) { int n = load_table(0); sink += n; return n + 1; }
int main(void) {
    if (pipe(pipes)) return 1;
    signal(SIGUSR1, on_signal);
    pthread_mutex_lock(&lock);
    pthread_t t;
    void *(*all[])(void *) = {reader, locker, sleeper, poller, signalled, sorter};
    for (int i = 0; i < 6; i++) pthread_create(&t, 0, all[i], 0);
    told("main");
    int n = run();
    return n + sink;
}
"#;

fn check_blocked(flags: &[&str]) {
    let Some(mut program) = start("blocked.c", BLOCKED, flags) else { return };
    let tids: HashMap<String, u32> = (0..7)
        .map(|_| {
            let line = program.line();
            let (what, tid) = line.split_once(' ').expect("a thread");
            (what.to_owned(), tid.parse().expect("a number"))
        })
        .collect();
    let pid = program.pid();
    let mut unwinder = watching(pid);
    let mut symbols = Symbols::new(pid);
    let mut stack =
        |thread: &str, function: &str| blocked_in(&mut unwinder, &mut symbols, tids[thread], function);
    assert_chain(&stack("main", "read_row"), &["read_row", "load_table", "run", "main"]);
    let mut deep = vec!["read_row", "load_table"];
    deep.extend(["recurse"; 31]);
    deep.push("reader");
    assert_chain(&stack("reader", "read_row"), &deep);
    assert_chain(&stack("locker", "take_lock"), &["take_lock", "save_row", "locker"]);
    assert_chain(&stack("sleeper", "nap"), &["nap", "nap_with_room", "sleeper"]);
    assert_chain(&stack("poller", "wait_events"), &["wait_events", "poller"]);
    let signalled = stack("signalled", "on_signal");
    assert_chain(&signalled, &["nap", "on_signal"]);
    assert_chain(&signalled, &["interrupted", "signalled"]);
    let sorter = stack("sorter", "cmp");
    assert_chain(&sorter, &["nap", "cmp"]);
    assert!(sorter.iter().any(|name| name == "sorter"), "{sorter:?}");

    // A thread that did not run has the same stack, and is not read again; one that ran is.
    let mut again = Vec::new();
    let main = tids["main"];
    unwinder.blocked(pid, main, &mut again);
    again.clear();
    assert_eq!((unwinder.blocked(pid, main, &mut again), again.len()), (Outcome::Same, 0));
    let mut input = program.child.stdin.take().expect("piped");
    input.write_all(b"x").expect("written");
    drop(input);
    until("its end", || program.child.try_wait().expect("a child"));
    until("no thread", || (unwinder.blocked(pid, main, &mut again) == Outcome::Unreadable).then_some(()));
    unwinder.ended(pid);
    assert_eq!(unwinder.blocked(pid, main, &mut again), Outcome::NotReady);
    assert!(again.is_empty());
}

#[test]
fn blocked_threads_are_read_to_their_beginning() {
    check_blocked(&[]);
}

#[test]
fn static_programs_are_read() {
    check_blocked(&["-static"]);
}

/// All but the C library has frame pointers: those of blocked threads are found on their stacks.
#[test]
fn frame_pointers_that_are_not_known_are_found() {
    check_blocked(&["-fno-omit-frame-pointer"]);
}

#[test]
fn without_unwind_information_frame_pointers_are_followed() {
    let text = "#include <unistd.h>\n#include <stdio.h>\n\
        __attribute__((noinline,noclone)) int inner(volatile long *n) { for (;;) ++*n; return *n; }\n\
        __attribute__((noinline,noclone)) int outer(volatile long *n) { int r = inner(n); return r + *n; }\n\
        int main(void) { volatile long n = 0; puts(\"ready\"); fflush(stdout); return outer(&n) + n; }\n";
    let flags = ["-fno-omit-frame-pointer", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables"];
    check_running(text, &flags, &["inner", "outer", "main"]);
}

const BUSY: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define OUT __attribute__((noinline, noclone))
volatile unsigned long sink;
OUT unsigned long leaf(unsigned long n) { unsigned long s = n; for (int i = 0; i < 1000; i++) { s = s * 31 + sink; } return s; }
OUT unsigned long middle(unsigned long n) { char b[700]; memset(b, (int)n, sizeof b); sink += leaf(n); sink += b[n % 700]; return sink; }
OUT unsigned long outer(unsigned long n) { unsigned long s = 0; for (;;) { s += middle(n++); if (s == 1) break; } sink += s; return s; }
int main(void) { puts("ready"); fflush(stdout); unsigned long n = outer(7); return (int)(n + sink); }
"#;

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
fn samples(pid: u32, times: usize, bytes: usize) -> Vec<(Registers, Vec<u8>)> {
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
        all.push((Registers { ip: numbers[0], sp: numbers[1], bp: numbers[2] }, copy.to_vec()));
        rest = behind;
    }
    assert_eq!(all.len(), times);
    all
}

fn check_running(text: &str, flags: &[&str], chain: &[&str]) {
    let Some(mut program) = start("busy.c", text, flags) else { return };
    assert_eq!(program.line(), "ready");
    let pid = program.pid();
    let mut unwinder = watching(pid);
    let mut symbols = Symbols::new(pid);
    assert!(unwinder.wants_copy(pid));
    let mut innermost = 0;
    for (registers, copy) in samples(pid, 100, 2400) {
        let mut stack = Vec::new();
        let copy = StackCopy { start: registers.sp, bytes: &copy };
        let outcome = unwinder.sampled(pid, pid, registers, copy, &mut stack);
        let names = symbols.names(&stack);
        assert_eq!(outcome, Outcome::Whole, "{names:?}");
        let from = chain.iter().position(|function| names.iter().any(|name| name == function));
        let chain = &chain[from.expect("our own")..];
        assert_chain(&names, chain);
        innermost += usize::from(from == Some(0));
    }
    assert!(innermost > 50, "{innermost} in the innermost function");
}

#[test]
fn running_threads_are_read_out_of_copies() {
    check_running(BUSY, &[], &["leaf", "middle", "outer", "main"]);
}

#[test]
fn a_copy_that_is_too_short_cuts_the_stack() {
    let Some(mut program) = start("busy.c", BUSY, &[]) else { return };
    assert_eq!(program.line(), "ready");
    let pid = program.pid();
    let mut unwinder = watching(pid);
    let mut symbols = Symbols::new(pid);
    let mut cut = 0;
    for (registers, copy) in samples(pid, 20, 64) {
        let mut stack = Vec::new();
        let copy = StackCopy { start: registers.sp, bytes: &copy };
        if unwinder.sampled(pid, pid, registers, copy, &mut stack) == Outcome::Cut(Cut::Copy) {
            cut += 1;
            assert!(matches!(&*symbols.names(&stack)[0], "leaf" | "middle" | "outer"));
        }
    }
    assert!(cut > 10, "{cut}");
}

#[test]
fn damaged_copies_and_registers_end_soon() {
    let Some(mut program) = start("busy.c", BUSY, &[]) else { return };
    assert_eq!(program.line(), "ready");
    let pid = program.pid();
    let mut unwinder = watching(pid);
    let code: Vec<u64> = Process::open(pid)
        .expect("opened")
        .mappings()
        .iter()
        .filter(|mapping| mapping.executable)
        .flat_map(|mapping| {
            [mapping.start, mapping.end - 1, mapping.start + (mapping.end - mapping.start) / 2]
        })
        .collect();
    // Marsaglia's xorshift: the same numbers each time.
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let begin = Instant::now();
    for _ in 0..20_000 {
        let sp = match random() % 4 {
            0 => random(),
            1 => u64::MAX - random() % 64,
            _ => 0x7fff_0000_0000 + random() % 4096,
        };
        let mut word = |near: u64| match random() % 5 {
            0 => random(),
            1 => near.wrapping_add(random() % 4096),
            2 => u64::MAX - random() % 32,
            3 => random() % 32,
            _ => code[random() as usize % code.len()] + random() % 64,
        };
        let bytes: Vec<u8> = (0..300).flat_map(|_| word(sp).to_ne_bytes()).collect();
        let registers = Registers { ip: word(sp), sp, bp: word(sp) };
        let mut stack = Vec::new();
        unwinder.sampled(pid, pid, registers, StackCopy { start: sp, bytes: &bytes }, &mut stack);
        assert!(stack.len() <= 256);
    }
    assert!(begin.elapsed() < Duration::from_secs(8), "{:?}", begin.elapsed());
}

#[test]
fn exceptions_of_c_plus_plus_and_templates_do_not_matter() {
    let text = r#"
#include <cstdio>
#include <functional>
#include <stdexcept>
#include <string>
#include <unistd.h>
#define OUT __attribute__((noinline))
volatile int sink;
struct Store { virtual int wait(const std::string &name); virtual ~Store() {} };
OUT int Store::wait(const std::string &name) { char b[16]; int n = read(0, b, 1); sink += n + name.size(); return n; }
extern "C" OUT int retry(Store *store) {
    try { throw std::runtime_error("once"); }
    catch (const std::exception &e) { std::string s(e.what()); int n = store->wait(s + "again"); sink += n; }
    return sink;
}
extern "C" OUT int through(std::function<int(Store *)> f, Store *s) { int n = f(s); sink += n; return n + 1; }
int main() { std::puts("ready"); std::fflush(stdout); Store s; int n = through([](Store *s) { int r = retry(s); sink += r; return r; }, &s); return n + sink; }
"#;
    let Some(mut program) = start("store.cc", text, &[]) else { return };
    assert_eq!(program.line(), "ready");
    let pid = program.pid();
    let (mut unwinder, mut symbols) = (watching(pid), Symbols::new(pid));
    let names = blocked_in(&mut unwinder, &mut symbols, pid, "retry");
    assert!(names.iter().any(|name| name.contains("Store") && name.contains("wait")), "{names:?}");
    let order: Vec<_> = ["retry", "through", "main"]
        .map(|function| {
            names.iter().position(|name| name == function || name.starts_with(&format!("{function}.cold")))
        })
        .into();
    assert!(order.iter().all(Option::is_some) && order.is_sorted(), "{names:?}");
}

/// A language whose functions are those of the C program that are named here.
struct Fake {
    evaluator: u64,
    size: u64,
    depth: usize,
}

impl Runtime for Fake {
    fn language(&self) -> &'static str {
        "python"
    }

    fn version(&self) -> &str {
        "Fake 1.0"
    }

    fn evaluates(&self, ip: u64) -> bool {
        (self.evaluator..self.evaluator + self.size).contains(&ip)
    }

    fn thread(
        &mut self,
        process: &Process,
        tid: u32,
        frames: &mut Frames,
        stack: &mut Vec<FrameId>,
    ) -> Result<(), ReadError> {
        // Only the first thread runs the language.
        if tid == process.pid() {
            stack.extend((0..self.depth).filter_map(|n| frames.id(&format!("f{n}"), "a.fake", n as u32 + 1)));
        }
        Ok(())
    }
}

/// A language that steps over one function of the C program.
struct Stepper {
    function: u64,
    size: u64,
}

impl Runtime for Stepper {
    fn language(&self) -> &'static str {
        "python"
    }

    fn version(&self) -> &str {
        "Stepper 1.0"
    }

    fn step(
        &mut self,
        _: &Process,
        registers: &Registers,
        memory: &dyn StackMemory,
        frames: &mut Frames,
        stack: &mut Vec<FrameId>,
    ) -> Result<Option<Registers>, ReadError> {
        if !(self.function..self.function + self.size).contains(&registers.ip) {
            return Ok(None);
        }
        stack.extend(frames.id("inlined", "b.fake", 1));
        stack.extend(frames.id("stepped", "b.fake", 2));
        // The first word that can be a return address into the caller.
        for at in (0..200).map(|n| registers.sp + n * 8) {
            let ip = memory.word(at)?;
            if (self.function + self.size..self.function + self.size + 0x100).contains(&ip) {
                return Ok(Some(Registers { ip, sp: at + 8, bp: 0 }));
            }
        }
        Err(ReadError::Unlikely("the stack of a test"))
    }
}

fn function(process: &Process, name: &str) -> Option<(u64, u64)> {
    let mapping = process.mappings().iter().find(|mapping| mapping.name() == "program")?;
    let image = whyslow_unwind::Image::open(process, mapping).ok()?;
    let bytes = std::fs::read(&*mapping.path).ok()?;
    let file = object::File::parse(&*bytes).ok()?;
    let symbol = file.symbols().find(|symbol| symbol.name() == Ok(name))?;
    Some((symbol.address().wrapping_add(image.bias()), symbol.size()))
}

fn detect_fake(process: &Process) -> Detected {
    match function(process, "load_table") {
        Some((evaluator, size)) => Detected::Found(Box::new(Fake { evaluator, size, depth: 3 })),
        None => Detected::Absent,
    }
}

fn detect_stepper(process: &Process) -> Detected {
    match function(process, "load_table") {
        Some((function, size)) => Detected::Found(Box::new(Stepper { function, size })),
        None => Detected::Absent,
    }
}

fn detect_unknown(_: &Process) -> Detected {
    Detected::Unknown("it is too new".to_owned())
}

static FAKE: [RuntimeKind; 2] = [
    RuntimeKind { name: "Fake", versions: "1.0", detect: detect_fake },
    RuntimeKind { name: "New", versions: "none", detect: detect_unknown },
];
static STEPPER: [RuntimeKind; 1] = [RuntimeKind { name: "Stepper", versions: "1.0", detect: detect_stepper }];

/// The stack of a thread of the program with a runtime, once both are known.
fn mixed(
    program: &Program,
    kinds: &'static [RuntimeKind],
    tid: u32,
    chain: &[&str],
) -> (Unwinder, Outcome, Vec<String>) {
    let pid = program.pid();
    let mut unwinder = Unwinder::with_runtimes(UnwindLimits::default(), kinds);
    let mut symbols = Symbols::new(pid);
    unwinder.began(pid);
    let (outcome, names) = until("the stack", || {
        unwinder.look();
        let mut stack = Vec::new();
        let outcome = unwinder.blocked(pid, tid, &mut stack);
        let native = symbols.names(&stack);
        let names: Vec<String> = stack
            .iter()
            .zip(native)
            .map(|(entry, native)| match entry {
                StackEntry::Native(_) => native,
                StackEntry::Language(id) => unwinder.frames().get(*id).expect("kept").function.to_string(),
            })
            .collect();
        let at = names.iter().position(|name| name == chain[0])?;
        (names.get(at..at + chain.len())? == chain).then_some((outcome, names))
    });
    (unwinder, outcome, names)
}

#[test]
fn frames_of_a_language_take_the_place_of_its_evaluator() {
    let Some(mut program) = start("blocked.c", BLOCKED, &[]) else { return };
    let lines: Vec<String> = (0..7).map(|_| program.line()).collect();
    let pid = program.pid();
    let (mut unwinder, outcome, names) = mixed(&program, &FAKE, pid, &["read_row", "f0", "f1", "f2"]);
    assert_eq!((outcome, names.last().map(|name| &**name)), (Outcome::Whole, Some("f2")));
    // A thread that runs nothing of it is native.
    let reader = lines.iter().find_map(|line| line.strip_prefix("reader ")).expect("told");
    let (_, _, names) = mixed(&program, &FAKE, reader.parse().expect("a number"), &["load_table", "recurse"]);
    assert!(!names.iter().any(|name| name == "f0"));
    let notes = unwinder.notes();
    assert_eq!((&*notes[0].runtime, &notes[0].unreadable), ("Fake 1.0", &None));
    assert_eq!((&*notes[1].runtime, notes[1].unreadable.as_deref()), ("New", Some("it is too new")));
    assert!(unwinder.notes().is_empty());
}

#[test]
fn frames_of_a_language_stand_between_native_ones() {
    let Some(mut program) = start("blocked.c", BLOCKED, &[]) else { return };
    (0..7).for_each(|_| drop(program.line()));
    let pid = program.pid();
    let chain = ["read_row", "inlined", "stepped"];
    let (_, outcome, names) = mixed(&program, &STEPPER, pid, &chain);
    // Its caller may be anywhere; what was found stands.
    assert!(matches!(outcome, Outcome::Whole | Outcome::Cut(_)), "{outcome:?} {names:?}");
}
