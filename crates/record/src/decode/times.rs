//! Times in memory.

use super::printer::{Printer, u64_at};
use super::put::Put;

/// `{tv_sec=1, tv_nsec=5}`
pub(super) fn timespec(bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
    pair(bytes, "tv_nsec", out)
}

/// `{tv_sec=1, tv_usec=5}`
pub(super) fn timeval(bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
    pair(bytes, "tv_usec", out)
}

fn pair(bytes: &[u8], fraction: &str, out: &mut Vec<u8>) -> Option<()> {
    out.put("{tv_sec=");
    out.signed(u64_at(bytes, 0)? as i64);
    out.put(", ");
    out.put(fraction);
    out.put("=");
    out.signed(u64_at(bytes, 8)? as i64);
    out.put("}");
    Some(())
}

/// `[UTIME_NOW, {tv_sec=1, tv_nsec=2}]`
pub(super) fn timespecs(bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
    // include/uapi/linux/stat.h: UTIME_NOW, UTIME_OMIT
    const NOW: u64 = 0x3fff_ffff;
    const OMIT: u64 = 0x3fff_fffe;
    out.put("[");
    for at in [0, 16] {
        out.put(if at > 0 { ", " } else { "" });
        match u64_at(bytes, at + 8)? {
            NOW => out.put("UTIME_NOW"),
            OMIT => out.put("UTIME_OMIT"),
            _ => timespec(&bytes[at..], out)?,
        }
    }
    out.put("]");
    Some(())
}

/// `[{tv_sec=1, tv_usec=2}, {tv_sec=3, tv_usec=4}]`
pub(super) fn timevals(bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
    out.put("[");
    timeval(bytes, out)?;
    out.put(", ");
    timeval(bytes.get(16..)?, out)?;
    out.put("]");
    Some(())
}

/// `{it_interval={…}, it_value={…}}` in nanoseconds.
pub(super) fn timer_spec(bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
    timer(bytes, timespec, out)
}

/// `{it_interval={…}, it_value={…}}` in microseconds.
pub(super) fn timer_value(bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
    timer(bytes, timeval, out)
}

fn timer(bytes: &[u8], time: fn(&[u8], &mut Vec<u8>) -> Option<()>, out: &mut Vec<u8>) -> Option<()> {
    out.put("{it_interval=");
    time(bytes, out)?;
    out.put(", it_value=");
    time(bytes.get(16..)?, out)?;
    out.put("}");
    Some(())
}

/// The time left of a sleep: the kernel writes it only where a signal ended the call.
pub(super) fn left(p: &mut Printer<'_>, n: usize) {
    // ERESTARTSYS to ERESTART_RESTARTBLOCK, as the kernel's side sees the call return.
    match p.call.ret {
        -516..=-512 => p.structure(n, timespec),
        _ => p.address(n),
    }
}

/// A time limit that the kernel changes to what is left of it: the limit stands among the arguments, what is left
/// behind the result.
pub(super) fn moved(p: &mut Printer<'_>, n: usize, time: fn(&[u8], &mut Vec<u8>) -> Option<()>) {
    p.structure(n, time);
    let Some(left) = p.last(n).filter(|_| p.returned().is_some_and(|ret| ret > 0)) else {
        return;
    };
    let start = p.note.len();
    p.note.put(if start > 0 { ", left " } else { "(left " });
    if time(left, p.note).is_none() {
        p.note.truncate(start);
    }
}
