//! A call as the kernel's side hands it over, decoded and printed in each way. The bytes are its number (two), flags, result and
//! arguments (eight each), and pieces of memory.

use whyslow_model::SourceId;
use whyslow_record::Clock;
use whyslow_record::decode::put::MAX_TEXT;
use whyslow_record::decode::{self, CallText, Payload, PrintOptions, table};
use whyslow_record::names::FdNames;
use whyslow_record::raw::{MemoryPiece, RawCall, RawFlags, push_piece};
use whyslow_record::spec::{KeptMemory, Size};

/// Bytes before the memory.
const HEAD: usize = 2 + 1 + 8 + 6 * 8;

/// Prints `data` as a call.
///
/// # Panics
/// If a text is longer than it may be.
pub(crate) fn print(data: &[u8]) {
    let Some((head, memory)) = data.split_at_checked(HEAD) else { return };
    let number = |at: usize| head[at..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
    let call = RawCall {
        enter: Some(1_000),
        dur: Some(number(3)),
        pid: 7,
        tid: 7,
        cpu: 0,
        nr: u16::from_le_bytes([head[0], head[1]]),
        flags: RawFlags(head[2]),
        ret: number(3) as i64,
        args: std::array::from_fn(|arg| number(11 + 8 * arg)),
        memory,
    };
    let mut text = CallText::default();
    for fd_names in [false, true] {
        let mut names = FdNames::recorded();
        for payload in [Payload::AsItIs, Payload::Reduced] {
            for string_limit in [0, 32, usize::MAX] {
                let options = PrintOptions { string_limit, fd_names, payload };
                decode::print(&call, &names, &options, &mut text);
                assert!(text.args.len() <= MAX_TEXT && text.ret_note.len() <= MAX_TEXT);
                // The names follow the calls: a second call of the same kind finds them.
                names.before(&text.to_call(&call, Clock { offset: 0 }, SourceId(0), 1));
                text.name_result(&call, &names);
                names.after(&text.to_call(&call, Clock { offset: 0 }, SourceId(0), 1));
            }
        }
    }
}

/// One call of each row of the table, with the pieces that its row asks for.
pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let of = |row: &table::Row| {
        let mut data = row.nr.to_le_bytes().to_vec();
        data.push(0);
        // A result, and arguments that are descriptors, sizes and pointers.
        for number in [5u64, 3, 0x7000_1000, 16, 0x7000_2000, 0x7000_3000, 1] {
            data.extend_from_slice(&number.to_le_bytes());
        }
        row.spec.pieces.iter().for_each(|piece| push(piece, &mut data));
        data
    };
    table::rows().map(of).collect()
}

fn push(piece: &KeptMemory, data: &mut Vec<u8>) {
    let pattern: Vec<u8> = (0..128u8).collect();
    let buffers = [0x7000_4000u64, 5, 0x7000_5000, 3].map(u64::to_le_bytes).concat();
    let parts: &[&[u8]] = match piece.size {
        Size::Text => &[b"/tmp/a"],
        Size::Fixed => &[&pattern[..usize::from(piece.scale).min(pattern.len())]],
        Size::Arg | Size::Ret | Size::ArgPointer => &[b"GET /a HTTP/1.1\r\nCookie: b\r\n\r\n"],
        Size::TextArray => &[b"sh", b"-c", b"sleep 1"],
        Size::Iovec => &[&buffers, b"*1\r\n$", b"PING\r\n"],
        Size::Message => &[&pattern[..56], b"\x02\0\0\x50\x7f\0\0\x01", &buffers, &pattern[..24], b"+OK\r\n"],
    };
    for (part, bytes) in parts.iter().enumerate() {
        let (cut, fault, reduced) = (false, false, false);
        push_piece(data, MemoryPiece { arg: piece.arg, part: part as u8, bytes, cut, fault, reduced });
    }
}
