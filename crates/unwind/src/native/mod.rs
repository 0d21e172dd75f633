//! Native stacks without frame pointers: frame by frame, by the `.eh_frame` of the files that a process has loaded.
//!
//! Rows of `.eh_frame` are evaluated with gimli and kept by file and address, for all processes that have loaded it. Where code has
//! no unwind information, frame pointers are followed as long as they are plausible. Both are a stranger's: what is done
//! for one row, one expression and one stack is bounded, and a caller that is no code ends the stack.

mod load;
mod memory;
mod unwind_info;
mod x86_64;

use crate::process::{MemoryError, Process};
use crate::registers::{Registers, StackMemory};
pub use load::{Loader, Module, Modules};
pub use memory::{CopiedStack, LiveStack};
use unwind_info::{Context, Place, Rule};
use x86_64 as arch;

/// Asks the unwind information of a file, whatever that holds, for the callers at some of its addresses, with registers and a stack of any
/// content: for fuzzing. Tells how many of the addresses have a rule.
pub fn ask_any(file: std::fs::File, addresses: &[u64], stack: &[u8]) -> usize {
    const START: u64 = 0x7000_0000;
    let Some(info) = Loader::new(1 << 26).of_file(file) else { return 0 };
    let memory = CopiedStack::new(START, stack);
    let mut context = Context::default();
    let ip = addresses.first().copied().unwrap_or(0);
    let values = arch::values(Registers { ip, sp: START, bp: START, leaf: None });
    let rules = addresses.iter().filter_map(|address| info.rule(*address, &mut context));
    rules
        .map(|rule| {
            let places = std::iter::once(rule.cfa).chain(rule.saved);
            places.for_each(|place| _ = info.evaluate(place, Some(START), &values, &memory));
        })
        .count()
}

/// Where unwinding a thread has come to.
#[derive(Clone, Copy, Debug)]
pub struct Cursor {
    values: arch::Values,
    /// The instruction is the next one, and not one behind a call.
    exact: bool,
}

impl Cursor {
    /// Begins at the registers of a thread. A frame pointer of 0 is not known.
    pub fn new(registers: Registers) -> Cursor {
        Cursor { values: arch::values(registers), exact: true }
    }

    /// Goes on from the registers of a caller that another unwinder found.
    pub fn caller(&self, registers: Registers) -> Cursor {
        Cursor { values: arch::values(registers), exact: false }
    }

    /// The registers there, with 0 for a frame pointer that is not known.
    pub fn registers(&self) -> Registers {
        let value = |register: usize| self.values[register].unwrap_or(0);
        Registers { ip: value(arch::IP), sp: value(arch::SP), bp: value(arch::BP), leaf: None }
    }

    /// An address inside of the instruction that runs, or of the call.
    pub fn inside(&self) -> u64 {
        self.registers().ip.saturating_sub(u64::from(!self.exact))
    }
}

/// What is around a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NativeStep {
    /// The cursor is at the caller.
    Caller,
    /// That frame was the thread's first.
    End,
    /// Nothing tells where the caller is.
    Unknown,
    /// The cursor is in no code that is known of the process: its modules are to be read again, or memory is damaged.
    NoCode,
}

/// Unwinds native frames of any process. One is enough for all.
pub struct NativeUnwinder {
    rules: Vec<Option<(u32, u32, Rule)>>,
    context: Context,
}

impl Default for NativeUnwinder {
    fn default() -> NativeUnwinder {
        NativeUnwinder { rules: vec![None; NativeUnwinder::RULES], context: Context::default() }
    }
}

impl NativeUnwinder {
    /// Addresses whose rules are kept, of all files.
    const RULES: usize = 4096;
    /// Bytes between a frame and its frame pointer, at most.
    const FRAME: u64 = 1 << 20;
    /// Words of the stack that are looked through for the return address of a function without unwind information: those of the C
    /// library musl wait in small frames.
    const UNTOLD: u64 = 128;
    /// Words of the stack that are looked through for a frame whose frame pointer is not known.
    const SEARCHED: u64 = 2048;

    /// Goes on to the caller.
    ///
    /// # Errors
    /// Where the stack cannot be read.
    pub fn step(
        &mut self,
        process: &Process,
        modules: &Modules,
        memory: &dyn StackMemory,
        cursor: &mut Cursor,
    ) -> Result<NativeStep, MemoryError> {
        let inside = cursor.inside();
        let Some(module) = modules.find(inside) else { return Ok(NativeStep::NoCode) };
        let Some(rule) = self.rule(module, inside) else {
            return frame_pointer(process, modules, memory, cursor);
        };
        if rule.is_outermost() {
            return Ok(NativeStep::End);
        }
        let sp = cursor.registers().sp;
        let needs_bp = rule.cfa_register() == Some(arch::BP);
        if needs_bp && cursor.values[arch::BP].is_none() {
            let function = rule.function.wrapping_add(module.bias);
            match search(process, modules, memory, sp, function) {
                Some(bp) => cursor.values[arch::BP] = Some(bp),
                None => return Ok(NativeStep::Unknown),
            }
        }
        let info = module.info.as_deref();
        let expression = |place: Place, cfa: Option<u64>| {
            info.and_then(|info| info.evaluate(place, cfa, &cursor.values, memory))
        };
        let cfa = match rule.cfa {
            Place::Offset(register, offset) => {
                cursor.values[usize::from(register)].map(|base| base.wrapping_add_signed(offset.into()))
            }
            other => expression(other, None),
        };
        let Some(cfa) = cfa else { return Ok(NativeStep::Unknown) };
        let mut values = cursor.values;
        values[arch::SP] = Some(cfa);
        for (register, saved) in arch::KEPT.iter().zip(rule.saved) {
            values[*register] = match saved {
                Place::Same if *register == arch::SP => Some(cfa),
                Place::Same => cursor.values[*register],
                Place::Undefined => None,
                Place::At(offset) => {
                    let word = memory.word(cfa.wrapping_add_signed(offset.into()));
                    match *register {
                        arch::IP => Some(word?),
                        _ => word.ok(),
                    }
                }
                Place::Value(offset) => Some(cfa.wrapping_add_signed(offset.into())),
                Place::Offset(from, offset) => {
                    cursor.values[usize::from(from)].map(|base| base.wrapping_add_signed(offset.into()))
                }
                other => expression(other, Some(cfa)),
            };
        }
        let next = Cursor { values, exact: rule.signal };
        let to = next.registers();
        // Each call has left at least its return address; a handler of signals may have a stack of its own.
        if !rule.signal && to.sp <= sp {
            return Err(MemoryError::Unlikely("a frame of the stack"));
        }
        arrive(modules, cursor, next)
    }

    /// The rule of an address.
    fn rule(&mut self, module: &Module, address: u64) -> Option<Rule> {
        let info = module.info.as_deref()?;
        let within = address.wrapping_sub(module.bias);
        let short = u32::try_from(within.checked_sub(info.base())?).ok()?;
        let slot = (short ^ info.id().wrapping_mul(0x9e37_79b1)) as usize % NativeUnwinder::RULES;
        if let Some((id, known, rule)) = self.rules[slot]
            && (id, known) == (info.id(), short)
        {
            return Some(rule);
        }
        let rule = info.rule(within, &mut self.context)?;
        self.rules[slot] = Some((info.id(), short, rule));
        Some(rule)
    }
}

/// True where an address is behind a call instruction, as return addresses are.
pub(crate) fn is_behind_call(process: &Process, address: u64) -> bool {
    arch::call_before(process, address).is_some()
}

/// Goes on to a caller.
fn arrive(modules: &Modules, cursor: &mut Cursor, next: Cursor) -> Result<NativeStep, MemoryError> {
    let ip = next.registers().ip;
    if ip == 0 {
        return Ok(NativeStep::End);
    }
    *cursor = next;
    Ok(if modules.find(next.inside()).is_some() { NativeStep::Caller } else { NativeStep::NoCode })
}

/// Goes on by the frame pointer: the caller's, and the return address above it.
fn frame_pointer(
    process: &Process,
    modules: &Modules,
    memory: &dyn StackMemory,
    cursor: &mut Cursor,
) -> Result<NativeStep, MemoryError> {
    let Registers { sp, bp, .. } = cursor.registers();
    // Before it sets up its frame, and where it has none, a function's return address is on top.
    if cursor.exact && called_from(process, modules, memory, cursor, 1) {
        return Ok(NativeStep::Caller);
    }
    if bp < sp || bp % 8 != 0 || bp - sp > NativeUnwinder::FRAME {
        return Ok(match called_from(process, modules, memory, cursor, NativeUnwinder::UNTOLD) {
            true => NativeStep::Caller,
            false if cursor.values[arch::BP] == Some(0) => NativeStep::End,
            false => NativeStep::Unknown,
        });
    }
    let (ip, above) = (memory.word(bp.saturating_add(8))?, memory.word(bp)?);
    if ip == 0 {
        return Ok(NativeStep::End);
    }
    let Some(module) = modules.find(ip.wrapping_sub(1)) else { return Ok(NativeStep::Unknown) };
    // Interpreters that make their own code return to where they did not call from.
    if module.info.is_some() && arch::call_before(process, ip).is_none() {
        return Ok(NativeStep::Unknown);
    }
    *cursor = cursor.caller(Registers { ip, sp: bp.saturating_add(16), bp: above, leaf: None });
    // The first frame of a stack has none above it; that is known then.
    cursor.values[arch::BP] = Some(above);
    Ok(NativeStep::Caller)
}

/// Goes on to the caller if the first of so many words of the stack that is behind a call is behind one of this very function.
fn called_from(
    process: &Process,
    modules: &Modules,
    memory: &dyn StackMemory,
    cursor: &mut Cursor,
    words: u64,
) -> bool {
    let (inside, sp) = (cursor.inside(), cursor.registers().sp);
    // Code made at run time jumps as it likes.
    if modules.find(inside).is_none_or(|module| !module.is_file) {
        return false;
    }
    for at in (0..words).map_while(|nth| sp.checked_add(nth * 8)) {
        let Ok(ip) = memory.word(at) else { return false };
        if modules.find(ip.wrapping_sub(1)).is_none() {
            continue;
        }
        match arch::call_before(process, ip) {
            None => {}
            Some(arch::Call::To(function)) if arch::is_one_function(process, function, inside) => {
                let bp = cursor.values[arch::BP];
                *cursor = cursor.caller(Registers { ip, sp: at.saturating_add(8), bp: 0, leaf: None });
                cursor.values[arch::BP] = bp.filter(|_| words == 1);
                return true;
            }
            // What a call before this one left, or of a function that jumped here.
            Some(_) => return false,
        }
    }
    false
}

/// The frame pointer of a function that has set it up as usual, where its value is not known: of a blocked thread only the
/// stack is. Its return address is behind a call of the function.
fn search(
    process: &Process,
    modules: &Modules,
    memory: &dyn StackMemory,
    sp: u64,
    function: u64,
) -> Option<u64> {
    let mut likely = None;
    for nth in 0..NativeUnwinder::SEARCHED {
        let bp = sp.checked_add(nth * 8)?;
        let Ok(ip) = memory.word(bp.checked_add(8)?) else { break };
        if modules.find(ip.wrapping_sub(1)).is_none() {
            continue;
        }
        match arch::call_before(process, ip) {
            Some(arch::Call::To(target)) if target == function => return Some(bp),
            // Through a register or a table of functions: any function may have been called.
            Some(arch::Call::Unknown) if likely.is_none() => {
                let above = memory.word(bp).unwrap_or(0);
                if above > bp && above - bp < NativeUnwinder::FRAME && above % 8 == 0 {
                    likely = Some(bp);
                }
            }
            _ => {}
        }
    }
    likely
}
