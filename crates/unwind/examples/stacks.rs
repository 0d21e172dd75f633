//! Prints the stacks of a process's threads as its runtime tells them: `cargo run -p whyslow-unwind --example stacks -- PID`.

use whyslow_unwind::runtimes::{Detected, RUNTIMES};
use whyslow_unwind::{Frames, Process};

fn main() -> std::io::Result<()> {
    let pid = std::env::args().nth(1).and_then(|pid| pid.parse().ok());
    let Some(pid) = pid else { return Err(std::io::Error::other("usage: stacks PID")) };
    let process = Process::open(pid)?;
    for kind in RUNTIMES {
        let mut runtime = match (kind.detect)(&process) {
            Detected::Absent => continue,
            Detected::Unknown(why) => {
                println!("{}: {why}", kind.name);
                continue;
            }
            Detected::Found(runtime) => runtime,
        };
        println!("{}", runtime.version());
        let mut frames = Frames::default();
        for tid in process.threads() {
            let mut stack = Vec::new();
            let ended = runtime.thread(&process, tid, &mut frames, &mut stack);
            println!("thread {tid}{}", ended.map_or_else(|error| format!(" ({error})"), |()| String::new()));
            for frame in stack.iter().filter_map(|id| frames.get(*id)) {
                println!("    {} ({}:{})", frame.function, frame.file, frame.line);
            }
        }
    }
    Ok(())
}
