//! One frame of Java code after the other, on the thread's own stack. Source of what is where in a frame:
//! `cpu/x86/frame_x86.hpp`, the same in JDK 11 to 25.

use super::code::{CodeCache, Kind};
use super::compiled::after_call;
use super::header::Header;
use super::interpreter::Interpreter;
use super::leaf::{self, Place};
use super::methods::{Method, Methods};
use crate::frames::{FrameId, Frames};
use crate::process::{MemoryError, Process};
use crate::registers::{Registers, StackMemory};
use std::sync::Arc;

/// `interpreter_frame_sender_sp_offset`, in bytes from the frame pointer: the caller's stack pointer as it was at the call.
const SENDER_SP: i64 = -8;
/// `interpreter_frame_method_offset`: its `Method*`.
const METHOD: i64 = -24;
/// `interpreter_frame_bcp_offset`: its bytecode, as of the last call; of no meaning in native methods.
const BYTECODE: i64 = -64;
/// The bytecode of `synchronized (…)` (Java Virtual Machine Specification, 6.5).
const MONITOR_ENTER: u8 = 0xc2;
/// Bytecodes that may themselves wait in the VM at any time: what makes objects, and `invokedynamic`, `athrow`, `monitorenter`.
const MAY_WAIT: [u8; 7] = [0xba, 0xbb, 0xbc, 0xbd, 0xbf, MONITOR_ENTER, 0xc5];
/// A frame does not reach further from its frame pointer: locals and the stack of operands have 64 Ki words at most.
const REACH: u64 = 1 << 20;

/// What is behind a frame.
pub(super) enum Behind {
    /// Its caller.
    Caller(Registers),
    /// The frame is that of the VM's entry into Java code: its caller is native code. With the `JavaCallWrapper`, which knows where
    /// Java code had been left.
    Entry { native: Registers, wrapper: u64 },
}

/// What one frame is read with.
pub(super) struct Walk<'a> {
    pub(super) process: &'a Process,
    pub(super) memory: &'a dyn StackMemory,
    pub(super) frames: &'a mut Frames,
    pub(super) stack: &'a mut Vec<FrameId>,
    /// The thread left Java code and has not come back: its innermost frame waits too.
    pub(super) left: bool,
    /// The frame waits to enter a monitor.
    pub(super) entering: bool,
}

/// What is known of the code.
pub(super) struct Code {
    pub(super) cache: CodeCache,
    pub(super) methods: Methods,
    pub(super) interpreter: Interpreter,
    /// `StubRoutines::_call_stub_return_address`: where Java code returns to the VM's entry into it. And where that is kept.
    pub(super) entry: Option<u64>,
    pub(super) entry_at: u64,
    /// `frame::entry_frame_call_wrapper_offset` in bytes.
    pub(super) entry_wrapper: i64,
    /// The caller that was found last: it is no frame that runs now.
    pub(super) last: Option<Registers>,
}

impl Walk<'_> {
    fn word(&self, base: u64, offset: i64) -> Result<u64, MemoryError> {
        self.memory.word(base.wrapping_add_signed(offset))
    }

    fn push(&mut self, method: &Arc<Method>, line: u32) {
        self.stack.extend(self.frames.id(&method.name, &method.file, line));
    }
}

impl Code {
    /// Pushes what is of one frame and says what is behind it; `None` where its code is none of the code cache.
    ///
    /// # Errors
    /// Where memory does not hold what it should.
    pub(super) fn frame(
        &mut self,
        walk: &mut Walk,
        registers: &Registers,
    ) -> Result<Option<Behind>, MemoryError> {
        let Some((header, kind)) = self.cache.blob(walk.process, registers.ip)? else { return Ok(None) };
        let behind = match kind {
            Kind::Interpreter => self.interpreted(walk, registers)?,
            Kind::Compiled => self.compiled(walk, registers, &header)?,
            Kind::Native => {
                let method = self.cache.compiled(&header)?.method();
                let method = self.methods.at(walk.process, method)?;
                let after_call = after_call(walk.process, registers.ip)?;
                let complete = after_call || registers.ip >= header.frame_complete;
                let caller = match complete {
                    true => self.fixed(walk, registers, &header)?,
                    false => self.plain(walk, registers)?,
                };
                walk.push(&method, 0);
                caller
            }
            Kind::Own => {
                if self.is_entry(walk, registers.ip)? {
                    return self.entry(walk, registers).map(Some);
                }
                match header.frame_size {
                    // What is returned to there is what goes on in the heap with the older frames of a virtual thread.
                    0 if walk.left || self.last == Some(*registers) => {
                        return Err(MemoryError::Unlikely("code of the VM that is returned to"));
                    }
                    0 => self.plain(walk, registers)?,
                    _ => self.fixed(walk, registers, &header)?,
                }
            }
        };
        // Stacks grow downwards.
        if behind.sp <= registers.sp {
            return Err(MemoryError::Unlikely("the frame of a caller"));
        }
        self.last = Some(behind);
        Ok(Some(Behind::Caller(behind)))
    }

    /// True where Java code returns to the VM's entry into it.
    fn is_entry(&mut self, walk: &Walk, ip: u64) -> Result<bool, MemoryError> {
        let entry = match self.entry {
            Some(known) => known,
            None => walk.process.u64(self.entry_at)?,
        };
        // 0 until the VM has made it.
        self.entry = Some(entry).filter(|entry| *entry != 0);
        Ok(ip == entry)
    }

    fn entry(&self, walk: &Walk, registers: &Registers) -> Result<Behind, MemoryError> {
        if registers.bp < registers.sp || registers.bp - registers.sp > REACH {
            return Err(MemoryError::Unlikely("the entry into Java code"));
        }
        let [bp, ip] = [walk.word(registers.bp, 0)?, walk.word(registers.bp, 8)?];
        let wrapper = walk.word(registers.bp, self.entry_wrapper)?;
        Ok(Behind::Entry {
            native: Registers { ip, sp: registers.bp.wrapping_add(16), bp, leaf: None },
            wrapper,
        })
    }

    fn interpreted(&mut self, walk: &mut Walk, registers: &Registers) -> Result<Registers, MemoryError> {
        let bp = registers.bp;
        let sender = walk.word(bp, SENDER_SP)?;
        if bp < registers.sp
            || bp - registers.sp > REACH
            || sender < bp.saturating_add(16)
            || sender - bp > REACH
        {
            return Err(MemoryError::Unlikely("a frame of the interpreter"));
        }
        let caller = Registers { ip: walk.word(bp, 8)?, sp: sender, bp: walk.word(bp, 0)?, leaf: None };
        if !self.cache.contains(walk.process, caller.ip) {
            return Err(MemoryError::Unlikely("the caller of an interpreted method"));
        }
        let method = self.methods.at(walk.process, walk.word(bp, METHOD)?)?;
        let line = match method.has_bytecodes() {
            false => 0,
            true => {
                let mut bytecode = walk.word(bp, BYTECODE)?;
                // The interpreter has it point behind the `monitorenter` that it carries out.
                if self.is_behind_enter(walk, &method, bytecode)?
                    && (walk.entering || self.called_vm(walk, registers, bytecode)?)
                {
                    bytecode -= 1;
                    walk.entering = true;
                }
                let bci = method.bci(bytecode).ok_or(MemoryError::Unlikely("a bytecode"))?;
                // While bytecodes run, a register has which; the frame has it while something is called.
                // (`rbcp`, src/hotspot/cpu/x86/register_x86.hpp and assembler_x86.hpp).
                let runs = registers.leaf.and_then(|leaf| method.bci(leaf.r13));
                match (self.waits(walk, registers)?, runs) {
                    (true, _) => method.line(bci),
                    (false, Some(bci)) => method.line(bci),
                    (false, None) => 0,
                }
            }
        };
        walk.push(&method, line);
        Ok(caller)
    }

    /// True where a bytecode of a method is the one behind a `monitorenter`.
    fn is_behind_enter(&self, walk: &Walk, method: &Method, bytecode: u64) -> Result<bool, MemoryError> {
        let before = bytecode.wrapping_sub(1);
        Ok(method.bci(before).is_some() && walk.process.u8(before)? == MONITOR_ENTER)
    }

    /// True where an interpreted method called the VM, and its bytecode is none that has a reason to: the one before it has called.
    fn called_vm(&mut self, walk: &Walk, registers: &Registers, bytecode: u64) -> Result<bool, MemoryError> {
        Ok(registers.leaf.is_none()
            && !MAY_WAIT.contains(&walk.process.u8(bytecode)?)
            && after_call(walk.process, registers.ip)?
            && !self.interpreter.returns_to(walk.process, registers.ip)?)
    }

    /// True where the frame of an interpreted method waits for what it called. Calls of the VM are calls; the bytecodes that
    /// call methods jump, with an address to return to that they store themselves.
    fn waits(&mut self, walk: &Walk, registers: &Registers) -> Result<bool, MemoryError> {
        Ok(walk.left
            || after_call(walk.process, registers.ip)?
            || self.interpreter.returns_to(walk.process, registers.ip)?)
    }

    fn compiled(
        &mut self,
        walk: &mut Walk,
        registers: &Registers,
        header: &Header,
    ) -> Result<Registers, MemoryError> {
        let compiled = self.cache.compiled(header)?;
        let ip = match compiled.original(registers.ip) {
            // Its frame will be made interpreted when it is returned to.
            Some(offset) => walk.word(registers.sp, offset as i64)?,
            None => registers.ip,
        };
        if !(header.code..header.end).contains(&ip) {
            return Err(MemoryError::Unlikely("a frame of compiled code"));
        }
        let site = self.cache.site(walk.process, &mut self.methods, header, ip)?;
        let caller = match site.after_call {
            true => self.fixed(walk, registers, header)?,
            false => {
                let entry = self.cache.compiled(header)?.entry();
                match leaf::place(walk.process, header, entry, ip)? {
                    Place::Whole => self.fixed(walk, registers, header)?,
                    Place::Return { pushed } => self.below(walk, registers, pushed)?,
                    Place::Saved { pushed } => {
                        let mut caller = self.below(walk, registers, pushed)?;
                        caller.bp = walk.word(registers.sp, pushed as i64 - 8)?;
                        caller
                    }
                }
            }
        };
        for (method, line) in &site.frames {
            walk.push(method, *line);
        }
        Ok(caller)
    }

    /// The caller of a frame of a fixed size that is whole: its return address is its last word, the frame pointer the one before.
    fn fixed(
        &mut self,
        walk: &Walk,
        registers: &Registers,
        header: &Header,
    ) -> Result<Registers, MemoryError> {
        let sp = registers.sp.saturating_add(header.frame_size);
        let caller = Registers { ip: walk.word(sp, -8)?, sp, bp: walk.word(sp, -16)?, leaf: None };
        self.within(walk, caller)
    }

    /// The caller where nothing but `pushed` bytes are on the stack above the return address.
    fn below(&mut self, walk: &Walk, registers: &Registers, pushed: u64) -> Result<Registers, MemoryError> {
        let at = registers.sp.saturating_add(pushed);
        let caller =
            Registers { ip: walk.word(at, 0)?, sp: at.saturating_add(8), bp: registers.bp, leaf: None };
        self.within(walk, caller)
    }

    /// The caller of code that has no frame, or one by the frame pointer: whichever leads to where code was called.
    fn plain(&mut self, walk: &Walk, registers: &Registers) -> Result<Registers, MemoryError> {
        let frameless = Registers {
            ip: walk.word(registers.sp, 0)?,
            sp: registers.sp.wrapping_add(8),
            bp: registers.bp,
            leaf: None,
        };
        if self.called(walk, frameless.ip)? {
            return Ok(frameless);
        }
        let bp = registers.bp;
        if (registers.sp..registers.sp.saturating_add(REACH)).contains(&bp) {
            let framed = Registers {
                ip: walk.word(bp, 8)?,
                sp: bp.wrapping_add(16),
                bp: walk.word(bp, 0)?,
                leaf: None,
            };
            if self.called(walk, framed.ip)? {
                return Ok(framed);
            }
        }
        Err(MemoryError::Unlikely("the frame of a piece of the VM's code"))
    }

    /// True where an address is behind a call of Java code.
    fn called(&mut self, walk: &Walk, ip: u64) -> Result<bool, MemoryError> {
        Ok(match self.cache.blob(walk.process, ip)? {
            Some((_, Kind::Compiled)) => after_call(walk.process, ip)?,
            Some((_, Kind::Interpreter)) => self.interpreter.returns_to(walk.process, ip)?,
            Some((_, Kind::Native | Kind::Own)) => self.is_entry(walk, ip)?,
            None => false,
        })
    }

    /// Code of the cache is called by such code only.
    fn within(&mut self, walk: &Walk, caller: Registers) -> Result<Registers, MemoryError> {
        match self.cache.contains(walk.process, caller.ip) {
            true => Ok(caller),
            false => Err(MemoryError::Unlikely("the caller of compiled code")),
        }
    }
}
