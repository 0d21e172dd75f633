//! Real programs in each language whose memory is read wrongly now and then: readers come to an end, in bounded time and memory, and never
//! panic. `DAMAGE_ROUNDS=1000` reads more often, `DAMAGE_SEED=7` elsewhere.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use whyslow_unwind::runtimes::{FrameList, ListedFrames};
use whyslow_unwind::{LeafRegisters, Registers, StackCopy, UnwindLimits, Unwinder, damage};

/// Readings of all threads with one unwinder, and unwinders, a program: each finds the runtime anew, out of wrong memory.
const ROUNDS: u64 = 40;
const UNWINDERS: u64 = 6;
/// CPU time of one reading, at most.
const MOST_CPU: Duration = Duration::from_secs(5);
/// Memory that this program may have had at most, KiB.
const MOST_MEMORY: u64 = 768 << 10;
/// Copied of a stack.
const COPY: u64 = 16 << 10;

const PYTHON: &str = "import asyncio, threading, time
def work(n):
    return work(n - 1) if n else time.sleep(1000)
async def one():
    await asyncio.sleep(1000)
async def all():
    print('ready', flush=True)
    await asyncio.gather(*(one() for _ in range(50)))
threading.Thread(target=work, args=(40,), daemon=True).start()
def spin():
    while True: sum(range(100))
threading.Thread(target=spin, daemon=True).start()
asyncio.run(all())";
const PERL: &str =
    "$| = 1; print qq(ready\n); sub work { my $n = shift; return $n ? work($n - 1) : sleep 1000 } work(40)";
const RUBY: &str = "$stdout.sync = true; def work(n) = n > 0 ? work(n - 1) : sleep
Thread.new { loop { (1..100).sum } }; Thread.new { work(40) }; puts 'ready'; sleep";
const PHP: &str = "echo qq; function work($n) { return $n ? work($n - 1) : sleep(1000); } work(40);";
const NODE: &str = "const room = new Int32Array(new SharedArrayBuffer(4));
function work(n) { return n ? work(n - 1) : Atomics.wait(room, 0, 0, 1000000) }
for (let at = 0; at < 3000; at++) { JSON.stringify({ at }); }
require('fs').writeSync(1, 'ready\\n'); work(40)";
const JAVA: &str = "public class Damaged {
    static int work(int n) throws Exception { return n > 0 ? work(n - 1) + 1 : sleep(); }
    static int sleep() throws Exception { Thread.sleep(1000000); return 0; }
    static volatile long sink;
    public static void main(String[] args) throws Exception {
        Thread spin = new Thread(() -> { while (true) sink += sink * 31 + 1; });
        spin.setDaemon(true); spin.start();
        System.out.println(\"ready\");
        work(40);
    }
}";
const GO: &str = "package main
import (\"fmt\"; \"sync\"; \"time\")
func work(n int, lock *sync.Mutex) { if n > 0 { work(n - 1, lock) } else { lock.Lock() } }
func main() {
    var lock sync.Mutex
    lock.Lock()
    for range 20 { go work(40, &lock) }
    fmt.Println(\"ready\")
    for { time.Sleep(time.Millisecond) }
}";

/// Panics so far, of whatever thread.
static PANICS: AtomicUsize = AtomicUsize::new(0);

/// A program that runs until it is dropped.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts a program and waits until it says `ready`; `None` where its language is not installed.
fn start(command: &mut Command) -> Option<Running> {
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
    let Ok(mut child) = child else {
        eprintln!("skipped: {} is not installed", command.get_program().display());
        return None;
    };
    let output = child.stdout.take().expect("piped");
    let child = Running(child);
    let mut line = String::new();
    BufReader::new(output).read_line(&mut line).expect("read");
    if line.trim() != "ready" {
        eprintln!("skipped: {} does not run this program", command.get_program().display());
        return None;
    }
    Some(child)
}

fn start_go(folder: &Path) -> Option<Running> {
    let (source, program) = (folder.join("damaged.go"), folder.join("damaged"));
    fs::write(&source, GO).expect("written");
    let mut build = Command::new("go");
    build.arg("build").arg("-o").arg(&program).arg(&source).env("GO111MODULE", "off").stderr(Stdio::null());
    let is_built = build.status().is_ok_and(|status| status.success());
    if !is_built {
        eprintln!("skipped: go builds nothing here");
        return None;
    }
    start(&mut Command::new(program))
}

/// CPU time of this thread.
fn cpu() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}

/// Where a thread's stack and next instruction are, where it is blocked (proc_pid_syscall(5)).
fn registers(pid: u32, tid: u32) -> Option<(u64, u64)> {
    let text = fs::read_to_string(format!("/proc/{pid}/task/{tid}/syscall")).ok()?;
    let mut last = text.split_whitespace().rev().map(|word| word.strip_prefix("0x"));
    let ip = u64::from_str_radix(last.next()??, 16).ok()?;
    let sp = u64::from_str_radix(last.next()??, 16).ok()?;
    Some((sp, ip))
}

/// Reads all stacks of a process, whole and by their lists, and the parked ones.
fn read(unwinder: &mut Unwinder, pid: u32, random: &mut u64) {
    let Ok(folder) = fs::read_dir(format!("/proc/{pid}/task")) else { return };
    let tids: Vec<u32> =
        folder.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    let memory = fs::File::open(format!("/proc/{pid}/mem")).expect("ours");
    let mut bytes = vec![0; COPY as usize];
    for tid in tids {
        let began = cpu();
        let mut stack = Vec::new();
        unwinder.blocked(pid, tid, &mut stack);
        assert!(stack.len() <= 2 * 256, "{} frames", stack.len());
        if let Some((sp, ip)) = registers(pid, tid) {
            use std::os::unix::fs::FileExt;
            let read = memory.read_at(&mut bytes, sp).unwrap_or(0);
            for _ in 0..3 {
                *random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                let at = (*random >> 33) as usize % read.max(8) / 8 * 8;
                if at + 8 <= read {
                    bytes[at..at + 8].copy_from_slice(&(*random).to_ne_bytes());
                }
            }
            let leaf = LeafRegisters { r9: *random, r12: sp, r13: ip, r14: *random };
            let registers = Registers { ip, sp, bp: sp + *random % 512, leaf: Some(leaf) };
            let copy = StackCopy { start: sp, bytes: &bytes[..read] };
            stack.clear();
            unwinder.sampled(pid, tid, registers, copy, &mut stack);
            assert!(stack.len() <= 2 * 256, "{} frames", stack.len());
            let head = unwinder.frame_list(pid, tid).map_or(*random, |list| list.head);
            let frames: Vec<u8> = (0..FrameList::BYTES * 9 + 5)
                .map(|at| bytes[(at + *random as usize % 512) % bytes.len()])
                .collect();
            let listed =
                ListedFrames { head, holder: head, first: head, beside: head, frames: &frames, whole: false };
            stack.clear();
            unwinder.waited(pid, tid, registers, copy, Some(listed), &mut stack);
        }
        assert!(cpu() - began < MOST_CPU, "{:?} for one thread", cpu() - began);
    }
    let mut told = 0;
    unwinder.parked(pid, (0, 1024), &mut |_, stack| told += stack.len());
    assert!(told <= 1024 * 512);
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

fn survives(name: &str, program: &Running) {
    let pid = program.0.id();
    let seed = number("DAMAGE_SEED").unwrap_or(1);
    let rounds = number("DAMAGE_ROUNDS").unwrap_or(ROUNDS);
    let mut random = seed;
    for nth in 0..UNWINDERS {
        // The first one finds the runtime as it is, and then reads wrongly.
        damage::end();
        let one_in = [3, 10, 40, 200, 1000, 5000][nth as usize % 6];
        if nth % 2 == 1 {
            damage::begin(one_in, seed.wrapping_add(nth));
        }
        let mut unwinder = Unwinder::new(UnwindLimits::default());
        unwinder.began(pid);
        let deadline = Instant::now() + Duration::from_secs(10);
        while !unwinder.ready(pid) && Instant::now() < deadline {
            unwinder.look();
            std::thread::sleep(Duration::from_millis(2));
        }
        if nth == 0 {
            while unwinder.frames().since(0).is_empty() {
                assert!(Instant::now() < deadline, "{name}: no frame of the language");
                unwinder.look();
                read(&mut unwinder, pid, &mut random);
                std::thread::sleep(Duration::from_millis(20));
            }
        }
        damage::begin(one_in, seed.wrapping_add(nth));
        for _ in 0..rounds {
            unwinder.look();
            read(&mut unwinder, pid, &mut random);
        }
        assert_eq!(PANICS.load(Ordering::Relaxed), 0, "{name}: a reader panicked");
    }
    damage::end();
    let status = fs::read_to_string("/proc/self/status").expect("ours");
    let most =
        status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.split_whitespace().next()?.parse().ok());
    assert!(most.is_some_and(|most: u64| most < MOST_MEMORY), "{name}: {most:?} KiB");
}

// One test: damage is for all of the program.
#[test]
fn readers_of_wrong_memory_come_to_an_end() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        PANICS.fetch_add(1, Ordering::Relaxed);
        usual(panic);
    }));
    let folder = tempfile::tempdir().expect("a folder");
    let java = folder.path().join("Damaged.java");
    fs::write(&java, JAVA).expect("written");
    let php = PHP.replace("qq", "\"ready\\n\"");
    let programs: [(&str, Option<Running>); 7] = [
        ("python", start(Command::new("python3").args(["-c", PYTHON]))),
        ("perl", start(Command::new("perl").args(["-e", PERL]))),
        ("ruby", start(Command::new("ruby").args(["-e", RUBY]))),
        ("php", start(Command::new("php").args(["-r", &php]))),
        ("node", start(Command::new("node").args(["-e", NODE]))),
        ("java", start(Command::new("java").arg("-Xmx128m").arg(&java))),
        ("go", start_go(folder.path())),
    ];
    for (name, program) in &programs {
        if let Some(program) = program {
            let began = Instant::now();
            survives(name, program);
            println!("{name}: {:.1} s", began.elapsed().as_secs_f64());
        }
    }
}
