//! What unwinding has to know of x86-64: its registers by their numbers in DWARF (System V ABI, AMD64 supplement, figure 3.36),
//! and its call instructions.

use crate::process::Process;
use crate::registers::Registers;

/// The values of registers by their numbers, as far as they are known.
pub(super) type Values = [Option<u64>; 17];

/// `rbp`.
pub(super) const BP: usize = 6;
/// `rsp`.
pub(super) const SP: usize = 7;
/// The return address.
pub(super) const IP: usize = 16;

/// Those that a function gives back to its caller as they were, and the return address.
pub(super) const KEPT: [usize; 8] = [3, BP, SP, 12, 13, 14, 15, IP];

/// What is known of all registers.
pub(super) fn values(registers: Registers) -> Values {
    let mut values = [None; 17];
    values[IP] = Some(registers.ip);
    values[SP] = Some(registers.sp);
    values[BP] = Some(registers.bp).filter(|bp| *bp != 0);
    values
}

/// A call instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Call {
    /// Of the function at this address; through a table of the linker, of the one that it holds now.
    To(u64),
    /// Of one that a register or a table of functions held.
    Unknown,
}

/// The call instruction before an address; `None` where there is none.
pub(super) fn call_before(process: &Process, address: u64) -> Option<Call> {
    // The longest call, `call *disp32(base,index)` with a prefix, has 8 bytes.
    let bytes: [u8; 8] = process.array(address.checked_sub(8)?).ok()?;
    let relative = |at: usize| {
        let word = bytes.get(at..at + 4)?;
        Some(address.wrapping_add_signed(i32::from_le_bytes(word.try_into().ok()?).into()))
    };
    if bytes[3] == 0xe8 {
        return Some(Call::To(beyond_jump(process, relative(4)?)));
    }
    if bytes[2..4] == [0xff, 0x15] {
        return Some(process.u64(relative(4)?).map_or(Call::Unknown, Call::To));
    }
    // `ff /2`: the length follows from the byte behind it.
    let indirect = (2..=7).any(|length| {
        let (opcode, modrm) = (bytes[8 - length], bytes[9 - length]);
        let index = usize::from(modrm & 7 == 4);
        let whole = match modrm >> 6 {
            0 if modrm & 7 == 5 => 6,
            0 if index == 1 && length == 7 => 7,
            0 => 2 + index,
            1 => 3 + index,
            2 => 6 + index,
            _ => 2,
        };
        opcode == 0xff && modrm >> 3 & 7 == 2 && whole == length
    });
    indirect.then_some(Call::Unknown)
}

/// True where an address is in the function that begins at another, as far as its code tells: no other begins between them, which
/// linkers do at a multiple of 16 with a return and padding before.
pub(super) fn is_one_function(process: &Process, function: u64, address: u64) -> bool {
    let mut room = [0; 1024];
    let Some(code) = address.checked_sub(function).and_then(|size| room.get_mut(..size as usize)) else {
        return false;
    };
    if process.read(function, code).is_err() {
        return false;
    }
    let is_end = |(at, pair): (usize, &[u8])| {
        let next = function.wrapping_add(at as u64 + 1);
        // `ret`, and `nop` of any length or `int3`.
        pair[0] == 0xc3 && (next.is_multiple_of(16) || matches!(pair[1], 0x90 | 0xcc | 0x66 | 0x2e | 0x0f))
    };
    !code.windows(2).enumerate().any(is_end)
}

/// The function that a stub of the linker jumps to, `[endbr64] [bnd] jmp *disp32(%rip)`, or one that does nothing but jump, `jmp
/// rel32`; of other code the address itself.
fn beyond_jump(process: &Process, address: u64) -> u64 {
    let Ok(bytes) = process.array::<16>(address) else { return address };
    let mut at = 0;
    if bytes.starts_with(&[0xf3, 0x0f, 0x1e, 0xfa]) {
        at += 4;
    }
    if bytes[at] == 0xf2 {
        at += 1;
    }
    let target = |at: usize| {
        let distance = i32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        address.wrapping_add(at as u64 + 4).wrapping_add_signed(distance.into())
    };
    if bytes[at] == 0xe9 {
        return target(at + 1);
    }
    if bytes[at..at + 2] != [0xff, 0x25] {
        return address;
    }
    process.u64(target(at + 2)).unwrap_or(address)
}
