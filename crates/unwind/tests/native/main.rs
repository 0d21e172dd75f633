//! Native stacks of C and C++ programs without frame pointers: each frame has the name that the program's text gives it.

mod common;
mod go;
mod mixing;

use common::{assert_chain, samples, start, until, watching};
use object::{Object, ObjectSymbol};
use std::collections::HashMap;
use std::io::Write;
use std::time::{Duration, Instant};
use whyslow_unwind::{Cut, Process, Registers, StackCopy, StackEntry, StackOutcome, Unwinder};

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

/// The whole stack of a thread as soon as it is blocked in a function of this name.
fn blocked_in(unwinder: &mut Unwinder, symbols: &mut Symbols, tid: u32, function: &str) -> Vec<String> {
    let pid = symbols.process.pid();
    let mut last = (StackOutcome::NotReady, Vec::new());
    let end = Instant::now() + Duration::from_secs(10);
    while Instant::now() < end {
        unwinder.look();
        let mut stack = Vec::new();
        let outcome = unwinder.blocked(pid, tid, &mut stack);
        let names = symbols.names(&stack);
        if outcome == StackOutcome::Whole && names.iter().any(|name| name == function) {
            return names;
        }
        if !stack.is_empty() {
            last = (outcome, names);
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    panic!("never blocked in {function}; last: {last:?}");
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
    assert_eq!((unwinder.blocked(pid, main, &mut again), again.len()), (StackOutcome::Same, 0));
    let mut input = program.child.stdin.take().expect("piped");
    input.write_all(b"x").expect("written");
    drop(input);
    until("its end", || program.child.try_wait().expect("a child"));
    until("no thread", || {
        (unwinder.blocked(pid, main, &mut again) == StackOutcome::Unreadable).then_some(())
    });
    unwinder.ended(pid);
    assert_eq!(unwinder.blocked(pid, main, &mut again), StackOutcome::NotReady);
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

/// As the C library musl is built: the innermost functions have neither unwind information nor frame pointers.
#[test]
fn functions_without_anything_are_passed_by_their_calls() {
    let text = r#"
#include <stdio.h>
#include <unistd.h>
#include <sys/syscall.h>
#define OUT __attribute__((noinline, noclone))
volatile long sink;
__asm__(".text\n.globl wait_in_kernel\n.type wait_in_kernel,@function\nwait_in_kernel: push %rbx\nmov $0,%eax\nsyscall\npop %rbx\nret\n.size wait_in_kernel,.-wait_in_kernel\n");
long wait_in_kernel(int fd, void *to, long bytes);
__asm__(".globl cancelled\n.type cancelled,@function\ncancelled: push %rbp\npush %r12\nsub $88,%rsp\nxor %ebp,%ebp\nnot %rbp\ncall wait_in_kernel\nadd $88,%rsp\npop %r12\npop %rbp\nret\n.size cancelled,.-cancelled\n");
long cancelled(int fd, void *to, long bytes);
OUT long load(int fd) { char b[500]; long n = cancelled(fd, b, 1); sink += b[0]; return n + 1; }
OUT long run(int fd) { long n = load(fd); sink += n; return n + 1; }
int main(void) { puts("ready"); fflush(stdout); long n = run(0); return (int)(n + sink); }
"#;
    let Some(mut program) = start("untold.c", text, &[]) else { return };
    assert_eq!(program.line(), "ready");
    let pid = program.pid();
    let (mut unwinder, mut symbols) = (watching(pid), Symbols::new(pid));
    let names = blocked_in(&mut unwinder, &mut symbols, pid, "load");
    assert_chain(&names, &["wait_in_kernel", "cancelled", "load", "run", "main"]);
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

fn check_running(text: &str, flags: &[&str], chain: &[&str]) {
    let Some(mut program) = start("busy.c", text, flags) else { return };
    assert_eq!(program.line(), "ready");
    let pid = program.pid();
    let mut unwinder = watching(pid);
    let mut symbols = Symbols::new(pid);
    let mut innermost = 0;
    for (registers, copy) in samples(pid, 100, 2400) {
        let mut stack = Vec::new();
        let copy = StackCopy { start: registers.sp, bytes: &copy };
        let outcome = unwinder.sampled(pid, pid, registers, copy, &mut stack);
        let names = symbols.names(&stack);
        assert_eq!(outcome, StackOutcome::Whole, "{names:?}");
        // As a wait ends, the same is read.
        let mut waited = Vec::new();
        assert_eq!(unwinder.waited(pid, pid, registers, copy, None, &mut waited), outcome);
        assert_eq!(waited, stack);
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
        if unwinder.sampled(pid, pid, registers, copy, &mut stack) == StackOutcome::Cut(Cut::Copy) {
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
    for _ in 0..5_000 {
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
        let registers = Registers { ip: word(sp), sp, bp: word(sp), leaf: None };
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
