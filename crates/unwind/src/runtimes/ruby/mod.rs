//! Ruby 2.7 to 3.4 (MRI): the control frames of each thread of the VM. Frames of methods written in C have no line and are
//! passed over: their caller's line tells the call.

mod code;
mod evaluator;
mod layout;
mod threads;

use super::{Callers, Detected, FrameList, LanguageRuntime, ListedFrames, RuntimeKind};
use crate::frames::{FrameId, Frames};
use crate::image::Image;
use crate::process::{MemoryError, Process};
use code::{Code, aligned, word};
use evaluator::Evaluator;
use layout::Layout;
use std::collections::HashMap;
use std::ops::Range;
use threads::Threads;

pub(super) const KIND: RuntimeKind = RuntimeKind { name: "Ruby", versions: "2.7 to 3.4 (MRI)", detect };

/// `rb_execution_context_struct`: vm_stack, vm_stack_size (in words), cfp (vm_core.h, the same from 2.7 to 3.4).
const CONTEXT: (usize, usize, usize, usize) = (0, 8, 16, 24);
/// `rb_control_frame_struct`: pc, iseq (vm_core.h, the same from 2.7 to 3.4).
const FRAME: (usize, usize) = (0, 16);
/// Frames of a stack, and control frames read to find them.
const FRAMES: usize = 256;
const CONTROL_FRAMES: u64 = 1024;
/// Functions that are kept; when there are more, all are forgotten.
const KNOWN: usize = 1 << 12;
/// Words of a VM's stack at most; Ruby's own default is 2^17.
const STACK: u64 = 1 << 26;

fn detect(process: &Process) -> Detected {
    let is_ruby = |name: &str| name.starts_with("libruby") || name.starts_with("ruby");
    let code =
        process.mappings().iter().filter(|it| it.executable && it.file.is_some() && is_ruby(it.name()));
    for mapping in code {
        let Ok(image) = Image::open(process, mapping) else { continue };
        let names = ["ruby_description", "ruby_version", "ruby_current_vm_ptr"];
        let Ok(found) = image.symbols(&names) else { continue };
        let [Some(description), Some(version), vm] = found[..] else { continue };
        let Ok(description) = process.c_text(description, 128) else { continue };
        let called = || format!("Ruby {}", description.split(' ').nth(1).unwrap_or_default());
        let version = process.c_text(version, 32).unwrap_or_default();
        let Some(layout) = layout_of(&description, &version) else {
            return Detected::Unknown(format!("{}: its layout is not known", called()));
        };
        let Some(vm) = vm else {
            return Detected::Unknown(format!("{}: it does not tell where its VM is", called()));
        };
        let same = process.mappings().iter().filter(|it| it.executable && it.file == mapping.file);
        return Detected::Found(Box::new(Ruby {
            version: format!("Ruby {version}"),
            vm,
            layout,
            code: same.map(|it| it.start..it.end).collect(),
            evaluator: Evaluator::of(&image),
            threads: Threads::default(),
            known: HashMap::new(),
        }));
    }
    Detected::Absent
}

/// The layout by `ruby 3.1.2p20 (2022-04-12 ...` and `3.1.2`; none for versions that were not released (`3.4.0dev`, `3.3.0preview1`).
fn layout_of(description: &str, version: &str) -> Option<Layout> {
    let mark = description.strip_prefix("ruby ")?.strip_prefix(version)?.split(' ').next()?;
    let patch = mark.strip_prefix('p').unwrap_or(mark);
    let mut numbers = version.split('.').map(|number| number.parse().ok());
    let version = (numbers.next()??, numbers.next()??);
    match patch.bytes().all(|byte| byte.is_ascii_digit()) {
        true => layout::of(version),
        false => None,
    }
}

struct Ruby {
    version: String,
    /// Address of `ruby_current_vm_ptr`.
    vm: u64,
    layout: Layout,
    /// The code of the interpreter.
    code: Vec<Range<u64>>,
    evaluator: Evaluator,
    threads: Threads,
    known: HashMap<u64, Code>,
}

impl LanguageRuntime for Ruby {
    fn language(&self) -> &'static str {
        "ruby"
    }

    fn version(&self) -> &str {
        &self.version
    }

    fn evaluates(&self, ip: u64) -> bool {
        self.evaluator.evaluates(ip).unwrap_or_else(|| self.code.iter().any(|range| range.contains(&ip)))
    }

    fn thread(
        &mut self,
        process: &Process,
        tid: u32,
        frames: &mut Frames,
        stack: &mut Vec<FrameId>,
    ) -> Result<(), MemoryError> {
        let Some(thread) = self.of_system(process, tid)? else { return Ok(()) };
        let context = process.u64(thread.wrapping_add(self.layout.context))?;
        let control = self.control_frames(process, context)?;
        self.push(process, control.chunks_exact(self.layout.frame_size), frames, stack)
    }

    fn frame_list(&mut self, process: &Process, tid: u32) -> Option<FrameList> {
        let thread = self.of_system(process, tid).ok()??;
        let list = FrameList {
            head: thread.wrapping_add(self.layout.context),
            through: Some(CONTEXT.2 as u32),
            callers: Callers::Step(self.layout.frame_size as i32),
            index: None,
            bytes: FRAME.1 as u32 + 8,
            beside: None,
            words: FrameList::words(&[FRAME.0, FRAME.1]),
        };
        list.checked()
    }

    fn listed(
        &mut self,
        process: &Process,
        listed: ListedFrames<'_>,
        frames: &mut Frames,
        stack: &mut Vec<FrameId>,
    ) -> Result<(), MemoryError> {
        // A context keeps its stack; where it has ended since, its frames do not lie in what is there now.
        let lies = self.stack_of(process, listed.holder)?;
        let (size, length) = (self.layout.frame_size as u64, lies.end.saturating_sub(listed.first));
        if !lies.contains(&listed.first) || !length.is_multiple_of(size) {
            return Err(MemoryError::Unlikely("the stack of a thread of Ruby"));
        }
        let count = usize::try_from(length / size).unwrap_or(usize::MAX);
        let control = listed.each().take(count);
        let copied = count.min(listed.each().count());
        self.push(process, control.map(|frame| &frame[..]), frames, stack)?;
        match copied == count {
            true => Ok(()),
            false => Err(MemoryError::Unlikely("the end of a list")),
        }
    }
}

impl Ruby {
    /// The address of the thread of Ruby that a thread of the system runs.
    fn of_system(&mut self, process: &Process, tid: u32) -> Result<Option<u64>, MemoryError> {
        match process.u64(self.vm)? {
            0 => Ok(None),
            vm => self.threads.find(process, &self.layout, aligned(vm)?, tid),
        }
    }

    /// Pushes the functions of control frames, innermost first.
    fn push<'a>(
        &mut self,
        process: &Process,
        control: impl Iterator<Item = &'a [u8]>,
        frames: &mut Frames,
        stack: &mut Vec<FrameId>,
    ) -> Result<(), MemoryError> {
        if self.known.len() > KNOWN {
            self.known.clear();
        }
        let (mut pushed, mut seen) = (0, Vec::new());
        for frame in control {
            let (pc, iseq) = (word(frame, FRAME.0), word(frame, FRAME.1));
            // Those of C have neither.
            if pc == 0 || iseq == 0 {
                continue;
            }
            // Instructions are addresses of the code that carries them out.
            if !self.evaluator.is_known()
                && let Ok(instruction) = process.u64(pc)
                && self.code.iter().any(|range| range.contains(&instruction))
            {
                self.evaluator.learn(instruction);
            }
            let (code, line) = Code::at(&mut self.known, process, &self.layout, &mut seen, (iseq, pc))?;
            // What the interpreter puts below the program has no lines.
            if line == 0 {
                continue;
            }
            let Some(id) = frames.id(&code.function, &code.file, line) else { break };
            stack.push(id);
            pushed += 1;
            if pushed == FRAMES {
                break;
            }
        }
        Ok(())
    }

    /// Where the stack of an execution context lies.
    fn stack_of(&self, process: &Process, context: u64) -> Result<Range<u64>, MemoryError> {
        let context: [u8; CONTEXT.3] = process.array(aligned(context)?)?;
        let [start, words] = [CONTEXT.0, CONTEXT.1].map(|at| word(&context, at));
        match words <= STACK {
            true => Ok(start..start.saturating_add(words * 8)),
            false => Err(MemoryError::Unlikely("the stack of a thread of Ruby")),
        }
    }

    /// The bytes of the control frames of an execution context, innermost first: they grow down from the end of its stack.
    fn control_frames(&self, process: &Process, context: u64) -> Result<Vec<u8>, MemoryError> {
        let stack = self.stack_of(process, context)?;
        let top = process.u64(context.wrapping_add(CONTEXT.2 as u64))?;
        let (size, length) = (self.layout.frame_size as u64, stack.end.saturating_sub(top));
        if top < stack.start || top > stack.end || !length.is_multiple_of(size) {
            return Err(MemoryError::Unlikely("the stack of a thread of Ruby"));
        }
        let mut bytes = vec![0; length.min(CONTROL_FRAMES * size) as usize];
        process.read(top, &mut bytes)?;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damaged_memory_is_survived() {
        for version in [(2, 7), (3, 1), (3, 3)] {
            let own = u64::from(std::process::id());
            crate::runtimes::damage::survives(&[0x701a, 5, 7, own, own << 32], |start| {
                Box::new(Ruby {
                    version: "Ruby".to_string(),
                    vm: start,
                    layout: layout::of(version).expect("known"),
                    code: Vec::new(),
                    evaluator: Evaluator::default(),
                    threads: Threads::default(),
                    known: HashMap::new(),
                })
            });
        }
    }

    #[test]
    fn only_released_versions_are_known() {
        assert!(
            layout_of("ruby 3.1.2p20 (2022-04-12 revision 4491bb740a) [x86_64-linux-gnu]", "3.1.2").is_some()
        );
        assert!(layout_of("ruby 3.4.1 (2024-12-25 revision 48d4efcb85) +YJIT +PRISM", "3.4.1").is_some());
        for (description, version) in [
            ("ruby 3.4.0dev (2024-05-01T00:00:00Z master 1)", "3.4.0"),
            ("ruby 3.3.0preview1 (2023-05-12)", "3.3.0"),
            ("ruby 4.0.0 (2025-12-25)", "4.0.0"),
            ("jruby 9.4", "3.1.4"),
            ("", ""),
        ] {
            assert!(layout_of(description, version).is_none(), "{description}");
        }
    }
}
