//! Native frames and those of languages in one stack, with languages made for the test.

use crate::common::{Program, start, until};
use crate::{BLOCKED, Symbols};
use object::{Object, ObjectSymbol};
use whyslow_unwind::runtimes::{Detected, LanguageRuntime, RuntimeKind};
use whyslow_unwind::{FrameId, Frames, MemoryError, Process, Registers, StackEntry, StackOutcome};
use whyslow_unwind::{StackMemory, UnwindLimits, Unwinder};

/// A language whose functions are those of the C program that are named here.
struct Fake {
    evaluator: u64,
    size: u64,
    depth: usize,
}

impl LanguageRuntime for Fake {
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
    ) -> Result<(), MemoryError> {
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

impl LanguageRuntime for Stepper {
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
    ) -> Result<Option<Registers>, MemoryError> {
        if !(self.function..self.function + self.size).contains(&registers.ip) {
            return Ok(None);
        }
        stack.extend(frames.id("inlined", "b.fake", 1));
        stack.extend(frames.id("stepped", "b.fake", 2));
        // The first word that can be a return address into the caller.
        for at in (0..200).map(|n| registers.sp + n * 8) {
            let ip = memory.word(at)?;
            if (self.function + self.size..self.function + self.size + 0x100).contains(&ip) {
                return Ok(Some(Registers { ip, sp: at + 8, bp: 0, leaf: None }));
            }
        }
        Err(MemoryError::Unlikely("the stack of a test"))
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
) -> (Unwinder, StackOutcome, Vec<String>) {
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
    assert_eq!((outcome, names.last().map(|name| &**name)), (StackOutcome::Whole, Some("f2")));
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
    assert!(matches!(outcome, StackOutcome::Whole | StackOutcome::Cut(_)), "{outcome:?} {names:?}");
}
