//! Stacks of Go programs, stripped ones and others: functions and lines as the program's text has them.

use crate::common::{Program, assert_chain, samples, until, watching};
use std::process::Command;
use std::time::{Duration, Instant};
use whyslow_unwind::{FrameId, Registers, StackCopy, StackEntry, StackOutcome, Unwinder};

const TEXT: &str = r#"package main

import (
	"fmt"
	"os"
	"runtime"
	"sync"
	"syscall"
)

type Größe struct{ rows int }

var sink int

func small(fd int) int { return readRow(fd) + 1 } // LINE small

//go:noinline
func readRow(fd int) int {
	var b [8]byte
	n, _ := syscall.Read(fd, b[:]) // LINE readRow
	return n + int(b[0])
}

//go:noinline
func (g *Größe) load(fd int) int {
	g.rows++
	g.rows += small(fd) // LINE load
	return g.rows
}

//go:noinline
func deep(n, fd int) int {
	if n == 0 {
		return (&Größe{}).load(fd) // LINE last
	}
	return deep(n-1, fd) + 1 // LINE deep
}

//go:noinline
func leaf(n int) int {
	s := n
	for i := 0; i < 1000; i++ {
		s = s*31 + sink
	}
	return s
}

//go:noinline
func middle(n int) int {
	var b [100]int
	for i := range b {
		b[i] = n
	}
	sink += leaf(n)
	return sink + b[n&63]
}

//go:noinline
func busy() {
	for {
		sink += middle(sink) // LINE busy
	}
}

func init() { runtime.LockOSThread() }

var orders = make(chan int)
var lock sync.Mutex

func take() {
	<-orders // LINE take
}

func claim() {
	lock.Lock() // LINE claim
}

func park() {
	lock.Lock()
	for i := 0; i < 8; i++ {
		go take()
	}
	go claim()
}

func main() {
	park()
	fmt.Println("ready")
	if len(os.Args) > 1 {
		busy() // LINE main
	}
	sink = deep(20, 0) // LINE mainDeep
}
"#;

/// Builds and starts the program; `None` where there is no Go.
fn start(flags: &[&str], arguments: &[&str]) -> Option<Program> {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("main.go"), TEXT).expect("written");
    let mut build = Command::new("go");
    build.current_dir(folder.path()).arg("build").args(flags).args(["-o", "program", "main.go"]);
    match build.status() {
        Err(_) => {
            println!("skipped: no go");
            None
        }
        Ok(status) => {
            assert!(status.success(), "go build");
            let program = folder.path().join("program");
            let mut program = Program::start(Command::new(program).args(arguments), folder);
            assert_eq!(program.line(), "ready");
            Some(program)
        }
    }
}

/// The line of the text with a mark.
fn line(mark: &str) -> u32 {
    let mark = format!("// LINE {mark}");
    let at = TEXT.lines().position(|line| line.ends_with(&mark));
    at.expect("marked") as u32 + 1
}

/// An unwinder that knows the program as one of Go.
fn knowing(pid: u32) -> Unwinder {
    let mut unwinder = watching(pid);
    let notes = until("Go", || {
        unwinder.look();
        Some(unwinder.notes()).filter(|notes| !notes.is_empty())
    });
    assert!(notes[0].runtime.starts_with("Go 1.") && notes[0].unreadable.is_none(), "{notes:?}");
    unwinder
}

/// `function:line` of all frames, all of which are of Go.
fn names(unwinder: &Unwinder, stack: &[StackEntry]) -> Vec<String> {
    let name = |entry: &StackEntry| match entry {
        StackEntry::Native(address) => format!("{address:#x}"),
        StackEntry::Language(id) => {
            let frame = unwinder.frames().get(*id).expect("kept");
            match frame.function.starts_with("main.") {
                true => format!("{}:{}", frame.function, frame.line),
                false => frame.function.to_string(),
            }
        }
    };
    stack.iter().map(name).collect()
}

fn check_blocked(flags: &[&str]) {
    let Some(program) = start(flags, &[]) else { return };
    let pid = program.pid();
    let mut unwinder = knowing(pid);
    let main = format!("main.main:{}", line("mainDeep"));
    let names = until("the stack", || {
        let mut stack = Vec::new();
        let outcome = unwinder.blocked(pid, pid, &mut stack);
        let names = names(&unwinder, &stack);
        (outcome == StackOutcome::Whole && names.contains(&main)).then_some(names)
    });
    let at = |function: &str, mark: &str| format!("main.{function}:{}", line(mark));
    let mut chain =
        vec![at("readRow", "readRow"), at("small", "small"), at("(*Größe).load", "load"), at("deep", "last")];
    chain.extend((0..20).map(|_| at("deep", "deep")));
    chain.extend([at("main", "mainDeep"), "runtime.main".to_owned(), "runtime.goexit".to_owned()]);
    assert_chain(&names, &chain.iter().map(|name| &**name).collect::<Vec<_>>());
    // Threads of the runtime itself are read too.
    for tid in whyslow_unwind::Process::open(pid).expect("opened").threads() {
        let mut stack = Vec::new();
        let outcome = unwinder.blocked(pid, tid, &mut stack);
        assert!(
            matches!(outcome, StackOutcome::Whole | StackOutcome::Same | StackOutcome::Moved),
            "{outcome:?} {stack:?}"
        );
    }
}

#[test]
fn goroutines_in_a_system_call_are_read() {
    check_blocked(&[]);
}

/// Those of the program, each `function:line` of its own innermost frame and what the library's do.
fn parked(unwinder: &mut Unwinder, pid: u32, part: (u64, usize)) -> Vec<Vec<String>> {
    let mut stacks = Vec::new();
    let all = unwinder.parked(pid, part, &mut |number, stack| stacks.push((number, stack.to_vec())));
    assert!(all >= 10, "{all} goroutines");
    let own = |(_, stack): (u64, Vec<FrameId>)| {
        let stack: Vec<StackEntry> = stack.into_iter().map(StackEntry::Language).collect();
        names(unwinder, &stack)
    };
    stacks.into_iter().map(own).collect()
}

fn check_parked(flags: &[&str]) {
    let Some(program) = start(flags, &[]) else { return };
    let pid = program.pid();
    let mut unwinder = knowing(pid);
    let take = format!("main.take:{}", line("take"));
    let claim = format!("main.claim:{}", line("claim"));
    let of = |stacks: &[Vec<String>], own: &str| {
        let with = stacks.iter().filter(|stack| stack.iter().any(|name| name == own));
        with.cloned().collect::<Vec<_>>()
    };
    let stacks = until("all of them", || {
        let stacks = parked(&mut unwinder, pid, (0, 1024));
        (of(&stacks, &take).len() == 8 && of(&stacks, &claim).len() == 1).then_some(stacks)
    });
    // Those of the runtime itself are none of the program's.
    assert_eq!(stacks.len(), 9, "{stacks:?}");
    assert_chain(&of(&stacks, &take)[0], &["runtime.chanrecv1", &take, "runtime.goexit"]);
    assert_chain(&of(&stacks, &claim)[0], &["sync.(*Mutex).Lock", &claim, "runtime.goexit"]);
    // By parts it is as many.
    let parts: usize = (0..16).map(|part| parked(&mut unwinder, pid, (part * 4, 4)).len()).sum();
    assert_eq!(parts, 9);
}

#[test]
fn goroutines_on_no_thread_are_read() {
    check_parked(&[]);
    check_parked(&["-ldflags=-s -w", "-trimpath"]);
    check_parked(&["-buildmode=pie"]);
}

#[test]
fn stripped_programs_are_read() {
    check_blocked(&["-ldflags=-s -w"]);
}

#[test]
fn running_goroutines_are_read_out_of_copies() {
    let Some(program) = start(&["-ldflags=-s -w"], &["busy"]) else { return };
    let pid = program.pid();
    let mut unwinder = knowing(pid);
    let (mut whole, mut inner) = (0, 0);
    // On a full machine it is often stopped where the scheduler's signal has just come in.
    let batches = (0..20).flat_map(|_| samples(pid, 100, 4000));
    for (registers, copy) in batches {
        if whole > 50 && inner > 40 {
            break;
        }
        let mut stack = Vec::new();
        let copy = StackCopy { start: registers.sp, bytes: &copy };
        let outcome = unwinder.sampled(pid, pid, registers, copy, &mut stack);
        let names = names(&unwinder, &stack);
        let (busy, main) = (format!("main.busy:{}", line("busy")), format!("main.main:{}", line("main")));
        // The scheduler has taken the goroutine off its thread, or is about to.
        if names
            .iter()
            .any(|name| name.starts_with("runtime.") && name != "runtime.main" && name != "runtime.goexit")
        {
            continue;
        }
        assert_eq!(outcome, StackOutcome::Whole, "{names:?}");
        assert_chain(&names, &[&busy, &main, "runtime.main", "runtime.goexit"]);
        whole += 1;
        inner += usize::from(names.iter().any(|name| name.starts_with("main.leaf:")));
    }
    assert!(whole > 50 && inner > 40, "{whole} whole, {inner} in the innermost function");
}

#[test]
fn any_instruction_and_any_stack_ends_soon() {
    let Some(program) = start(&["-ldflags=-s -w"], &["busy"]) else { return };
    let pid = program.pid();
    let mut unwinder = knowing(pid);
    let process = whyslow_unwind::Process::open(pid).expect("opened");
    let code = process.mappings().iter().find(|mapping| mapping.executable).expect("code");
    let size = code.end - code.start;
    let begin = Instant::now();
    for nth in 0..5_000_u64 {
        // Knuth's multiplier: the same numbers each time.
        let random = |salt: u64| (nth + salt).wrapping_mul(6_364_136_223_846_793_005) >> 20;
        let words = (0..100).flat_map(|at| (code.start + random(at * 77) % size).to_ne_bytes());
        let bytes: Vec<u8> = words.collect();
        let sp = [0xc000_0000_0000, u64::MAX - 799, 0, 8][nth as usize % 4];
        let registers = Registers { ip: code.start + random(0) % size, sp, bp: random(1), leaf: None };
        let mut stack = Vec::new();
        unwinder.sampled(pid, pid, registers, StackCopy { start: sp, bytes: &bytes }, &mut stack);
        assert!(stack.len() <= 256);
    }
    assert!(begin.elapsed() < Duration::from_secs(10), "{:?}", begin.elapsed());
}
