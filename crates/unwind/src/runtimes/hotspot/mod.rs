//! HotSpot, the virtual machine of OpenJDK 11 to 25, read by its own descriptions (`vmStructs`), as the Serviceability
//! Agent does. Java frames lie on the thread's own stack: of the interpreter, with the method and the bytecode in each, and of
//! compiled methods, whose tables tell which methods were inlined where.

mod code;
mod compiled;
mod describe;
mod header;
mod interpreter;
mod leaf;
mod methods;
mod packed;
mod threads;
mod walk;
mod window;

use crate::frames::{FrameId, Frames};
use crate::image::Image;
use crate::process::{MemoryError, Process};
use crate::registers::{Registers, StackMemory};
use crate::runtimes::{Detected, LanguageRuntime, RuntimeKind};
use code::CodeCache;
use describe::Descriptions;
use interpreter::Interpreter;
use methods::Methods;
use threads::{Anchor, Threads};
use walk::{Behind, Code, Walk};
use window::Window;

/// HotSpot.
pub(super) const HOTSPOT: RuntimeKind = RuntimeKind { name: "OpenJDK", versions: "11 to 22, 25", detect };

/// Stands on the stack of a thread that waits to enter a monitor, in place of the method that it would be: the instruction's name
/// (Java Virtual Machine Specification, 6.5).
const ENTERS_MONITOR: &str = "(monitorenter)";

/// Frames of the machine that are read of one stack.
const FRAMES: usize = 256;

/// HotSpot in a process.
struct HotSpot {
    version: String,
    code: Code,
    threads: Threads,
    /// The blocked thread that is read waits to enter a monitor, and its innermost frame, which does so, was not met yet.
    entering: bool,
}

fn detect(process: &Process) -> Detected {
    let Some(mapping) = process.mappings().iter().find(|mapping| mapping.name() == "libjvm.so") else {
        return Detected::Absent;
    };
    let image = match Image::open(process, mapping) {
        Ok(image) => image,
        Err(error) => return Detected::Unknown(format!("OpenJDK: libjvm.so: {error}")),
    };
    match HotSpot::of(process, &image) {
        Ok(found) => Detected::Found(Box::new(found)),
        Err(why) => Detected::Unknown(format!("OpenJDK: {why}")),
    }
}

impl HotSpot {
    fn of(process: &Process, image: &Image) -> Result<HotSpot, String> {
        if !cfg!(target_arch = "x86_64") {
            return Err("its frames are known on x86-64 only".to_string());
        }
        let described = Descriptions::read(process, image)?;
        let text = |error: MemoryError| error.to_string();
        let major =
            process.u32(described.address("Abstract_VM_Version::_vm_major_version")?).map_err(text)?;
        let release = process.u64(described.address("Abstract_VM_Version::_s_vm_release")?);
        let release = release.and_then(|release| process.c_text(release, 64)).map_err(text)?;
        // Of 23 and 24 it is not described where the methods of compiled code are.
        if !matches!(major, 11..=22 | 25) {
            return Err(format!("its version {release} is not known"));
        }
        let wrapper = described.constant(&["frame::entry_frame_call_wrapper_offset"])?;
        let code = Code {
            cache: CodeCache::of(&described, major)?,
            methods: Methods::of(&described, major)?,
            interpreter: Interpreter::of(&described)?,
            entry: None,
            entry_at: described.address("StubRoutines::_call_stub_return_address")?,
            entry_wrapper: wrapper * 8,
            last: None,
        };
        let number = release.split('+').next().unwrap_or_default();
        let threads = Threads::of(&described)?;
        Ok(HotSpot { version: format!("OpenJDK {number}"), code, threads, entering: false })
    }
}

/// Where Java code was left, as registers to go on from.
fn registers(process: &Process, anchor: &Anchor) -> Result<Registers, MemoryError> {
    let ip = match anchor.pc {
        0 => process.u64(anchor.sp.wrapping_sub(8))?,
        pc => pc,
    };
    Ok(Registers { ip, sp: anchor.sp, bp: anchor.fp, leaf: None })
}

impl LanguageRuntime for HotSpot {
    fn language(&self) -> &'static str {
        "java"
    }

    fn version(&self) -> &str {
        &self.version
    }

    fn thread(
        &mut self,
        process: &Process,
        tid: u32,
        frames: &mut Frames,
        stack: &mut Vec<FrameId>,
    ) -> Result<(), MemoryError> {
        let Some(anchor) = self.threads.anchor(process, tid)? else { return Ok(()) };
        let memory = Window::of(process);
        if anchor.entering {
            stack.extend(frames.id(ENTERS_MONITOR, "", 0));
        }
        let mut walk =
            Walk { process, memory: &memory, frames, stack, left: true, entering: anchor.entering };
        let mut next = registers(process, &anchor)?;
        for _ in 0..FRAMES {
            let last = next.sp;
            let behind = self.code.frame(&mut walk, &next)?;
            walk.entering = false;
            next = match behind {
                Some(Behind::Caller(caller)) => caller,
                Some(Behind::Entry { wrapper, .. }) => match self.threads.before(process, wrapper)? {
                    Some(anchor) => registers(process, &anchor)?,
                    None => return Ok(()),
                },
                None => return Err(MemoryError::Unlikely("the caller of Java code")),
            };
            if next.sp <= last {
                return Err(MemoryError::Unlikely("the frame of a caller"));
            }
        }
        Ok(())
    }

    fn begins(&mut self, process: &Process, blocked: Option<u32>) {
        let anchor = blocked.and_then(|tid| self.threads.anchor(process, tid).ok().flatten());
        self.entering = anchor.is_some_and(|anchor| anchor.entering);
    }

    fn step(
        &mut self,
        process: &Process,
        registers: &Registers,
        memory: &dyn StackMemory,
        frames: &mut Frames,
        stack: &mut Vec<FrameId>,
    ) -> Result<Option<Registers>, MemoryError> {
        let before = stack.len();
        let mut walk = Walk { process, memory, frames, stack, left: false, entering: self.entering };
        let behind = self.code.frame(&mut walk, registers)?;
        // Of a wait that is over the VM says no more whether it was for a monitor: the bytecode does.
        if walk.entering && walk.stack.len() > before {
            if let Some(id) = walk.frames.id(ENTERS_MONITOR, "", 0) {
                walk.stack.insert(before, id);
            }
            self.entering = false;
        }
        Ok(behind.map(|behind| match behind {
            Behind::Caller(caller) => caller,
            Behind::Entry { native, .. } => native,
        }))
    }
}
