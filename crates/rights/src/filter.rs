//! A filter of seccomp as the kernel takes it: classic BPF over `struct seccomp_data` (seccomp(2)).

use seccompiler::sock_filter;

/// What of a call is refused.
#[derive(Clone, Copy, Debug)]
pub(super) enum When {
    /// Each.
    Always,
    /// Where the argument of this number has one of these bits.
    Any(u8, u32),
    /// Where it is this.
    Is(u8, u32),
    /// Where it is anything else.
    IsNot(u8, u32),
}

/// A call that is refused.
#[derive(Clone, Copy, Debug)]
pub(super) struct Refused {
    pub(super) call: i64,
    pub(super) when: When,
    /// What it fails with.
    pub(super) errno: i32,
}

/// Of `struct seccomp_data`, in bytes.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;
const ARGUMENTS: u32 = 16;

const LOAD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
const EQUAL: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
const AT_LEAST: u16 = (libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K) as u16;
const HAS_ANY: u16 = (libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K) as u16;
const ANSWER: u16 = (libc::BPF_RET | libc::BPF_K) as u16;

/// The filter: what is not `refused` is allowed. Calls of other architectures (32-bit ones, x32) are all refused: their numbers
/// mean other calls.
pub(super) fn of(architecture: u32, refused: &[Refused]) -> Vec<sock_filter> {
    let mut filter = vec![
        load(ARCHITECTURE),
        jump(EQUAL, architecture, 1, 0),
        refuse(libc::EPERM),
        load(NUMBER),
        // x32 has a bit of its own in the number; no other number is that large.
        jump(AT_LEAST, 1 << 30, 0, 1),
        refuse(libc::EPERM),
    ];
    for Refused { call, when, errno } in refused {
        let test = match *when {
            When::Always => vec![],
            When::Any(argument, bits) => vec![load(low(argument)), jump(HAS_ANY, bits, 0, 1)],
            When::Is(argument, value) => vec![load(low(argument)), jump(EQUAL, value, 0, 1)],
            When::IsNot(argument, value) => vec![load(low(argument)), jump(EQUAL, value, 1, 0)],
        };
        // Of a call that is tested nothing more is asked: the number was loaded over.
        let mut rule = test;
        rule.push(refuse(*errno));
        if rule.len() > 1 {
            rule.push(answer(libc::SECCOMP_RET_ALLOW));
        }
        filter.push(jump(EQUAL, *call as u32, 0, rule.len() as u8));
        filter.extend(rule);
    }
    filter.push(answer(libc::SECCOMP_RET_ALLOW));
    filter
}

/// Where the lower half of an argument is: whole 32 bits are what the kernel takes of flags and numbers. Little-endian.
fn low(argument: u8) -> u32 {
    ARGUMENTS + 8 * u32::from(argument)
}

fn load(at: u32) -> sock_filter {
    sock_filter { code: LOAD, jt: 0, jf: 0, k: at }
}

fn jump(code: u16, value: u32, if_so: u8, if_not: u8) -> sock_filter {
    sock_filter { code, jt: if_so, jf: if_not, k: value }
}

fn answer(value: u32) -> sock_filter {
    sock_filter { code: ANSWER, jt: 0, jf: 0, k: value }
}

fn refuse(errno: i32) -> sock_filter {
    answer(libc::SECCOMP_RET_ERRNO | errno as u32)
}
