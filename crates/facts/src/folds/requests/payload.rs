//! The bytes that a call moved, as far as its text has them.

use whyslow_model::{Call, Syscall, text};

/// Hands what `call` moved to `each`: the first bytes, and how many there were in all (`moved` of a call that counts
/// bytes; a call that moves several datagrams hands each of them). `most`: bytes of text that are looked at.
pub(super) fn chunks(
    call: &Call<'_>,
    moved: u64,
    most: usize,
    buffer: &mut Vec<u8>,
    mut each: impl FnMut(&[u8], u64),
) {
    let Some(rest) = behind_descriptor(call.args) else { return };
    if matches!(call.syscall, Syscall::SENDMMSG | Syscall::RECVMMSG) {
        let messages = call.ok().unwrap_or(0).clamp(0, MAX_DATAGRAMS) as usize;
        for (quoted, _, rest) in Vectors(rest).take(messages) {
            buffer.clear();
            text::unescape_into(quoted, buffer);
            let stated = if call.syscall == Syscall::SENDMMSG { length_behind(rest) } else { None };
            each(buffer, stated.unwrap_or(0).max(buffer.len() as u64));
        }
        return;
    }
    if moved == 0 || is_peek(call) {
        return;
    }
    buffer.clear();
    match rest.first() {
        Some(b'"') => {
            if let Some((quoted, _)) = text::quoted(rest) {
                text::unescape_into(&quoted[..quoted.len().min(most)], buffer);
            }
        }
        Some(b'[' | b'{') => {
            for (quoted, cut, _) in Vectors(rest) {
                text::unescape_into(&quoted[..quoted.len().min(most)], buffer);
                // What follows a cut string is not the next byte.
                if cut || quoted.len() > most || buffer.len() as u64 >= moved {
                    break;
                }
            }
        }
        _ => {}
    }
    buffer.truncate(usize::try_from(moved).unwrap_or(usize::MAX));
    each(buffer, moved);
}

/// Datagrams of one call that are looked at (UIO_MAXIOV, the most that the kernel takes).
const MAX_DATAGRAMS: i64 = 1024;

/// What is looked at but left in the socket comes again.
fn is_peek(call: &Call<'_>) -> bool {
    matches!(call.syscall, Syscall::RECV | Syscall::RECVFROM | Syscall::RECVMSG)
        && memchr::memmem::find(call.args, b"MSG_PEEK").is_some()
}

/// The arguments behind the first, which is a descriptor: `3, …`, `3<TCP:[a->b]>, …`.
fn behind_descriptor(args: &[u8]) -> Option<&[u8]> {
    let (_, digits) = text::decimal(args)?;
    let end = match args.get(digits) {
        Some(b'<') => text::annotation_end(args, digits)? + 1,
        _ => digits,
    };
    Some(args.get(end..)?.strip_prefix(b",")?.trim_ascii_start())
}

/// The strings of an iovec or of message headers: what stands between their quotes, whether strace cut it, and
/// what follows.
struct Vectors<'a>(&'a [u8]);

impl<'a> Iterator for Vectors<'a> {
    type Item = (&'a [u8], bool, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        const BASE: &[u8] = b"iov_base=";
        let from = memchr::memmem::find(self.0, BASE)? + BASE.len();
        let (quoted, cut) = text::quoted(&self.0[from..])?;
        self.0 = &self.0[from + quoted.len() + 2..];
        Some((quoted, cut, self.0))
    }
}

/// The `iov_len` behind a string.
fn length_behind(rest: &[u8]) -> Option<u64> {
    let rest = rest.strip_prefix(b"...").unwrap_or(rest);
    let (value, _) = text::decimal(rest.strip_prefix(b", iov_len=")?)?;
    u64::try_from(value).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use whyslow_model::Ret;

    fn moved(name: &'static str, args: &str, ret: i64) -> Vec<(Vec<u8>, u64)> {
        let mut call = Call::new(name, args);
        call.ret = Ret::Value(ret);
        let mut all = Vec::new();
        chunks(&call, call.bytes(), usize::MAX, &mut Vec::new(), |head, len| all.push((head.to_vec(), len)));
        all
    }

    #[test]
    fn strings_iovecs_and_messages() {
        for (name, args, ret, expected) in [
            ("read", r#"3, "GET / HT"..., 8192"#, 70, &b"GET / HT"[..]),
            ("read", r#"3<TCP:[1.2.3.4:5->6.7.8.9:80]>, "a\r\nb", 8192"#, 4, b"a\r\nb"),
            ("sendto", r#"3, "abc", 3, 0, {sa_family=AF_UNIX, sun_path="/x"}, 4"#, 3, b"abc"),
            ("writev", r#"3, [{iov_base="ab", iov_len=2}, {iov_base="cd", iov_len=2}], 2"#, 4, b"abcd"),
            ("writev", r#"3, [{iov_base="ab"..., iov_len=20}, {iov_base="cd", iov_len=2}], 2"#, 22, b"ab"),
            ("writev", r#"3, [{iov_base="ab", iov_len=2}, {iov_base="cd", iov_len=2}], 2"#, 3, b"abc"),
            (
                "recvmsg",
                r#"3, {msg_name={sun_path="/y"}, msg_iov=[{iov_base="xy", iov_len=64}], msg_iovlen=1}, 0"#,
                2,
                b"xy",
            ),
            ("read", "3, 0x7f0012, 8192", 9, b""),
            ("sendfile", "3, 4, [0] => [65536], 65536", 65536, b""),
        ] {
            assert_eq!(moved(name, args, ret), [(expected.to_vec(), ret as u64)], "{name}({args})");
        }
        assert_eq!(moved("recvfrom", r#"3, "abc", 3, MSG_PEEK, NULL, NULL"#, 3), []);
        assert_eq!(moved("read", r#"3, "", 3"#, 0), []);
    }

    #[test]
    fn each_datagram_is_a_chunk() {
        let args = r#"3, [{msg_hdr={msg_name=NULL, msg_iov=[{iov_base="one", iov_len=3}], msg_iovlen=1}, msg_len=3}, {msg_hdr={msg_name=NULL, msg_iov=[{iov_base="tw"..., iov_len=30}], msg_iovlen=1}, msg_len=30}], 2, MSG_NOSIGNAL"#;
        assert_eq!(moved("sendmmsg", args, 2), [(b"one".to_vec(), 3), (b"tw".to_vec(), 30)]);
    }

    proptest! {
        #[test]
        fn any_text_is_survived(args in "[0-9]{0,2}(<[^>]{0,4}>)?,? ?[\\[{\"]?(iov_base=)?[ -~]{0,40}", ret in -1i64..100) {
            for name in ["read", "writev", "recvmsg", "sendmmsg"] {
                for (head, len) in moved(name, &args, ret) {
                    prop_assert!(head.len() as u64 <= len);
                }
            }
        }
    }
}
