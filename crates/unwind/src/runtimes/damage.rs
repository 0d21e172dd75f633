//! Memory that holds anything, for tests: runtimes must come to an end with it, and never panic.

use super::{FrameList, LanguageRuntime, ListedFrames};
use crate::frames::Frames;
use crate::process::Process;

/// Lets a runtime read stacks out of memory that is changed each time: pointers into itself, small numbers and rubbish. `runtime` makes
/// one whose structures begin at an address; `marks` are words that it looks for.
pub(super) fn survives(marks: &[u64], runtime: impl Fn(u64) -> Box<dyn LanguageRuntime>) {
    let process = Process::open(std::process::id()).expect("our own");
    let mut memory = vec![0u64; 1 << 10];
    let start = memory.as_ptr() as u64;
    let mut runtime = runtime(start);
    let mut frames = Frames::default();
    let mut random = 88172645463325252u64;
    for _ in 0..3000 {
        for word in &mut memory {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let pick = random >> 32;
            *word = match random % 16 {
                0..8 => start + pick % (1 << 13) / 8 * 8,
                8..11 => marks[pick as usize % marks.len()],
                11..14 => pick % 512,
                14 => random,
                _ => 0,
            };
        }
        let mut stack = Vec::new();
        let _ = runtime.thread(&process, process.pid(), &mut frames, &mut stack);
        assert!(stack.len() <= 256);
        let bytes: Vec<u8> = memory.iter().flat_map(|word| word.to_ne_bytes()).collect();
        let [holder, first, beside] = [memory[0], memory[1], memory[2]];
        let listed = ListedFrames { head: start, holder, first, beside, frames: &bytes, whole: true };
        let _ = runtime.frame_list(&process, process.pid());
        let _ = runtime.listed(&process, listed, &mut frames, &mut stack);
        assert!(stack.len() <= 256 + FrameList::MOST + 1);
    }
}
