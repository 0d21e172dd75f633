//! Calls as strace prints them, made fit to hand on: of payload stays what a recording keeps of it, command lines lose their
//! secrets, and so does each other text, also where it is written in escapes. For recordings and captures that hold more.

use crate::arguments::whole_words;
use crate::decode::payload;
use crate::decode::put::Put;
use std::borrow::Cow;
use std::ops::Range;
use whyslow_model::Syscall;
use whyslow_model::syscall::Moves;
use whyslow_model::text::{annotation_end, unescape};
use whyslow_privacy::{REDACTED, command_line, redact};

/// What the strings among the arguments of a call are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Strings {
    /// Payload, but for the addresses of peers.
    Payload,
    /// The words of command lines, or whole ones.
    CommandLines,
    /// Paths and other text.
    Text,
}

/// Calls with payload beside those whose result counts the bytes of one; library calls too.
const PAYLOAD: &[&str] = &[
    "SSL_read",
    "SSL_write",
    "add_key",
    "fgets",
    "fputs",
    "fread",
    "fwrite",
    "getrandom",
    "gets",
    "io_submit",
    "keyctl",
    "mq_receive",
    "mq_send",
    "mq_timedreceive",
    "mq_timedsend",
    "msgrcv",
    "msgsnd",
    "pread",
    "process_vm_readv",
    "process_vm_writev",
    "puts",
    "pwrite",
    "recv",
    "recvfrom",
    "recvmmsg",
    "recvmsg",
    "send",
    "sendmmsg",
    "sendmsg",
    "sendto",
    "vmsplice",
];

impl Strings {
    /// Of the call of that name.
    pub fn of(name: &str) -> Strings {
        // ltrace writes `SYS_read`, and `read@SYS`; some libraries have `__read`.
        let name = name.split('@').next().unwrap_or(name);
        let name = name.strip_prefix("SYS_").unwrap_or(name).trim_start_matches('_');
        let moves = |name: &str| {
            Syscall::lookup(name.as_bytes()).is_some_and(|call| call.info().moves != Moves::None)
        };
        match name {
            _ if moves(name) || PAYLOAD.contains(&name) => Strings::Payload,
            "system" | "popen" => Strings::CommandLines,
            _ if name.starts_with("exec") || name.starts_with("posix_spawn") => Strings::CommandLines,
            _ => Strings::Text,
        }
    }
}

/// The arguments of a call without payload and secrets; what follows them may be among them.
pub fn without_secrets(strings: Strings, args: &str) -> Cow<'_, str> {
    let out = match strings {
        Strings::Payload => return reduced(args),
        Strings::CommandLines => hidden(args),
        Strings::Text => Cow::Borrowed(args),
    };
    let out = over(out, redact);
    // What is known by its surroundings was found as it is printed. What is written in numbers is not read so.
    over(out, decoded)
}

/// What may be kept of a payload that stands in a line as it is, in strace's escapes.
pub fn payload_without_secrets(payload: &str) -> String {
    let mut out = Vec::new();
    out.escaped(&kept_of(payload.as_bytes()));
    String::from_utf8_lossy(&out).into_owned()
}

fn over<'a>(text: Cow<'a, str>, change: impl Fn(&str) -> Cow<'_, str>) -> Cow<'a, str> {
    match change(&text) {
        Cow::Borrowed(_) => text,
        Cow::Owned(changed) => Cow::Owned(changed),
    }
}

/// A string between quotes.
#[derive(Clone, Debug)]
struct Quoted {
    /// With its quotes, and the dots of one that was cut.
    whole: Range<usize>,
    inner: Range<usize>,
    /// It stands for a longer one.
    cut: bool,
    /// Of the lists of strings, the number of the one that it is in; 0 outside of them.
    list: usize,
}

/// The strings of a text, from left to right. What names a descriptor (`3</a "b">`) has none.
fn strings(args: &str) -> Vec<Quoted> {
    let bytes = args.as_bytes();
    let (mut found, mut at, mut lists, mut list) = (Vec::new(), 0, 0, 0);
    while at < bytes.len() {
        match bytes[at] {
            b'"' => {
                let string = string_at(bytes, at, list);
                at = string.whole.end;
                found.push(string);
                continue;
            }
            b'<' if at > 0 && bytes[at - 1].is_ascii_digit() => {
                at = annotation_end(bytes, at).filter(|end| is_annotation(&args[at..=*end])).unwrap_or(at);
            }
            b'[' => {
                lists += 1;
                list = lists;
            }
            b']' => list = 0,
            _ => {}
        }
        at += 1;
    }
    found
}

/// Whether what stands between `<` and `>` can be skipped: with a quote in it, a name with a `<` may have led into a string.
fn is_annotation(between: &str) -> bool {
    !between.contains('"') || between.starts_with("<UNIX") && between.ends_with("\"]>")
}

/// The string that the quote at `open` opens; one that is not closed goes to the end.
fn string_at(bytes: &[u8], open: usize, list: usize) -> Quoted {
    let mut at = open + 1;
    loop {
        match bytes.get(at) {
            Some(b'"') => break,
            Some(b'\\') => at += 2,
            Some(_) => at += 1,
            None => {
                return Quoted { whole: open..bytes.len(), inner: open + 1..bytes.len(), cut: true, list };
            }
        }
    }
    let cut = bytes[at + 1..].starts_with(b"...");
    Quoted { whole: open..at + if cut { 4 } else { 1 }, inner: open + 1..at, cut, list }
}

/// The text with other strings in the place of some of its own: `with` gives bytes, and whether they are cut.
fn replaced(
    text: &str,
    strings: &[Quoted],
    mut with: impl FnMut(usize, &Quoted) -> Option<(Vec<u8>, bool)>,
) -> Option<String> {
    let (mut out, mut done) = (String::new(), 0);
    for (number, string) in strings.iter().enumerate() {
        let Some((bytes, cut)) = with(number, string) else { continue };
        let mut quoted = Vec::new();
        quoted.quoted(&bytes, cut);
        out.push_str(&text[done..string.whole.start]);
        // Escapes are ASCII.
        out.push_str(&String::from_utf8_lossy(&quoted));
        done = string.whole.end;
    }
    if done == 0 {
        return None;
    }
    out.push_str(&text[done..]);
    Some(out)
}

/// With what may be kept of its payload; the rest without secrets.
fn reduced(args: &str) -> Cow<'_, str> {
    let (mut out, mut done) = (String::with_capacity(args.len()), 0);
    for string in strings(args) {
        if is_address(&args[..string.whole.start]) {
            continue;
        }
        out.push_str(&redact(&args[done..string.whole.start]));
        done = string.whole.end;
        let bytes = unescape(args[string.inner].as_bytes());
        let kept = kept_of(&bytes);
        if kept == *bytes {
            out.push_str(&args[string.whole]);
        } else {
            let mut quoted = Vec::new();
            quoted.quoted(&kept, true);
            out.push_str(&String::from_utf8_lossy(&quoted));
        }
    }
    out.push_str(&redact(&args[done..]));
    if out == args { Cow::Borrowed(args) } else { Cow::Owned(out) }
}

/// What may be kept of a payload. What is left of it may look like a secret where none is any more: `token=*`, and in
/// commands of Redis a length in place of a word. That stays, so that a copy says what a recording says.
fn kept_of(payload: &[u8]) -> Vec<u8> {
    if payload::is_log_level(payload) {
        return payload.to_vec();
    }
    let mut kept = Vec::new();
    payload::reduce(payload, &mut kept);
    if kept.starts_with(b"*") {
        return kept;
    }
    let text = String::from_utf8_lossy(&kept);
    let same = |clean: &str| clean.replace(REDACTED, "*") == text.replace(REDACTED, "*");
    match redact(&text) {
        Cow::Owned(clean) if !same(&clean) => clean.into_bytes(),
        _ => kept,
    }
}

/// What stands before the text of a peer's address, as strace prints it.
fn is_address(before: &str) -> bool {
    const BEFORE: [&str; 4] = ["inet_addr(", "sun_path=", "sun_path=@", "if_nametoindex("];
    BEFORE.iter().any(|known| before.ends_with(known)) || before.ends_with("inet_pton(AF_INET6, ")
}

/// With the words of its command lines without their secrets.
fn hidden(args: &str) -> Cow<'_, str> {
    let strings = strings(args);
    let mut words = Vec::with_capacity(strings.len());
    let mut whole = Vec::with_capacity(strings.len());
    for string in &strings {
        let bytes = unescape(args[string.inner.clone()].as_bytes());
        let kept = if string.cut { whole_words(&bytes) } else { &bytes };
        whole.push(kept.len() == bytes.len());
        words.push(String::from_utf8_lossy(kept).into_owned());
    }
    let mut shown: Vec<String> = Vec::with_capacity(words.len());
    for group in strings.chunk_by(|one, next| one.list == next.list) {
        let words = &words[shown.len()..shown.len() + group.len()];
        shown.extend(command_line::arguments(words));
    }
    let out = replaced(args, &strings, |number, string| {
        let same = whole[number] && shown[number] == words[number];
        (!same).then(|| (shown[number].clone().into_bytes(), string.cut))
    });
    out.map_or(Cow::Borrowed(args), Cow::Owned)
}

/// Without the secrets of strings that are written in escapes.
fn decoded(args: &str) -> Cow<'_, str> {
    if !args.contains('\\') {
        return Cow::Borrowed(args);
    }
    let strings = strings(args);
    let out = replaced(args, &strings, |_, string| {
        let inner = &args[string.inner.clone()];
        if !inner.contains('\\') {
            return None;
        }
        let bytes = unescape(inner.as_bytes());
        let text = String::from_utf8_lossy(&bytes);
        match redact(&text) {
            Cow::Owned(clean) if clean != text => Some((clean.into_bytes(), string.cut)),
            _ => None,
        }
    });
    out.map_or(Cow::Borrowed(args), Cow::Owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn clean(name: &str, args: &str) -> String {
        without_secrets(Strings::of(name), args).into_owned()
    }

    #[test]
    fn payload_is_reduced_and_the_rest_stays() {
        for (name, args, expected) in [
            ("write", r#"1</dev/pts/0>, "my body", 7"#, r#"1</dev/pts/0>, ""..., 7"#),
            ("read", r#"3, "", 4096"#, r#"3, "", 4096"#),
            ("read", "3, 0x7ffe0, 4096", "3, 0x7ffe0, 4096"),
            (
                "sendto",
                r#"3, "*2\r\n$4\r\nAUTH\r\n$7\r\nhunter2\r\n", 26, 0, {sa_family=AF_INET, sin_port=htons(53), sin_addr=inet_addr("10.0.0.9")}, 16"#,
                r#"3, "*2\r\n$4\r\nAUTH\r\n$7\r\n"..., 26, 0, {sa_family=AF_INET, sin_port=htons(53), sin_addr=inet_addr("10.0.0.9")}, 16"#,
            ),
            (
                "writev",
                r#"3, [{iov_base="\x61\x62", iov_len=2}, {iov_base="2024 ERROR x"..., iov_len=20}], 2"#,
                r#"3, [{iov_base=""..., iov_len=2}, {iov_base="ERROR"..., iov_len=20}], 2"#,
            ),
            ("write", r#"1, "cut in the mid"#, r#"1, ""..."#),
            ("SYS_write", r#"1, "x", 1"#, r#"1, ""..., 1"#),
            ("openat", r#"AT_FDCWD, "/etc/a b\n", O_RDONLY"#, r#"AT_FDCWD, "/etc/a b\n", O_RDONLY"#),
        ] {
            assert_eq!(clean(name, args), expected, "{name}");
            assert_eq!(clean(name, expected), expected, "twice: {name}");
        }
    }

    /// What a recording keeps of payload is kept of it again.
    #[test]
    fn what_was_reduced_stays_as_it_is() {
        let mut changed = Vec::new();
        for payload in [
            &b"GET /user/7?token=abc&id=3 HTTP/1.1\r\nHost: example.org:80\r\nCookie: a=b\r\nContent-Length: 12\r\n\r\nx"[..],
            b"GET /user/7 HTTP/1.1\r\nHost: example.org\r\nUser-Agent: curl/7.88\r\nAccept: */*\r\n\r\n",
            b"POST /login HTTP/1.1\r\nHost: h\r\nContent-Length: 26\r\n\r\nuser=bob&password=hunter2",
            b"HTTP/1.1 200 OK\r\nSet-Cookie: x=y\r\ncontent-length: 5\r\n\r\nhello",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: text/html\r\n\r\n5\r\nhello\r\n",
            b"*3\r\n$3\r\nSET\r\n$6\r\nuser:7\r\n$3\r\npwd\r\n",
            b"*2\r\n$4\r\nAUTH\r\n$7\r\nhunter2\r\n",
            b"*5\r\n$5\r\nHMGET\r\n$8\r\nuser:777\r\n$4\r\nname\r\n$4\r\nmail\r\n$2\r\nid\r\n",
            b"$5\r\nhello\r\n",
            b"+OK\r\n",
            b"-ERR no\r\n",
            b":17\r\n",
            b"Q\0\0\0\x40SELECT a, 'it''s', 12 FROM t1 WHERE x = $1 AND y=\"z\" -- why\0",
            b"P\0\0\0\x38\0UPDATE users SET name = 'x' WHERE id = $1\0\0\0",
            b"\x14\0\0\0\x03SELECT * FROM users",
            b"\x2e\0\0\0\x03SELECT id FROM users WHERE name = 'somebodyx'",
            b"\xbd\x19\x01\0\0\x01\0\0\0\0\0\0\x07example\x03com\0\0\x01\0\x01",
            b"\x16\x03\x01\x02\x00\x01secret",
            b"get key1\r\n",
            b"set key1 0 0 5\r\nhello\r\n",
            b"END\r\n",
            b"STORED\r\n",
            b"2024-01-01 ERROR x",
            b"<6>INFO started",
        ] {
            let once = kept_of(payload);
            if kept_of(&once) != once {
                changed.push((payload.escape_ascii().to_string(), once.escape_ascii().to_string(), kept_of(&once).escape_ascii().to_string()));
            }
        }
        assert!(changed.is_empty(), "{changed:#?}");
    }

    #[test]
    fn command_lines_lose_their_secrets_only() {
        for (name, args, expected) in [
            (
                "execve",
                r#""/usr/bin/mysql", ["mysql", "-pa b", "-e", "select \"x\""], 0x7ff /* 9 vars */"#,
                r#""/usr/bin/mysql", ["mysql", "-p[redacted]", "-e", "select \"x\""], 0x7ff /* 9 vars */"#,
            ),
            (
                "execve",
                r#""/bin/x", ["x", "--token", "a\\b"], ["DB_PASSWORD=y z", "HOME=/"]"#,
                r#""/bin/x", ["x", "--token", "[redacted]"], ["DB_PASSWORD=[redacted]", "HOME=/"]"#,
            ),
            (
                "execve",
                r#""/bin/x", ["x", "see postgres://u:hunt"...], 0"#,
                r#""/bin/x", ["x", "see postgres://u:"...], 0"#,
            ),
            ("system", r#""redis-cli -a hunter2 ping""#, r#""redis-cli -a [redacted] ping""#),
            ("execve", r#""{path}", ["a", "b"], 0"#, r#""{path}", ["a", "b"], 0"#),
        ] {
            assert_eq!(clean(name, args), expected, "{name}");
            assert_eq!(clean(name, expected), expected, "twice: {name}");
        }
    }

    #[test]
    fn escapes_hide_nothing() {
        for secret in [
            r#"1, "\160\141\163\163\167\157\162\144=\150unter2 x""#,
            r#"1, "\x70\x61\x73\x73\x77\x6f\x72\x64\x3d\x68\x75\x6e\x74\x65\x72\x32""#,
            r#"1, "a\r\nAuthorization: Basic hunter2\r\n""#,
            r#"1, "pass\x77ord=hunter2""#,
        ] {
            let clean = clean("ioctl", secret);
            assert!(
                clean.contains("[redacted]") && !clean.contains("unter2") && !clean.contains(r"\x75"),
                "{clean}"
            );
        }
    }

    proptest! {
        #[test]
        fn any_text_is_survived(name in prop::sample::select(vec!["write", "execve", "ioctl"]), args in any::<String>()) {
            let _ = clean(name, &args);
        }

        #[test]
        fn bodies_never_survive(
            call in prop::sample::select(vec!["write", "sendto", "read", "recvmsg", "pwritev", "process_vm_readv"]),
            before in r#"[ -!#-~]{0,20}"#,
            after in r#"([ -!#-\[\]-~]|\\[nrt"0]){0,20}"#,
        ) {
            let args = format!("3<{before}>, [{{iov_base=\"Zq9xW{after}\", iov_len=9}}], 1");
            prop_assert!(!clean(call, &args).contains("Zq9xW"));
        }
    }
}
