//! Threads that run: read by their registers.

use super::*;

/// A stopped thread.
struct Stopper {
    _child: Ended,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Stopper {
    fn of(folder: &Path, tid: u32) -> Option<Stopper> {
        let (source, program) = (folder.join("stopper.c"), folder.join("stopper"));
        std::fs::write(&source, STOPPER).expect("written");
        let compiled = Command::new("cc").arg("-o").args([&program, &source]).status();
        if !compiled.is_ok_and(|status| status.success()) {
            println!("skipped: no C compiler");
            return None;
        }
        let mut child = Command::new(program)
            .arg(tid.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("started");
        let (input, output) = (child.stdin.take().expect("piped"), child.stdout.take().expect("piped"));
        Some(Stopper { _child: Ended(child), input, output: BufReader::new(output) })
    }

    fn stop(&mut self) -> Registers {
        self.input.write_all(b"\n").expect("asked");
        let mut said = String::new();
        self.output.read_line(&mut said).expect("answered");
        let mut numbers = said.split_whitespace().map(|word| word.parse().expect("a number"));
        let [ip, sp, bp] = [(); 3].map(|()| numbers.next().expect("three of them"));
        Registers { ip, sp, bp, leaf: None }
    }

    fn go_on(&mut self) {
        self.input.write_all(b"\n").expect("asked");
    }
}

#[test]
fn a_running_thread_is_read_by_its_registers() {
    for home in jdks() {
        let folder = compiled(&home, "Stalls", PROGRAM);
        for options in MODES {
            let mut java = Java::start(&home, folder.path(), options, "Stalls");
            running_thread_of(&mut java, folder.path(), &format!("{} {options:?}", home.display()));
        }
    }
}

fn running_thread_of(java: &mut Java, folder: &Path, what: &str) {
    let compute = java.threads()["compute"];
    let Some(mut stopper) = Stopper::of(folder, compute) else { return };
    // Until it is compiled as it will be.
    std::thread::sleep(Duration::from_millis(500));
    let (mut whole, mut errors, mut other, mut lines) = (0, 0, 0, 0);
    let mut seen = Vec::new();
    for _ in 0..300 {
        let mut registers = stopper.stop();
        let first = registers;
        let mut stack = Vec::new();
        let mut ended = Ok(());
        for _ in 0..256 {
            match java.runtime.step(&java.process, &registers, &java.process, &mut java.frames, &mut stack) {
                Ok(Some(caller)) => registers = caller,
                Ok(None) => break,
                Err(error) => {
                    ended = Err(error);
                    break;
                }
            }
        }
        stopper.go_on();
        // It gets somewhere else.
        std::thread::sleep(Duration::from_millis(1));
        seen.push(first);
        let frames: Vec<LanguageFrame> =
            stack.iter().filter_map(|id| java.frames.get(*id)).cloned().collect();
        for frame in frames.iter().filter(|frame| &*frame.file == "Stalls.java" && frame.line != 0) {
            let lines = match &*frame.function {
                "Stalls.mix" => line("mix")..=line("mix end"),
                "Stalls.work" => line("work") - 2..=line("work") + 2,
                "Stalls.compute" => line("compute") - 1..=line("compute"),
                _ => line("body")..=line("body"),
            };
            assert!(lines.contains(&frame.line), "{what}: {frame:?}");
        }
        match (frames.first(), ended) {
            (_, Err(error)) => {
                println!("{what}: {error} at {:#x} after {}", first.ip, frames.len());
                errors += 1;
            }
            // Native code.
            (None, Ok(())) => other += 1,
            (Some(first), Ok(())) => {
                let known = ["Stalls.mix", "Stalls.work", "Stalls.compute"];
                assert!(known.contains(&&*first.function), "{what}: {frames:?}");
                assert!(
                    frames.iter().any(|frame| &*frame.function == "Stalls.compute"),
                    "{what}: {frames:?}"
                );
                assert_eq!(
                    frames.last().map(|frame| &*frame.function),
                    Some("java.lang.Thread.run"),
                    "{what}"
                );
                whole += 1;
                lines += usize::from(first.line != 0);
            }
        }
    }
    println!("{what}: {whole} whole, {lines} with their line, {errors} errors, {other} elsewhere");
    assert!(whole >= 100 && errors <= 15, "{what}: {whole} whole, {errors} errors, {other} elsewhere");
    // Whatever memory holds, there is an end.
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for _ in 0..3000 {
        let mut registers = seen[random.next() as usize % seen.len()];
        registers.ip = registers.ip.wrapping_add(random.next() % 4096).wrapping_sub(2048);
        registers.bp =
            registers.bp.wrapping_add((random.next() % 512).wrapping_sub(256) * (random.next() % 2));
        let damaged = Damaged { process: &java.process, seen: &seen, seed: random.next() };
        let mut stack = Vec::new();
        for _ in 0..64 {
            let step = java.runtime.step(&java.process, &registers, &damaged, &mut java.frames, &mut stack);
            let Ok(Some(caller)) = step else { break };
            registers = caller;
        }
    }
}

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

/// A stack of which some words are others.
struct Damaged<'a> {
    process: &'a Process,
    seen: &'a [Registers],
    seed: u64,
}

impl StackMemory for Damaged<'_> {
    fn word(&self, address: u64) -> Result<u64, MemoryError> {
        let mut random = Random((self.seed ^ address) | 1);
        for _ in 0..3 {
            random.next();
        }
        let other = self.seen[random.next() as usize % self.seen.len()];
        match random.next() % 8 {
            0 => Ok(random.next()),
            1 => Ok(other.ip),
            2 => Ok(other.bp),
            3 => Ok(other.sp),
            _ => self.process.word(address),
        }
    }
}
