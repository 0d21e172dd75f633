//! A thread that runs compiled code right now may be where the frame of the method is not whole yet, or no more. The code
//! itself tells: C1 and C2 set frames up and take them down by a handful of instructions (`cpu/x86/macroAssembler_x86.cpp`
//! `verified_entry`, `c1_MacroAssembler_x86.cpp` `build_frame`, `x86_64.ad` `MachEpilogNode`).

use super::header::Header;
use crate::process::{MemoryError, Process};

/// What of a frame there is at an instruction. `pushed` is how far from the stack pointer the return address is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    /// All of it.
    Whole,
    /// Only the return address: the frame pointer is still, or again, the caller's.
    Return { pushed: u64 },
    /// The return address, and below it the frame pointer of the caller.
    Saved { pushed: u64 },
}

/// Bytes of the longest end of a method that is told, and of its beginning.
const END: u64 = 20;
const BEGIN: u64 = 96;

/// What of the frame of a compiled method there is where it runs. `entry`: that of the method; `None` where it was entered in a loop.
///
/// # Errors
/// Where the code does not tell.
pub(super) fn place(
    process: &Process,
    header: &Header,
    entry: Option<u64>,
    ip: u64,
) -> Result<Place, MemoryError> {
    let unlikely = MemoryError::Unlikely("the beginning of a compiled method");
    if ip >= header.frame_complete {
        let mut code = [0; END as usize];
        let code = &mut code[..END.min(header.end.saturating_sub(ip)) as usize];
        process.read(ip, code)?;
        return Ok(ending(code));
    }
    let entry = entry.ok_or(MemoryError::Unlikely("the beginning of a compiled method"))?;
    match ip.checked_sub(entry) {
        // The check of the receiver's class has no frame.
        None => Ok(Place::Return { pushed: 0 }),
        Some(offset) if offset <= BEGIN => {
            let mut code = [0; BEGIN as usize];
            let code = &mut code[..offset as usize];
            process.read(entry, code)?;
            beginning(code, header.frame_size).ok_or(unlikely)
        }
        Some(_) => Err(unlikely),
    }
}

/// By the code from an instruction on.
fn ending(code: &[u8]) -> Place {
    match code {
        [0x5d, rest @ ..] if returns(rest) => Place::Saved { pushed: 8 },
        code if returns(code) => Place::Return { pushed: 0 },
        _ => Place::Whole,
    }
}

/// True where code returns, after at most a check for a safepoint.
fn returns(code: &[u8]) -> bool {
    match code {
        // ret
        [0xc3, ..]
        // ja to the slow path; ret
        | [0x0f, 0x87, _, _, _, _, 0xc3, ..]
        // cmp rsp, [r15 + offset]; ja; ret (from JDK 16 on)
        | [0x49, 0x3b, 0x67, _, 0x0f, 0x87, _, _, _, _, 0xc3, ..]
        | [0x49, 0x3b, 0xa7, _, _, _, _, 0x0f, 0x87, _, _, _, _, 0xc3, ..]
        // mov r10, [r15 + offset]; test [r10], eax; ret (before)
        | [0x41, 0x85, 0x02, 0xc3, ..]
        | [0x4d, 0x8b, 0x57, _, 0x41, 0x85, 0x02, 0xc3, ..]
        | [0x4d, 0x8b, 0x97, _, _, _, _, 0x41, 0x85, 0x02, 0xc3, ..] => true,
        _ => false,
    }
}

/// By the code from the entry up to an instruction; `None` where that is none that sets a frame up.
fn beginning(mut code: &[u8], frame_size: u64) -> Option<Place> {
    let mut place = Place::Return { pushed: 0 };
    while !code.is_empty() {
        let length = match *code {
            // mov [rsp - offset], eax: touches the pages that the stack may grow into.
            [0x89, 0x84, 0x24, ..] => 7,
            // nop
            [0x90, ..] => 1,
            [0x66, 0x90, ..] | [0x66, 0x66, ..] => 1 + usize::from(code[1] == 0x90),
            [0x0f, 0x1f, 0x00, ..] => 3,
            [0x0f, 0x1f, 0x40, ..] => 4,
            [0x0f, 0x1f, 0x44, ..] => 5,
            [0x0f, 0x1f, 0x80, ..] => 7,
            [0x0f, 0x1f, 0x84, ..] => 8,
            [0x66, 0x0f, 0x1f, ..] => 1,
            // push rbp
            [0x55, ..] if place == (Place::Return { pushed: 0 }) => {
                place = Place::Saved { pushed: 8 };
                1
            }
            // mov rbp, rsp
            [0x48, 0x89, 0xe5, ..] | [0x48, 0x8b, 0xec, ..] => 3,
            // sub rsp, size
            [0x48, how @ (0x83 | 0x81), 0xec, ..] => {
                place = match place {
                    Place::Return { pushed: 0 } => Place::Return { pushed: frame_size.checked_sub(8)? },
                    Place::Saved { pushed: 8 } => Place::Whole,
                    Place::Whole | Place::Return { .. } | Place::Saved { .. } => return None,
                };
                if how == 0x83 { 4 } else { 7 }
            }
            // mov [rsp + offset], rbp
            [0x48, 0x89, how @ (0x6c | 0xac), 0x24, ..] => {
                place = Place::Whole;
                if how == 0x6c { 5 } else { 8 }
            }
            _ => return (place == Place::Whole).then_some(place),
        };
        code = code.get(length..)?;
    }
    Some(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beginnings_are_told() {
        // mov [rsp-0x14000], eax; push rbp; sub rsp, 0x30; mov [rsp+8], rsi
        let pushes =
            [0x89, 0x84, 0x24, 0, 0xc0, 0xfe, 0xff, 0x55, 0x48, 0x83, 0xec, 0x30, 0x48, 0x89, 0x74, 0x24, 8];
        let at = |end: usize| beginning(&pushes[..end], 0x40);
        assert_eq!(at(0), Some(Place::Return { pushed: 0 }));
        assert_eq!(at(7), Some(Place::Return { pushed: 0 }));
        assert_eq!(at(8), Some(Place::Saved { pushed: 8 }));
        assert_eq!([at(12), at(17)], [Some(Place::Whole); 2]);
        assert_eq!(at(5), None);
        // sub rsp, 0x18; mov [rsp+0x10], rbp
        let moves = [0x48, 0x81, 0xec, 0x18, 0, 0, 0, 0x48, 0x89, 0x6c, 0x24, 0x10];
        assert_eq!(beginning(&moves[..7], 0x20), Some(Place::Return { pushed: 0x18 }));
        assert_eq!(beginning(&moves, 0x20), Some(Place::Whole));
        // Something before the frame that is not known.
        assert_eq!(beginning(&[0xcc], 0x20), None);
    }

    #[test]
    fn endings_are_told() {
        assert_eq!(ending(&[0x5d, 0xc3]), Place::Saved { pushed: 8 });
        assert_eq!(ending(&[0xc3]), Place::Return { pushed: 0 });
        let poll = [0x5d, 0x49, 0x3b, 0xa7, 0, 4, 0, 0, 0x0f, 0x87, 0, 0, 0, 0, 0xc3];
        assert_eq!(ending(&poll), Place::Saved { pushed: 8 });
        assert_eq!([ending(&poll[1..]), ending(&poll[8..])], [Place::Return { pushed: 0 }; 2]);
        assert_eq!(
            [ending(&[0x5d, 0x90]), ending(&[0x48, 0x83, 0xc4, 0x10]), ending(&[])],
            [Place::Whole; 3]
        );
    }
}
