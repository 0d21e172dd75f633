//! Arguments of epoll calls.

use super::numbers::hex;
use whyslow_model::text;

/// The tokens of all events of such a call.
pub(crate) fn tokens(args: &[u8]) -> impl Iterator<Item = u64> {
    let mark: &[u8] = if memchr::memmem::find(args, b"u64=").is_some() { b"u64=" } else { b"data=0x" };
    memchr::memmem::find_iter(args, mark).collect::<Vec<_>>().into_iter().filter_map(|at| token(&args[at..]))
}

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

#[cfg(test)]
mod tests {
    use super::tokens;

    #[test]
    fn all_events_have_their_tokens() {
        let all = |args: &[u8]| tokens(args).collect::<Vec<_>>();
        let found = b"13, [{events=EPOLLIN, data={u32=18, u64=18}}, {events=EPOLLIN, data={u32=16, u64=16}}], 1024, 0";
        assert_eq!(all(found), [18, 16]);
        assert_eq!(all(b"5, [{EPOLLIN, {u32=20, u64=20}}], 32, 998"), [20]);
        assert_eq!(all(b"5, [{events=EPOLLIN, data=0x7}, {events=EPOLLIN, data=0xff}], 32, 998"), [7, 255]);
        assert!(all(b"5, [], 32, 0").is_empty());
    }
}
