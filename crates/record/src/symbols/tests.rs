use super::*;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

/// A program that prints addresses of itself, and stays until its input ends.
const PROGRAM: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
__attribute__((noinline)) int busy_function(int n) { volatile int s = 0; for (int i = 0; i < n; i++) s += i; return s; }
static inline __attribute__((always_inline)) int inlined_one(int n) { volatile int t = n; return t * 3; }
__attribute__((noinline)) int outer_function(int n) { __asm__ volatile("inner_place: .globl inner_place"); return inlined_one(n) + 1; }
int main(void) {
    void *jit = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    printf("%p %p %p\n", (void *)busy_function, (void *)puts, jit);
    fflush(stdout);
    getchar();
    return outer_function(1);
}
"#;

struct Running {
    child: Child,
    output: BufReader<ChildStdout>,
    _directory: tempfile::TempDir,
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Starts the program; `None` (and a line saying so) without a compiler.
fn start() -> Option<(Running, [u64; 3])> {
    let directory = tempfile::tempdir().expect("a directory");
    let program = build(directory.path())?;
    run(Command::new(program), directory)
}

fn build(directory: &Path) -> Option<PathBuf> {
    let (source, program) = (directory.join("x.c"), directory.join("x"));
    std::fs::write(&source, PROGRAM).expect("written");
    let built = Command::new("cc")
        .args(["-g", "-O1", "-fno-omit-frame-pointer", "-o"])
        .args([&program, &source])
        .stderr(Stdio::inherit())
        .status();
    if built.is_ok_and(|status| status.success()) {
        return Some(program);
    }
    println!("skipped: no C compiler");
    None
}

/// Runs it up to its line; `None` where there is none.
fn run(mut command: Command, directory: tempfile::TempDir) -> Option<(Running, [u64; 3])> {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().ok()?;
    let mut output = BufReader::new(child.stdout.take().expect("its output is a pipe"));
    let mut line = String::new();
    output.read_line(&mut line).expect("a line");
    let running = Running { child, output, _directory: directory };
    let words = line.split_whitespace();
    let addresses: Option<Vec<u64>> =
        words.map(|word| u64::from_str_radix(word.trim_start_matches("0x"), 16).ok()).collect();
    Some((running, addresses?.try_into().ok()?))
}

fn function(frames: &[StackFrame]) -> Option<&str> {
    frames.first()?.function.as_deref()
}

#[test]
fn functions_of_a_living_program() {
    let Some((running, [busy, puts, jit])) = start() else { return };
    let pid = running.child.id();
    let mut symbols = Symbolizer::new();
    assert!(symbols.remember(pid));
    let frames = symbols.user(pid, &[busy + 4]);
    assert_eq!((function(&frames), frames[0].address), (Some("busy_function"), busy + 4));
    assert!(frames[0].place.as_ref().is_some_and(|place| place.contains("x.c:")), "{frames:?}");
    assert!(frames[0].module.as_ref().is_some_and(|module| module.ends_with("/x")), "{frames:?}");
    // A return address behind the last instruction of a function is still its own.
    let frames = symbols.user(pid, &[busy, busy + 1]);
    assert_eq!(frames.last().and_then(|frame| frame.function.as_deref()), Some("busy_function"));
    let frames = symbols.user(pid, &[puts + 1]);
    assert!(function(&frames).is_some_and(|name| name.contains("puts")), "{frames:?}");
    // Memory without a file, before and after a map is written.
    assert_eq!(symbols.user(pid, &[jit])[0].module.as_deref(), Some("[anon]"));
    let map = format!("/tmp/perf-{pid}.map");
    std::fs::write(&map, format!("{jit:x} 100 LazyCompile:*handler /app/server.js:7:1\n")).expect("written");
    std::thread::sleep(REREAD);
    let frames = symbols.user(pid, &[jit + 16]);
    std::fs::remove_file(map).expect("removed");
    assert_eq!(
        (function(&frames), frames[0].place.as_deref()),
        (Some("handler"), Some("/app/server.js:7:1"))
    );
    assert_eq!(frames[0].module.as_deref(), Some("[jit]"));
    // Nothing is there.
    assert_eq!(symbols.user(pid, &[1]), [StackFrame { address: 1, ..StackFrame::default() }]);
}

#[test]
fn functions_of_a_program_that_has_ended_and_was_removed() {
    let Some((mut running, [busy, puts, _])) = start() else { return };
    let pid = running.child.id();
    let mut symbols = Symbolizer::new();
    assert!(symbols.remember(pid));
    running.child.stdin.take().expect("its input").write_all(b"\n").expect("told to end");
    running.child.wait().expect("it ends");
    std::fs::remove_file(running._directory.path().join("x")).expect("removed");
    assert!(!Path::new(&format!("/proc/{pid}")).exists());
    let frames = symbols.user(pid, &[busy + 4]);
    assert_eq!(function(&frames), Some("busy_function"), "{frames:?}");
    assert!(function(&symbols.user(pid, &[puts + 1])).is_some_and(|name| name.contains("puts")));
    // Without mappings nothing is made up.
    assert!(!Symbolizer::new().remember(pid));
    assert_eq!(Symbolizer::new().user(pid, &[busy]), [StackFrame { address: busy, ..StackFrame::default() }]);
    let mut rest = String::new();
    let _ = running.output.read_line(&mut rest);
}

#[test]
fn inlined_functions_are_frames() {
    let Some((running, [busy, ..])) = start() else { return };
    let pid = running.child.id();
    let mut symbols = Symbolizer::new();
    // Some address of outer_function, which stands behind busy_function, is of what was inlined into it.
    let both =
        (busy..busy + 512).map(|address| symbols.user(pid, &[address])).find(|frames| frames.len() == 2);
    let both = both.expect("an inlined function");
    let names: Vec<_> = both.iter().filter_map(|frame| frame.function.as_deref()).collect();
    assert_eq!(names, ["inlined_one", "outer_function"]);
    assert_eq!(both[0].address, both[1].address);
}

#[test]
fn kernel_functions() {
    let symbols = std::fs::read_to_string("/proc/kallsyms").unwrap_or_default();
    let known = symbols.lines().find_map(|line| {
        let mut words = line.split(' ');
        let address = u64::from_str_radix(words.next()?, 16).ok().filter(|address| *address != 0)?;
        let kind = words.next()?;
        let name = words.next()?;
        (kind == "T" && name.starts_with("ksys_read") || name == "vfs_read").then_some((address, name))
    });
    let Some((address, name)) = known else { return println!("skipped: kernel addresses are hidden") };
    let mut symbols = Symbolizer::new();
    let frames = symbols.kernel(&[address + 1, address + 2]);
    assert_eq!(frames.len(), 2);
    for frame in &frames {
        assert_eq!((frame.function.as_deref(), frame.module.as_deref()), (Some(name), Some("[kernel]")));
    }
    assert_eq!((frames[0].address, frames[1].address), (address + 1, address + 2));
    assert_eq!(symbols.kernel(&[1])[0].function, None);
}

#[test]
fn a_program_of_another_mount_namespace() {
    let directory = tempfile::tempdir().expect("a directory");
    let Some(program) = build(directory.path()) else { return };
    let hidden = directory.path().join("hidden");
    std::fs::create_dir(&hidden).expect("a directory");
    // The program is on a file system that only its own namespace has mounted.
    let script = r#"mount -t tmpfs none "$2" && cp "$1" "$2/inner" && exec "$2/inner""#;
    let mut command = Command::new("unshare");
    command.args(["-m", "sh", "-c", script, "sh"]).args([&program, &hidden]);
    let Some((running, [busy, ..])) = run(command, directory) else {
        return println!("skipped: no mount namespace can be made here");
    };
    assert!(!hidden.join("inner").exists());
    let mut symbols = Symbolizer::new();
    let frames = symbols.user(running.child.id(), &[busy + 4]);
    assert_eq!(function(&frames), Some("busy_function"), "{frames:?}");
    assert!(frames[0].module.as_ref().is_some_and(|module| module.ends_with("/hidden/inner")), "{frames:?}");
}

/// A map of `pid` for as long as this lives.
struct Map(PathBuf);

impl Map {
    fn new(pid: u32) -> Map {
        Map(PathBuf::from(format!("/tmp/perf-{pid}.map")))
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn a_map_by_another_user_or_behind_a_link_is_not_used() {
    let Some((running, [.., jit])) = start() else { return };
    let pid = running.child.id();
    let map = Map::new(pid);
    std::fs::write(&map.0, format!("{jit:x} 100 FORGED\n")).expect("written");
    if std::os::unix::fs::chown(&map.0, Some(65534), None).is_err() {
        return println!("skipped: to give a file away needs root");
    }
    let mut symbols = Symbolizer::new();
    assert_eq!(symbols.user(pid, &[jit])[0].module.as_deref(), Some("[anon]"));
    let told: Vec<&str> = symbols.remarks().collect();
    assert!(told.len() == 1 && told[0].contains("belongs to user 65534"), "{told:?}");
    let elsewhere = running._directory.path().join("elsewhere");
    std::fs::rename(&map.0, &elsewhere)
        .or_else(|_| std::fs::copy(&map.0, &elsewhere).map(drop))
        .expect("moved");
    std::os::unix::fs::chown(&elsewhere, Some(0), None).expect("given");
    let _ = std::fs::remove_file(&map.0);
    std::os::unix::fs::symlink(&elsewhere, &map.0).expect("linked");
    let mut symbols = Symbolizer::new();
    assert_eq!(symbols.user(pid, &[jit])[0].module.as_deref(), Some("[anon]"));
    assert!(symbols.remarks().any(|told| told.contains("it is a link")));
}

#[test]
fn a_map_of_any_length_takes_bounded_memory() {
    let most = || {
        let status = std::fs::read_to_string("/proc/self/status").expect("our status");
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("our most");
        line.trim().trim_end_matches(" kB").parse::<u64>().expect("a figure")
    };
    let Some((running, [.., jit])) = start() else { return };
    let pid = running.child.id();
    let map = Map::new(pid);
    let distinct: String = (0..4_000_000_u64).map(|at| format!("{:x} 1 a{at}\n", 0x1000 + at)).collect();
    for (text, is_cut) in [("0 1 a\n".repeat(67_000_000 / 6), false), (distinct, true)] {
        std::fs::write(&map.0, format!("{jit:x} 100 own\n{text}")).expect("written");
        drop(text);
        let before = most();
        let mut symbols = Symbolizer::new();
        let frames = symbols.user(pid, &[jit]);
        let taken = most().saturating_sub(before) >> 10;
        assert!(taken <= 128, "{taken} MiB");
        assert_eq!(function(&frames), Some("own"));
        assert_eq!(symbols.remarks().any(|told| told.contains("not used")), is_cut);
    }
}

#[test]
fn a_blind_one_looks_at_nothing_here() {
    let mut symbols = Symbolizer::blind();
    let own = std::process::id();
    assert!(!symbols.remember(own));
    let address = a_blind_one_looks_at_nothing_here as fn() as usize as u64;
    let frames = [symbols.user(own, &[address]), symbols.kernel(&[u64::MAX << 20])].concat();
    assert!(frames.len() == 2 && frames.iter().all(|frame| frame.function.is_none()), "{frames:?}");
}
