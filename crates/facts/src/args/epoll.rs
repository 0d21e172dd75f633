//! Arguments of epoll calls.

use super::numbers::hex;
use whyslow_model::text;

/// The token in epoll's arguments: `data={u32=16, u64=16}`, of older versions `{u32=16, u64=16}`, of newer ones
/// `data=0x10`.
pub(crate) fn token(text: &[u8]) -> Option<u64> {
    if let Some(at) = memchr::memmem::find(text, b"u64=") {
        let number = &text[at + 4..];
        return match number.strip_prefix(b"0x") {
            Some(digits) => hex(digits),
            None => text::decimal(number).and_then(|(token, _)| u64::try_from(token).ok()),
        };
    }
    let at = memchr::memmem::find(text, b"data=0x")?;
    hex(&text[at + 7..])
}
