//! What calls move: payload, buffers, strings, directory entries, numbers in memory.

use super::Payload;
use super::payload;
use super::printer::{Printer, u32_at, u64_at};
use super::put::Put;
use crate::raw::{MemoryPiece, RawFlags};
use crate::spec::{MAX_BUFFERS, MAX_STRINGS};

/// `[3]`: a number of 4 or 8 bytes.
pub(super) fn number_in_brackets(bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let value = number(bytes)?;
    out.put("[");
    out.unsigned(value);
    out.put("]");
    Some(())
}

fn number(bytes: &[u8]) -> Option<u64> {
    match bytes.len() {
        4 => u32_at(bytes, 0).map(u64::from),
        _ => u64_at(bytes, 0),
    }
}

/// `[0] => [4096]` (an offset) or `[128 => 16]` (a length): a number that the call changed.
pub(super) fn moved(p: &mut Printer<'_>, n: usize) {
    let numbers = (p.first(n).and_then(number), p.last(n).and_then(number));
    let (Some(before), Some(after)) = numbers else {
        return p.address(n);
    };
    let is_offset = p.first(n).is_some_and(|bytes| bytes.len() == 8);
    p.out.put("[");
    p.out.unsigned(before);
    if after != before || is_offset && p.succeeded() {
        p.out.put(if is_offset { "] => [" } else { " => " });
        p.out.unsigned(after);
    }
    p.out.put("]");
}

/// `[3, 4]`
pub(super) fn fd_pair(p: &mut Printer<'_>, n: usize) {
    let pair = p.first(n).and_then(|bytes| Some((u32_at(bytes, 0)?, u32_at(bytes, 4)?)));
    let Some((one, other)) = pair else {
        return p.address(n);
    };
    p.out.put("[");
    p.fd(one as i32);
    p.out.put(", ");
    p.fd(other as i32);
    p.out.put("]");
}

/// A path that the kernel wrote with the NUL behind it, whole.
pub(super) fn returned_path(p: &mut Printer<'_>, n: usize) {
    match p.part(n, 0) {
        Some(piece) => {
            let path = piece.bytes.strip_suffix(b"\0").unwrap_or(piece.bytes);
            p.out.quoted(path, piece.cut);
        }
        None => p.address(n),
    }
}

/// Text that the kernel wrote: as many bytes as it returned, cut at the limit for strings.
pub(super) fn returned_text(p: &mut Printer<'_>, n: usize) {
    match (p.part(n, 0), p.returned()) {
        (Some(piece), Some(length)) => head(piece.bytes, length, p.options.string_limit, p.out),
        _ => p.address(n),
    }
}

/// Bytes that the call read: as many as it returned.
pub(super) fn read(p: &mut Printer<'_>, n: usize) {
    match p.returned() {
        Some(length) if p.call.args[n] != 0 => data(p, n, length, true),
        _ => p.address(n),
    }
}

/// Bytes that the program hands over.
pub(super) fn written(p: &mut Printer<'_>, n: usize, length: u64) {
    if p.call.args[n] == 0 {
        return p.address(n);
    }
    data(p, n, length, false);
}

/// `length` bytes behind argument `n`, as far as they are kept.
fn data(p: &mut Printer<'_>, n: usize, length: u64, read: bool) {
    let piece = p.pieces().find(|piece| piece.arg as usize == n && piece.part == 0);
    match piece {
        Some(piece) if piece.fault => p.address(n),
        // A file's data that the program handed over, but the call has not returned: it is not looked at yet.
        None if !read && length > 0 && p.call.flags.contains(RawFlags::NO_EXIT) => p.address(n),
        piece => shown(p, piece, length),
    }
}

/// What is kept of `length` bytes of payload: `"GET / HT"...`; `""...` where nothing is.
fn shown(p: &mut Printer<'_>, piece: Option<MemoryPiece<'_>>, length: u64) {
    let bytes = piece.map_or(&[][..], |piece| piece.bytes);
    if let Some(reduced) = piece.filter(|piece| piece.reduced) {
        return p.out.quoted(reduced.bytes, length > 0);
    }
    match p.options.payload {
        Payload::AsItIs => head(bytes, length, p.options.string_limit, p.out),
        Payload::Reduced => {
            p.reduced.clear();
            let length_here = bytes.len().min(usize::try_from(length).unwrap_or(usize::MAX));
            payload::reduce(&bytes[..length_here], p.reduced);
            p.out.quoted(p.reduced, length > 0);
        }
    }
}

/// The first of `length` bytes, no more than `limit`.
fn head(bytes: &[u8], length: u64, limit: usize, out: &mut Vec<u8>) {
    let shown = bytes.len().min(limit).min(usize::try_from(length).unwrap_or(usize::MAX));
    out.quoted(&bytes[..shown], (shown as u64) < length);
}

/// The buffers of a vectored call.
pub(super) fn buffers(p: &mut Printer<'_>, n: usize, read: bool) {
    if read && !p.succeeded() {
        return p.address(n);
    }
    let Some(array) = p.first(n) else {
        return p.address(n);
    };
    let moved = if read { p.returned().unwrap_or(0) } else { u64::MAX };
    buffer_array(p, n, array, 1, p.call.args[n + 1], moved);
}

/// `[{iov_base="ab", iov_len=2}, …]` of `array`, of which `count` elements were there and `moved` bytes are of
/// interest. What buffer k holds is part `first_part` + k of argument `n`.
pub(super) fn buffer_array(
    p: &mut Printer<'_>,
    n: usize,
    array: &[u8],
    first_part: u8,
    count: u64,
    moved: u64,
) {
    let mut left = moved;
    p.out.put("[");
    for (k, element) in array.chunks_exact(16).take(MAX_BUFFERS).enumerate() {
        let (base, length) = (u64_at(element, 0).unwrap_or(0), u64_at(element, 8).unwrap_or(0));
        p.out.put(if k > 0 { ", {iov_base=" } else { "{iov_base=" });
        let part = first_part + k as u8;
        let piece = p.pieces().find(|piece| piece.arg as usize == n && piece.part == part);
        match piece {
            Some(piece) if piece.fault => p.out.pointer(base),
            _ if base == 0 => p.out.pointer(base),
            piece => shown(p, piece, length.min(left)),
        }
        left = left.saturating_sub(length);
        p.out.put(", iov_len=");
        p.out.unsigned(length);
        p.out.put("}");
    }
    if count > (array.len() / 16).min(MAX_BUFFERS) as u64 {
        p.out.put(", ...");
    }
    p.out.put("]");
}

/// `["ls", "-l"]`
pub(super) fn strings(p: &mut Printer<'_>, n: usize) {
    let mut shown = 0;
    let start = p.out.len();
    for piece in p.pieces().filter(|piece| piece.arg as usize == n && !piece.fault) {
        p.out.put(if shown > 0 { ", " } else { "[" });
        shown += 1;
        let length = piece.bytes.len().min(p.options.string_limit);
        p.out.quoted(&piece.bytes[..length], piece.cut || length < piece.bytes.len());
    }
    match shown {
        0 => p.out.truncate(start),
        // No more are kept, whether there are more or not.
        MAX_STRINGS.. => return p.out.put(", ...]"),
        _ => return p.out.put("]"),
    }
    p.address(n);
}

/// `0x7ffd… /* 23 vars */`: the strings of an environment are counted only.
pub(super) fn environment(p: &mut Printer<'_>, n: usize) {
    p.address(n);
    let Some(pointers) = p.first(n) else { return };
    let count = pointers.chunks_exact(8).position(|pointer| pointer == [0; 8]);
    if let Some(count) = count {
        p.out.put(" /* ");
        p.out.unsigned(count as u64);
        p.out.put(if count == 1 { " var */" } else { " vars */" });
    }
}

/// `0x55… /* 12 entries */`: directory entries (`struct linux_dirent64`: their length is at 16), where all are kept.
pub(super) fn entries(p: &mut Printer<'_>, n: usize) {
    p.address(n);
    let count = match p.returned() {
        Some(0) => Some(0),
        Some(_) => p.part(n, 0).filter(|piece| !piece.cut).and_then(|piece| count_entries(piece.bytes)),
        None => None,
    };
    if let Some(count) = count {
        p.out.put(" /* ");
        p.out.unsigned(count);
        p.out.put(if count == 1 { " entry */" } else { " entries */" });
    }
}

fn count_entries(bytes: &[u8]) -> Option<u64> {
    let mut rest = bytes;
    let mut count = 0;
    while !rest.is_empty() {
        let length = u16::from_ne_bytes(rest.get(16..18)?.try_into().ok()?) as usize;
        rest = rest.get(length..).filter(|_| length > 0)?;
        count += 1;
    }
    Some(count)
}
