//! The unwind information of one file of code, whatever processes have loaded it: the rule that leads from a frame at an
//! address to its caller (DWARF 5, 6.4, and the Linux Standard Base on `.eh_frame`).

use super::arch;
use crate::process::MemoryError;
use crate::registers::StackMemory;
use gimli::{BaseAddresses, CfaRule, EhFrame, Encoding, EndianSlice, LittleEndian, RegisterRule};
use gimli::{Evaluation, EvaluationResult, Location, Reader, UnwindContext, UnwindExpression};
use gimli::{UnwindSection, Value};

/// Where a value of the caller is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    /// In the same register.
    Same,
    /// Nowhere.
    Undefined,
    /// In the word at so many bytes from the frame's address.
    At(i32),
    /// It is the frame's address and so much.
    Value(i32),
    /// It is what a register holds and so much.
    Offset(u8, i32),
    /// In the word whose address an expression of the section gives.
    AtExpression(u32, u16),
    /// An expression of the section gives it: where that begins, and its bytes.
    Expression(u32, u16),
}

/// The way from a frame to its caller.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rule {
    /// Where the function begins, as the file counts addresses.
    pub(super) function: u64,
    /// The frame's address: the top of the caller's stack.
    pub(super) cfa: Place,
    /// The values of [`arch::KEPT`].
    pub(super) saved: [Place; arch::KEPT.len()],
    /// The kernel made this frame for a handler of a signal: what it interrupted did not call.
    pub(super) signal: bool,
}

impl Rule {
    /// True where there is no caller.
    pub(super) fn is_outermost(&self) -> bool {
        let ip = arch::KEPT.iter().position(|register| *register == arch::IP);
        ip.is_none_or(|at| matches!(self.saved[at], Place::Undefined | Place::Same))
    }

    /// The register that the frame's address counts from.
    pub(super) fn cfa_register(&self) -> Option<usize> {
        match self.cfa {
            Place::Offset(register, _) => Some(register.into()),
            _ => None,
        }
    }
}

type Bytes<'a> = EndianSlice<'a, LittleEndian>;

/// What evaluating rows needs room for.
#[derive(Default)]
pub(super) struct Context(Box<UnwindContext<usize>>);

/// The unwind information of one file.
pub struct UnwindInfo {
    id: u32,
    /// Addresses in `functions` count from here.
    base: u64,
    /// First address of a function, and where its entry begins in the section; by address.
    functions: Box<[(u32, u32)]>,
    eh_frame: Box<[u8]>,
    eh_frame_address: u64,
}

impl UnwindInfo {
    /// Bytes of the entry of one function, at most: larger ones are not evaluated. The largest of node 20, OpenJDK 17 and rustc has 11596.
    const ENTRY: usize = 1 << 15;
    /// Steps of an expression.
    const STEPS: u32 = 100;

    /// Takes a section `.eh_frame` and the table of it in `.eh_frame_hdr`; where that is of another form than the one linkers
    /// write, or none, the section is gone through.
    pub(super) fn new(
        id: u32,
        base: u64,
        eh_frame: Box<[u8]>,
        eh_frame_address: u64,
        table: Option<(u64, &[u8])>,
    ) -> UnwindInfo {
        let mut info = UnwindInfo { id, base, functions: Box::default(), eh_frame, eh_frame_address };
        let functions = table.and_then(|(address, bytes)| info.read_table(address, bytes));
        let mut functions = functions.unwrap_or_else(|| info.read_entries());
        functions.sort_unstable();
        info.functions = functions.into();
        info
    }

    /// Its number among the files that were read.
    pub(super) fn id(&self) -> u32 {
        self.id
    }

    /// The lowest address of the file.
    pub(super) fn base(&self) -> u64 {
        self.base
    }

    /// Bytes that it takes.
    pub(super) fn size(&self) -> usize {
        self.eh_frame.len() + self.functions.len() * 8
    }

    fn section(&self) -> (EhFrame<Bytes<'_>>, BaseAddresses) {
        let mut section = EhFrame::new(&self.eh_frame, LittleEndian);
        section.set_address_size(8);
        (section, BaseAddresses::default().set_eh_frame(self.eh_frame_address))
    }

    /// The sorted table of `.eh_frame_hdr`.
    fn read_table(&self, address: u64, bytes: &[u8]) -> Option<Vec<(u32, u32)>> {
        // Version 1; the address of the section relative to here, a count of 4 bytes, pairs relative to the table.
        let head = bytes.first_chunk::<12>()?;
        if head[..4] != [1, 0x1b, 0x03, 0x3b] {
            return None;
        }
        let count = u32::from_le_bytes([head[8], head[9], head[10], head[11]]) as usize;
        let pairs = bytes.get(12..12 + count.checked_mul(8)?)?.chunks_exact(8);
        let far = |bytes: &[u8]| {
            let distance = i32::from_le_bytes(bytes.try_into().ok()?);
            Some(address.wrapping_add_signed(distance.into()))
        };
        let one = |pair: &[u8]| {
            let function = far(&pair[..4])?.checked_sub(self.base)?;
            let entry = far(&pair[4..])?.checked_sub(self.eh_frame_address)?;
            Some((u32::try_from(function).ok()?, u32::try_from(entry).ok()?))
        };
        Some(pairs.filter_map(one).collect())
    }

    /// All entries of the section, up to one that is damaged.
    fn read_entries(&self) -> Vec<(u32, u32)> {
        let (section, bases) = self.section();
        let mut entries = section.entries(&bases);
        let mut found = Vec::new();
        while let Ok(Some(entry)) = entries.next() {
            let gimli::CieOrFde::Fde(partial) = entry else { continue };
            let Ok(entry) = partial.parse(EhFrame::cie_from_offset) else { continue };
            let function = entry.initial_address().checked_sub(self.base);
            if let Some(Ok(function)) = function.map(u32::try_from)
                && let Ok(offset) = u32::try_from(entry.offset())
            {
                found.push((function, offset));
            }
        }
        found
    }

    /// The rule at an address of the file; `None` where the section has none.
    pub(super) fn rule(&self, address: u64, context: &mut Context) -> Option<Rule> {
        let short = u32::try_from(address.checked_sub(self.base)?).ok()?;
        let behind = self.functions.partition_point(|(function, _)| *function <= short);
        let (_, offset) = self.functions.get(behind.checked_sub(1)?)?;
        let (section, bases) = self.section();
        let entry =
            section.fde_from_offset(&bases, (*offset as usize).into(), EhFrame::cie_from_offset).ok()?;
        let size = entry.entry_len().saturating_add(entry.cie().entry_len());
        if !entry.contains(address) || size > UnwindInfo::ENTRY {
            return None;
        }
        let row = entry.unwind_info_for_address(&section, &bases, &mut context.0, address).ok()?;
        let cfa = match row.cfa() {
            CfaRule::RegisterAndOffset { register, offset } => {
                let register = u8::try_from(register.0).ok().filter(|r| usize::from(*r) <= arch::IP)?;
                Place::Offset(register, i32::try_from(*offset).ok()?)
            }
            CfaRule::Expression(expression) => expression_at(expression, Place::Expression)?,
        };
        let place = |register: usize| {
            Some(match row.register(gimli::Register(register as u16)) {
                None | Some(RegisterRule::SameValue) => Place::Same,
                Some(RegisterRule::Offset(offset)) => Place::At(i32::try_from(offset).ok()?),
                Some(RegisterRule::ValOffset(offset)) => Place::Value(i32::try_from(offset).ok()?),
                Some(RegisterRule::Register(from)) if usize::from(from.0) <= arch::IP => {
                    Place::Offset(from.0 as u8, 0)
                }
                Some(RegisterRule::Expression(expression)) => {
                    expression_at(&expression, Place::AtExpression)?
                }
                Some(RegisterRule::ValExpression(expression)) => {
                    expression_at(&expression, Place::Expression)?
                }
                Some(_) => Place::Undefined,
            })
        };
        let mut saved = [Place::Undefined; arch::KEPT.len()];
        for (saved, register) in saved.iter_mut().zip(arch::KEPT) {
            *saved = place(register)?;
        }
        Some(Rule { function: entry.initial_address(), cfa, saved, signal: entry.is_signal_trampoline() })
    }

    /// What an expression gives; it begins with the frame's address where there is one already.
    pub(super) fn evaluate(
        &self,
        place: Place,
        cfa: Option<u64>,
        values: &arch::Values,
        memory: &dyn StackMemory,
    ) -> Option<u64> {
        let (offset, length, is_address) = match place {
            Place::Expression(offset, length) => (offset, length, false),
            Place::AtExpression(offset, length) => (offset, length, true),
            _ => return None,
        };
        let bytes = self.eh_frame.get(offset as usize..)?.get(..usize::from(length))?;
        let encoding = Encoding { address_size: 8, format: gimli::Format::Dwarf32, version: 4 };
        let mut evaluation = Evaluation::new(EndianSlice::new(bytes, LittleEndian), encoding);
        evaluation.set_max_iterations(UnwindInfo::STEPS);
        if let Some(cfa) = cfa {
            evaluation.set_initial_value(cfa);
        }
        let value = result(&mut evaluation, values, memory).ok()??;
        match is_address {
            true => memory.word(value).ok(),
            false => Some(value),
        }
    }
}

/// Runs an expression. What it asks for is counted too: no more than one question a step.
fn result<R: Reader<Offset = usize>>(
    evaluation: &mut Evaluation<R>,
    values: &arch::Values,
    memory: &dyn StackMemory,
) -> Result<Option<u64>, MemoryError> {
    let wrong = |_| MemoryError::Unlikely("an expression of the unwind information");
    let mut state = evaluation.evaluate().map_err(wrong)?;
    for _ in 0..UnwindInfo::STEPS {
        state = match state {
            EvaluationResult::Complete => {
                let Some(piece) = evaluation.as_result().last() else { return Ok(None) };
                return Ok(match piece.location {
                    Location::Address { address } => Some(address),
                    _ => None,
                });
            }
            EvaluationResult::RequiresRegister { register, .. } => {
                let Some(value) = values.get(usize::from(register.0)).copied().flatten() else {
                    return Ok(None);
                };
                evaluation.resume_with_register(Value::Generic(value)).map_err(wrong)?
            }
            EvaluationResult::RequiresMemory { address, size: 8, .. } => {
                evaluation.resume_with_memory(Value::Generic(memory.word(address)?)).map_err(wrong)?
            }
            _ => return Ok(None),
        };
    }
    Ok(None)
}

fn expression_at(at: &UnwindExpression<usize>, place: fn(u32, u16) -> Place) -> Option<Place> {
    Some(place(u32::try_from(at.offset).ok()?, u16::try_from(at.length).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::native::CopiedStack;
    use crate::{Image, Process};
    use std::time::{Duration, Instant};

    /// The section of the C library that we run with: its address, its bytes, and the table of it.
    fn ours() -> (u64, Vec<u8>, (u64, Vec<u8>)) {
        let process = Process::open(std::process::id()).expect("our own");
        let mapping = process.mapping(libc::getpid as *const () as u64).expect("mapped");
        let image = Image::open(&process, mapping).expect("read");
        let section = |name| image.section(name).expect("read").expect("there");
        let ((address, bytes), (table_at, table)) = (section(".eh_frame"), section(".eh_frame_hdr"));
        (address.wrapping_sub(image.bias()), bytes, (table_at.wrapping_sub(image.bias()), table))
    }

    #[test]
    fn a_table_and_the_entries_tell_the_same() {
        let (address, bytes, (table_at, table)) = ours();
        let of = |table| UnwindInfo::new(1, 0, bytes.clone().into(), address, table);
        let (with, without) = (of(Some((table_at, &*table))), of(None));
        assert!(with.functions.len() > 1000);
        assert_eq!(with.functions, without.functions);
        let (mut context, mut rules) = (Context::default(), 0);
        for (function, _) in &with.functions {
            for at in [0, 1, 7] {
                rules += usize::from(with.rule(u64::from(*function) + at, &mut context).is_some());
            }
        }
        assert!(rules > with.functions.len() * 2, "{rules} of {}", with.functions.len());
    }

    #[test]
    fn a_damaged_section_ends_soon() {
        let (address, bytes, (table_at, table)) = ours();
        // The same numbers each time: a linear congruence, Knuth's.
        let mut state = 7_u64;
        let mut random = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state >> 33
        };
        let begin = Instant::now();
        let stack = [0x41; 512];
        for round in 0..30 {
            let (mut bytes, mut table) = (bytes.clone(), table.clone());
            for _ in 0..bytes.len() / (20 + round * 100) {
                let at = random() as usize % bytes.len();
                bytes[at] = random() as u8;
            }
            for _ in 0..random() as usize % 40 {
                let at = random() as usize % table.len();
                table[at] = random() as u8;
            }
            let table = (round % 3 > 0).then_some((table_at, &*table));
            let info = UnwindInfo::new(1, 0, bytes.into(), address, table);
            let mut context = Context::default();
            for _ in 0..2000 {
                let count = info.functions.len().max(1);
                let Some((function, _)) = info.functions.get(random() as usize % count) else { break };
                let Some(rule) = info.rule(u64::from(*function) + random() % 200, &mut context) else {
                    continue;
                };
                let mut values = [Some(u64::MAX - random() % 64); arch::IP + 1];
                values[arch::SP] = Some(0x1000);
                let memory = CopiedStack::new(0x1000, &stack);
                for place in rule.saved.into_iter().chain([rule.cfa]) {
                    for cfa in [None, Some(0), Some(u64::MAX)] {
                        info.evaluate(place, cfa, &values, &memory);
                    }
                }
            }
        }
        assert!(begin.elapsed() < Duration::from_secs(20), "{:?}", begin.elapsed());
    }

    #[test]
    fn an_expression_without_end_is_given_up() {
        // DW_OP_skip by -3: to itself.
        let info = UnwindInfo::new(1, 0, Box::new([0x2f, 0xfd, 0xff]), 0, None);
        let memory = CopiedStack::new(0, &[]);
        assert_eq!(info.evaluate(Place::Expression(0, 3), None, &[None; arch::IP + 1], &memory), None);
        // One that asks for a register forever: DW_OP_breg7 0, DW_OP_drop, DW_OP_skip by -6.
        let info = UnwindInfo::new(1, 0, Box::new([0x77, 0x00, 0x13, 0x2f, 0xfa, 0xff]), 0, None);
        assert_eq!(info.evaluate(Place::Expression(0, 6), None, &[Some(8); arch::IP + 1], &memory), None);
    }
}
