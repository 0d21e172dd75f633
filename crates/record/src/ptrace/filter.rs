//! A seccomp filter that stops a program at the wanted calls only.

use super::sys::{AUDIT_ARCH_X86_64, X32_BIT};
use libc::sock_filter;

/// Offsets in `struct seccomp_data` (seccomp(2)).
const OFFSET_NR: u32 = 0;
const OFFSET_ARCH: u32 = 4;

/// The program: `SECCOMP_RET_TRACE` for the wanted numbers of the machine's own table and for every call of a 32-bit
/// program, whose numbers are another table's; the rest runs free. `None` where the machine is not x86-64.
pub(super) fn program(wanted: &[u16]) -> Option<Vec<sock_filter>> {
    if !cfg!(target_arch = "x86_64") {
        return None;
    }
    let load = |offset| statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, offset);
    let answer = |value| statement(libc::BPF_RET | libc::BPF_K, value);
    let mut program = vec![
        load(OFFSET_ARCH),
        jump(libc::BPF_JEQ, AUDIT_ARCH_X86_64, 1, 0),
        answer(libc::SECCOMP_RET_TRACE),
        load(OFFSET_NR),
        jump(libc::BPF_JGE, X32_BIT as u32, 0, 1),
        answer(libc::SECCOMP_RET_TRACE),
    ];
    for nr in wanted {
        program.push(jump(libc::BPF_JEQ, (*nr).into(), 0, 1));
        program.push(answer(libc::SECCOMP_RET_TRACE));
    }
    program.push(answer(libc::SECCOMP_RET_ALLOW));
    (program.len() <= libc::BPF_MAXINSNS as usize).then_some(program)
}

fn statement(code: u32, k: u32) -> sock_filter {
    sock_filter { code: code as u16, jt: 0, jf: 0, k }
}

fn jump(test: u32, k: u32, yes: u8, no: u8) -> sock_filter {
    sock_filter { code: (libc::BPF_JMP | test | libc::BPF_K) as u16, jt: yes, jf: no, k }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_takes_two_instructions() {
        let Some(program) = program(&[0, 257]) else { return };
        assert_eq!(program.len(), 7 + 2 * 2);
        assert_eq!((program[8].k, program[8].jt, program[8].jf), (257, 0, 1));
        assert!(super::program(&vec![1; 4096]).is_none(), "more than the kernel takes");
    }
}
