//! Stacks of real Java programs under each JDK that is installed, against the program's own text.

mod running;

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};
use whyslow_unwind::registers::{Registers, StackMemory};
use whyslow_unwind::runtimes::{Detected, LanguageRuntime, RUNTIMES};
use whyslow_unwind::{
    Frames, LanguageFrame, MemoryError, Process, StackEntry, StackOutcome, UnwindLimits, Unwinder,
};

/// Each thread waits or computes at the line that says so.
const PROGRAM: &str = r#"
import java.io.*;
import java.net.*;
import java.util.concurrent.locks.*;

public class Stalls {
    static final Object HELD = new Object();
    static final ReentrantLock LOCK = new ReentrantLock();
    static volatile long sink;

    static class Store {
        void save(int row) throws Exception {
            synchronized (HELD) { // at: monitor
                sink = row;
            }
        }
        synchronized void größe() throws Exception {
            Thread.sleep(1_000_000); // at: unicode
        }
    }

    static void notified() throws Exception {
        Object own = new Object();
        synchronized (own) {
            own.wait(); // at: wait
        }
    }

    static void parked() {
        for (;;) LockSupport.park(); // at: park
    }

    static void locked() {
        LOCK.lock(); // at: lock
    }

    static void slept() throws Exception {
        Thread.sleep(1_000_000); // at: sleep
    }

    static void received(Socket socket) throws Exception {
        socket.getInputStream().read(); // at: socket
    }

    static void fileRead(String path) throws Exception {
        sink = 1;
        new FileInputStream(path).read(); // at: file
    }

    static void lambda() {
        Runnable inner = () -> {
            LockSupport.park(); // at: lambda
        };
        for (;;) inner.run(); // at: lambda caller
    }

    static int deep(int left) throws Exception {
        if (left == 0) {
            Thread.sleep(1_000_000); // at: deep
            return 0;
        }
        return deep(left - 1) + 1; // at: deeper
    }

    static long work(long seed) {
        long x = seed;
        for (int i = 0; i < 100; i++) {
            x = mix(x, i); // at: work
        }
        return x;
    }

    static long mix(long x, int i) {
        x ^= x << 13; // at: mix
        x ^= x >>> 7;
        return x + i; // at: mix end
    }

    static void compute() {
        while (true) {
            sink = work(sink + 1); // at: compute
        }
    }

    static long warm(int i) {
        LockSupport.park(); // at: warm
        return mix(sink, i);
    }

    static long outer(int i) {
        return warm(i) + 1; // at: outer
    }

    static void hot() {
        for (int i = 0; ; i++) {
            if (i < 50_000) LockSupport.unpark(Thread.currentThread());
            sink = outer(i); // at: hot
        }
    }

    interface Body { void run() throws Exception; }

    static void start(String name, Body body) {
        Thread thread = new Thread(() -> {
            try {
                body.run(); // at: body
            } catch (Exception error) {
                error.printStackTrace();
            }
        }, name);
        thread.setDaemon(true);
        thread.start();
    }

    public static void main(String[] args) throws Exception {
        ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        Socket client = new Socket(server.getInetAddress(), server.getLocalPort());
        synchronized (HELD) {
            LOCK.lock();
            start("monitor", () -> new Store().save(1));
            start("unicode", () -> new Store().größe());
            start("wait", Stalls::notified);
            start("park", Stalls::parked);
            start("lock", Stalls::locked);
            start("sleep", Stalls::slept);
            start("socket", () -> received(client));
            start("file", () -> fileRead(args[0]));
            start("lambda", Stalls::lambda);
            start("deep", () -> deep(100));
            start("compute", Stalls::compute);
            start("hot", Stalls::hot);
            System.out.println("ready");
            System.in.read(); // at: main
        }
    }
}
"#;

/// Two virtual threads that hold their carriers: one from its start on, one that was put away before with all of its frames.
const VIRTUAL: &str = r#"
import java.io.*;

public class Virtual {
    static volatile long sink;

    static void opened(String path) throws Exception {
        sink++;
        new FileInputStream(path).read(); // at: opened
    }

    static void nested(String path, int left) throws Exception {
        if (left > 0) {
            nested(path, left - 1);
            sink++;
            return;
        }
        Thread.sleep(50);
        sink++;
        new FileInputStream(path).read(); // at: thawed
    }

    interface Body { void run() throws Exception; }

    static void start(Body body) {
        Thread.ofVirtual().start(() -> {
            try {
                body.run();
            } catch (Exception error) {
                error.printStackTrace();
            }
        });
    }

    public static void main(String[] args) throws Exception {
        start(() -> opened(args[0]));
        start(() -> nested(args[0], 6));
        System.out.println("ready");
        System.in.read();
    }
}
"#;

/// Stops a thread at each line on standard input, says its registers, and lets it go on at the next line.
const STOPPER: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>

int main(int count, char **arguments) {
    int tid = count > 1 ? atoi(arguments[1]) : 0;
    char line[16];
    if (ptrace(PTRACE_SEIZE, tid, 0, 0)) return 1;
    while (fgets(line, sizeof line, stdin)) {
        struct user_regs_struct registers;
        int status;
        do {
            ptrace(PTRACE_INTERRUPT, tid, 0, 0);
            if (waitpid(tid, &status, __WALL) != tid) return 2;
            if (status >> 16 != PTRACE_EVENT_STOP) ptrace(PTRACE_CONT, tid, 0, WSTOPSIG(status));
        } while (status >> 16 != PTRACE_EVENT_STOP);
        if (ptrace(PTRACE_GETREGS, tid, 0, &registers)) return 3;
        printf("%llu %llu %llu\n", registers.rip, registers.rsp, registers.rbp);
        fflush(stdout);
        if (!fgets(line, sizeof line, stdin)) return 0;
        ptrace(PTRACE_CONT, tid, 0, 0);
    }
    return 0;
}
"#;

/// The line that has a mark.
fn line(mark: &str) -> u32 {
    line_of(PROGRAM, mark)
}

fn line_of(program: &str, mark: &str) -> u32 {
    let wanted = format!("// at: {mark}");
    let found = program.lines().position(|line| line.trim_end().ends_with(&wanted));
    found.expect("the mark is there") as u32 + 1
}

/// The JDKs that are installed, each once.
fn jdks() -> Vec<PathBuf> {
    let folders = std::fs::read_dir("/usr/lib/jvm").into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = folders.filter_map(|entry| entry.path().canonicalize().ok()).collect();
    found.retain(|home| home.join("bin/javac").exists() && home.join("lib/server/libjvm.so").exists());
    found.sort();
    found.dedup();
    if found.is_empty() {
        println!("skipped: no JDK is installed");
    }
    found
}

/// Compiles a program.
fn compiled(home: &Path, name: &str, program: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let source = folder.path().join(format!("{name}.java"));
    std::fs::write(&source, program).expect("written");
    let mut javac = Command::new(home.join("bin/javac"));
    javac.args(["-J-XX:TieredStopAtLevel=1", "-encoding", "UTF-8", "-d"]).arg(folder.path()).arg(source);
    assert!(javac.status().is_ok_and(|status| status.success()));
    folder
}

/// A child that is ended with its test.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The program under a JDK.
struct Java {
    child: Ended,
    process: Process,
    runtime: Box<dyn LanguageRuntime>,
    frames: Frames,
    _input: ChildStdin,
    _output: BufReader<ChildStdout>,
}

impl Java {
    /// Starts a program that was compiled into a folder.
    fn start(home: &Path, folder: &Path, options: &[&str], name: &str) -> Java {
        let fifo = folder.join("fifo");
        if !fifo.exists() {
            let mode = rustix::fs::Mode::from_raw_mode(0o600);
            rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, mode, 0).expect("made");
        }
        let mut child = Command::new(home.join("bin/java"))
            .args(options)
            .arg("-cp")
            .args([folder, Path::new(name), &fifo])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("started");
        let input = child.stdin.take().expect("piped");
        let mut output = BufReader::new(child.stdout.take().expect("piped"));
        let child = Ended(child);
        let mut said = String::new();
        while said.trim_end() != "ready" {
            said.clear();
            assert!(output.read_line(&mut said).expect("read") > 0, "it ended");
        }
        let process = Process::open(child.0.id()).expect("opened");
        let kind = RUNTIMES.iter().find(|kind| kind.name == "OpenJDK").expect("known");
        let Detected::Found(runtime) = (kind.detect)(&process) else { panic!("{home:?} is not known") };
        Java { child, process, runtime, frames: Frames::default(), _input: input, _output: output }
    }

    /// Its threads by name.
    fn threads(&self) -> HashMap<String, u32> {
        let name = |tid: u32| {
            let path = format!("/proc/{}/task/{tid}/comm", self.child.0.id());
            Some((std::fs::read_to_string(path).ok()?.trim_end().to_string(), tid))
        };
        self.process.threads().into_iter().filter_map(name).collect()
    }

    fn stack(&mut self, tid: u32) -> (Vec<LanguageFrame>, Result<(), MemoryError>) {
        let mut stack = Vec::new();
        let ended = self.runtime.thread(&self.process, tid, &mut self.frames, &mut stack);
        (stack.iter().filter_map(|id| self.frames.get(*id)).cloned().collect(), ended)
    }
}

/// The frames of the program's own file as `function:line`, innermost first.
fn own(stack: &[LanguageFrame]) -> Vec<String> {
    let own = stack.iter().filter(|frame| &*frame.file == "Stalls.java");
    own.map(|frame| format!("{}:{}", frame.function, frame.line)).collect()
}

fn at(function: &str, mark: &str) -> String {
    format!("Stalls{function}:{}", line(mark))
}

/// In the interpreter, as it comes, and all of the program compiled by C1 or C2.
const MODES: &[&[&str]] = &[
    &["-Xint"],
    &[],
    &[
        "-Xcomp",
        "-XX:TieredStopAtLevel=1",
        "-XX:CompileCommand=quiet",
        "-XX:CompileCommand=compileonly,Stalls*::*",
    ],
    &[
        "-Xcomp",
        "-XX:-TieredCompilation",
        "-XX:CompileCommand=quiet",
        "-XX:CompileCommand=compileonly,Stalls*::*",
    ],
];

#[test]
fn waiting_threads_are_read() {
    for home in jdks() {
        let folder = compiled(&home, "Stalls", PROGRAM);
        for options in MODES {
            let mut java = Java::start(&home, folder.path(), options, "Stalls");
            waiting_threads_of(&mut java, &format!("{} {options:?}", home.display()));
        }
    }
}

/// As recordings read them: native frames first, each of which is asked of the runtime.
#[test]
fn who_waits_for_a_monitor_has_its_line_below_native_frames_too() {
    for home in jdks() {
        let folder = compiled(&home, "Stalls", PROGRAM);
        for options in MODES {
            let java = Java::start(&home, folder.path(), options, "Stalls");
            let (pid, what) = (java.child.0.id(), format!("{} {options:?}", home.display()));
            let tid = java.threads()["monitor"];
            let mut unwinder = Unwinder::new(UnwindLimits::default());
            unwinder.began(pid);
            let until = Instant::now() + Duration::from_secs(60);
            let mut last = Vec::new();
            loop {
                assert!(Instant::now() < until, "{what}: {last:?}");
                std::thread::sleep(Duration::from_millis(20));
                unwinder.look();
                let mut stack = Vec::new();
                // Until the runtime is found; then it is read again.
                if unwinder.blocked(pid, tid, &mut stack) == StackOutcome::Same {
                    continue;
                }
                let frames = stack.iter().filter_map(|entry| match entry {
                    StackEntry::Language(id) => unwinder.frames().get(*id).cloned(),
                    StackEntry::Native(_) => None,
                });
                let frames: Vec<LanguageFrame> = frames.collect();
                last = frames.iter().map(|frame| format!("{}:{}", frame.function, frame.line)).collect();
                let native = matches!(stack.first(), Some(StackEntry::Native(_)));
                if native && own(&frames).starts_with(&[at("$Store.save", "monitor")]) {
                    break;
                }
            }
            assert_eq!(last[0], "(monitorenter):0", "{what}: {last:?}");
        }
    }
}

fn waiting_threads_of(java: &mut Java, what: &str) {
    assert!(java.runtime.version().starts_with("OpenJDK "), "{}", java.runtime.version());
    let wanted = [
        ("monitor", vec![at("$Store.save", "monitor")]),
        ("unicode", vec![at("$Store.größe", "unicode")]),
        ("wait", vec![at(".notified", "wait")]),
        ("park", vec![at(".parked", "park")]),
        ("lock", vec![at(".locked", "lock")]),
        ("sleep", vec![at(".slept", "sleep")]),
        ("socket", vec![at(".received", "socket")]),
        ("file", vec![at(".fileRead", "file")]),
        ("lambda", vec![at(".lambda$lambda$0", "lambda"), at(".lambda", "lambda caller")]),
        ("deep", [vec![at(".deep", "deep")], vec![at(".deep", "deeper"); 100]].concat()),
        ("hot", vec![at(".warm", "warm"), at(".outer", "outer"), at(".hot", "hot")]),
        ("java", vec![at(".main", "main")]),
    ];
    let until = Instant::now() + Duration::from_secs(20);
    for (name, wanted) in &wanted {
        loop {
            let threads = java.threads();
            // The main thread has its own name only below the JVM's launcher: it is the one whose stack has `main`.
            let tids: Vec<u32> = match *name {
                "java" => java.process.threads(),
                name => threads.get(name).copied().into_iter().collect(),
            };
            let found: Vec<_> = tids.into_iter().map(|tid| java.stack(tid)).collect();
            let right = |(stack, ended): &(Vec<LanguageFrame>, Result<(), MemoryError>)| {
                let outermost = stack.last().map(|frame| &*frame.function);
                let complete = matches!(outermost, Some("java.lang.Thread.run" | "Stalls.main"));
                own(stack).starts_with(wanted) && ended.is_ok() && complete
            };
            if found.iter().any(right) {
                break;
            }
            let last = found.iter().map(|(stack, ended)| (own(stack), ended)).collect::<Vec<_>>();
            assert!(Instant::now() < until, "{what}: {name}: {wanted:?} is not in {last:?}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
    // A thread that runs Java code has left it nowhere, but for the moments in which it calls the VM or is stopped by it.
    let compute = java.threads()["compute"];
    loop {
        let stack = own(&java.stack(compute).0);
        let known = ["Stalls.mix:", "Stalls.work:", "Stalls.compute:"];
        let Some(first) = stack.first() else { break };
        assert!(known.iter().any(|known| first.starts_with(known)), "{what}: {stack:?}");
        assert!(Instant::now() < until, "{what}: {stack:?}");
    }
    for name in ["deep", "socket", "lock"] {
        let tid = java.threads()[name];
        let begun = spent();
        let depth = (0..200).map(|_| java.stack(tid).0.len()).max();
        println!("{what}: {:?} of a CPU for {depth:?} frames", (spent() - begun) / 200);
    }
}

#[test]
fn virtual_threads_are_read_as_far_as_they_are_on_a_stack() {
    for home in jdks() {
        let release = std::fs::read_to_string(home.join("release")).unwrap_or_default();
        let version = release.lines().find_map(|line| line.strip_prefix("JAVA_VERSION=\""));
        let major = version.and_then(|version| version.split(['.', '"']).next()?.parse::<u32>().ok());
        if major.is_none_or(|major| major < 21) {
            println!("skipped: {} has no virtual threads", home.display());
            continue;
        }
        let folder = compiled(&home, "Virtual", VIRTUAL);
        let options = ["-Djdk.virtualThreadScheduler.parallelism=2"];
        let mut java = Java::start(&home, folder.path(), &options, "Virtual");
        let until = Instant::now() + Duration::from_secs(20);
        loop {
            let stacks: Vec<_> = java.process.threads().into_iter().map(|tid| java.stack(tid)).collect();
            let of = |function: &str, mark: &str| {
                let line = line_of(VIRTUAL, mark);
                let first = |stack: &[LanguageFrame]| {
                    stack.iter().find(|frame| &*frame.file == "Virtual.java").cloned()
                };
                stacks.iter().find(|(stack, _)| {
                    first(stack).is_some_and(|frame| &*frame.function == function && frame.line == line)
                })
            };
            if let (Some((opened, whole)), Some((thawed, ended))) =
                (of("Virtual.opened", "opened"), of("Virtual.nested", "thawed"))
            {
                assert!(whole.is_ok());
                let has = |name: &str| opened.iter().any(|frame| &*frame.function == name);
                assert!(has("java.lang.VirtualThread.run") && has("jdk.internal.vm.Continuation.run"));
                // Its callers are in the heap: nothing is said of them, and nothing of others.
                assert!(ended.is_err(), "{thawed:?}");
                let last = thawed.last().expect("a frame");
                assert_eq!((&*last.function, &*last.file), ("Virtual.nested", "Virtual.java"), "{thawed:?}");
                break;
            }
            assert!(Instant::now() < until, "{stacks:?}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// The CPU time of this thread.
fn spent() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
