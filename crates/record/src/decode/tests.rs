//! Calls made by hand: what strace's own output cannot be compared with (memory that is missing, calls that did not
//! return, hostile bytes).

use super::*;
use crate::raw::{MemoryPiece, push_piece};
use proptest::prelude::*;
use whyslow_model::LineFormat;
use whyslow_model::line::LineThread;

/// A call under construction.
struct Made {
    nr: u16,
    args: [u64; 6],
    ret: i64,
    flags: RawFlags,
    memory: Vec<u8>,
}

fn made(name: &str, args: &[u64], ret: i64) -> Made {
    let row = table::rows().find(|row| row.name == name).unwrap();
    let mut registers = [0; 6];
    registers[..args.len()].copy_from_slice(args);
    Made { nr: row.nr, args: registers, ret, flags: RawFlags::default(), memory: Vec::new() }
}

impl Made {
    fn piece(self, arg: u8, bytes: &[u8]) -> Made {
        self.part(arg, 0, bytes)
    }

    fn part(mut self, arg: u8, part: u8, bytes: &[u8]) -> Made {
        push_piece(
            &mut self.memory,
            MemoryPiece { arg, part, bytes, cut: false, fault: false, reduced: false },
        );
        self
    }

    fn raw(&self) -> RawCall<'_> {
        RawCall {
            enter: Some(1_000),
            dur: Some(50),
            pid: 7,
            tid: 8,
            cpu: 1,
            nr: self.nr,
            flags: self.flags,
            ret: self.ret,
            args: self.args,
            memory: &self.memory,
        }
    }

    fn text(&self) -> CallText {
        let mut text = CallText::default();
        print(&self.raw(), &NoNames, &PrintOptions::default(), &mut text);
        text
    }

    fn line(&self) -> String {
        self.line_with(&NoNames, &PrintOptions::default())
    }

    fn line_with(&self, names: &dyn Names, options: &PrintOptions) -> String {
        let mut text = CallText::default();
        print(&self.raw(), names, options, &mut text);
        if options.fd_names {
            text.name_result(&self.raw(), names);
        }
        let mut call = text.to_call(&self.raw(), Clock { offset: 0 }, SourceId(0), 1);
        (call.ts, call.flags) = (Timestamp::UNKNOWN, CallFlags::default());
        let format = LineFormat { who: LineThread::Nobody, durations: false, ..LineFormat::EVIDENCE };
        let mut line = Vec::new();
        call.write_line(&format, &mut line);
        let line = String::from_utf8(line).unwrap();
        line.split_once('(').unwrap().1.replacen(") = ", " = ", 1)
    }
}

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_ne_bytes()).collect()
}

fn longs(longs: &[u64]) -> Vec<u8> {
    longs.iter().flat_map(|long| long.to_ne_bytes()).collect()
}

const P: u64 = 0x7ffc_0000_1000;

#[test]
fn memory_that_is_not_kept_is_an_address_or_hidden_data() {
    assert_eq!(made("read", &[3, P, 100], 20).line(), r#"3, ""..., 100 = 20"#);
    assert_eq!(made("read", &[3, P, 100], 0).line(), r#"3, "", 100 = 0"#);
    assert_eq!(
        made("read", &[3, P, 100], -11).line(),
        "3, 0x7ffc00001000, 100 = -1 EAGAIN (Resource temporarily unavailable)"
    );
    assert_eq!(made("write", &[3, P, 9], 9).line(), r#"3, ""..., 9 = 9"#);
    assert_eq!(
        made("openat", &[-100i64 as u64, P, 0x80000, 0], -2).line(),
        "AT_FDCWD, 0x7ffc00001000, O_RDONLY|O_CLOEXEC = -1 ENOENT (No such file or directory)"
    );
    assert_eq!(made("fstat", &[3, P], 0).line(), "3, 0x7ffc00001000 = 0");
    let payload = made("read", &[3, P, 100], 40).piece(1, b"GET / HTTP/1.1\r\nHost: example.org\r\n");
    assert_eq!(payload.line(), r#"3, "GET / HTTP/1.1\r\nHost: example.or"..., 100 = 40"#);
    let longer = PrintOptions { string_limit: 256, ..PrintOptions::default() };
    assert_eq!(
        payload.line_with(&NoNames, &longer),
        r#"3, "GET / HTTP/1.1\r\nHost: example.org\r\n"..., 100 = 40"#
    );
}

#[test]
fn payload_is_reduced_where_asked() {
    let options = PrintOptions { payload: Payload::Reduced, ..PrintOptions::default() };
    let http =
        made("sendto", &[3, P, 70, 0, 0, 0], 70).piece(1, b"GET /a?key=value HTTP/1.1\r\nCookie: c\r\n");
    assert_eq!(
        http.line_with(&NoNames, &options),
        r#"3, "GET /a?key=* HTTP/1.1\r\n"..., 70, 0, NULL, 0 = 70"#
    );
    let vector = made("writev", &[3, P, 1], 9).piece(1, &longs(&[P, 9])).part(1, 1, b"password=");
    assert_eq!(vector.line_with(&NoNames, &options), r#"3, [{iov_base=""..., iov_len=9}], 1 = 9"#);
    assert_eq!(made("read", &[3, P, 1], 0).line_with(&NoNames, &options), r#"3, "", 1 = 0"#);
}

#[test]
fn vectored_calls_show_their_buffers_without_data() {
    let array = longs(&[P, 3, P, 10]);
    let call = made("writev", &[1, P, 2], 13).piece(1, &array);
    assert_eq!(call.line(), r#"1, [{iov_base=""..., iov_len=3}, {iov_base=""..., iov_len=10}], 2 = 13"#);
    let call = made("readv", &[1, P, 2], 4).piece(1, &array).part(1, 1, b"abc").part(1, 2, b"d");
    assert_eq!(call.line(), r#"1, [{iov_base="abc", iov_len=3}, {iov_base="d", iov_len=10}], 2 = 4"#);
    let header = longs(&[P, 16, P, 1, 0, 0, 0]);
    let mut address = vec![2, 0, 0, 53];
    address.extend([10, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]);
    let call = made("sendmsg", &[5, P, 0x4000], 4).piece(1, &header).part(1, 1, &address).part(
        1,
        2,
        &longs(&[P, 4]),
    );
    assert_eq!(
        call.line(),
        "5, {msg_name={sa_family=AF_INET, sin_port=htons(53), sin_addr=inet_addr(\"10.0.0.1\")}, msg_namelen=16, \
         msg_iov=[{iov_base=\"\"..., iov_len=4}], msg_iovlen=1, msg_controllen=0, msg_flags=0}, MSG_NOSIGNAL = 4"
    );
    let many = made("sendmmsg", &[5, P, 2, 0], 2).piece(1, &longs(&[0, 0, 0, 0, 0, 0, 0]));
    assert!(many.line().starts_with("5, [{msg_hdr={msg_name=NULL"));
    assert!(many.line().ends_with("}, ...], 2, 0 = 2"));
}

#[test]
fn calls_that_did_not_return() {
    let mut call = made("read", &[0, P, 1], 0);
    call.flags = RawFlags::NO_EXIT;
    assert_eq!(call.line(), "0, 0x7ffc00001000, 1 = ?");
    let text = call.text();
    let event = text.to_call(&call.raw(), Clock { offset: 5 }, SourceId(1), 9);
    assert!(event.flags.contains(CallFlags::END_NOT_SEEN));
    assert_eq!((event.ts, event.ret, event.cpu), (Timestamp::new(1_005), Ret::Unknown, None));
    assert_eq!((event.syscall, event.name, event.line), (Syscall::READ, &b"read"[..], 9));
    let restarted = made("nanosleep", &[P, P], -516).piece(0, &longs(&[1, 0])).piece(1, &longs(&[0, 5]));
    assert_eq!(
        restarted.line(),
        "{tv_sec=1, tv_nsec=0}, {tv_sec=0, tv_nsec=5} = ? ERESTART_RESTARTBLOCK (Interrupted by signal)"
    );
    assert_eq!(restarted.text().ret, Ret::Unknown);
}

#[test]
fn polls_say_what_they_found() {
    let fds = [words(&[5, 1]), words(&[6, 1 | 1 << 16])].concat();
    assert_eq!(
        made("poll", &[P, 2, 1000], 1).piece(0, &fds).line(),
        "[{fd=5, events=POLLIN}, {fd=6, events=POLLIN}], 2, 1000 = 1 ([{fd=6, revents=POLLIN}])"
    );
    assert_eq!(
        made("poll", &[P, 1, 0], 0).piece(0, &words(&[5, 1])).line(),
        "[{fd=5, events=POLLIN}], 1, 0 = 0 (Timeout)"
    );
    let ppoll =
        made("ppoll", &[P, 2, P, 0, 8], 1).piece(2, &longs(&[1, 0])).piece(0, &fds).piece(2, &longs(&[0, 7]));
    assert_eq!(
        ppoll.line(),
        "[{fd=5, events=POLLIN}, {fd=6, events=POLLIN}], 2, {tv_sec=1, tv_nsec=0}, NULL, 8 = 1 \
         ([{fd=6, revents=POLLIN}], left {tv_sec=0, tv_nsec=7})"
    );
    let select = made("select", &[6, P, 0, 0, P], 1)
        .piece(1, &[0b101000, 0, 0, 0, 0, 0])
        .piece(4, &longs(&[1, 0]))
        .piece(1, &[0b100000, 0, 0, 0, 0, 0])
        .piece(4, &longs(&[0, 9]));
    assert_eq!(
        select.line(),
        "6, [3 5], NULL, NULL, {tv_sec=1, tv_usec=0} = 1 (in [5], left {tv_sec=0, tv_usec=9})"
    );
    let mut events = words(&[1, 9, 0]);
    events.extend(words(&[0x2011, 7, 1]));
    assert_eq!(
        made("epoll_wait", &[4, P, 128, -1i64 as u64], 2).piece(1, &events).line(),
        "4, [{events=EPOLLIN, data={u32=9, u64=9}}, {events=EPOLLIN|EPOLLHUP|EPOLLRDHUP, \
         data={u32=7, u64=4294967303}}], 128, -1 = 2"
    );
    assert_eq!(made("epoll_wait", &[4, P, 128, 0], 0).line(), "4, [], 128, 0 = 0");
}

#[test]
fn the_owner_of_a_mutex_is_a_hint_beside_the_text() {
    let wait = |word: u32, owner: u32, value: u64| {
        made("futex", &[P, 128, value, 0, 0, 0], 0).piece(0, &words(&[word, 1, owner, 1])).text()
    };
    let contended = wait(2, 4711, 2);
    assert_eq!(contended.args, b"0x7ffc00001000, FUTEX_WAIT_PRIVATE, 2, NULL");
    assert_eq!(contended.futex_owner, Some(4711));
    // Not a mutex; not contended; no owner; no thread's number.
    for (word, owner, value) in [(593, 4711, 593), (1, 4711, 2), (2, 0, 2), (2, u32::MAX, 2)] {
        assert_eq!(wait(word, owner, value).futex_owner, None);
    }
    let inheriting =
        made("futex", &[P, 134, 0, 0, 0, 0], 0).piece(0, &words(&[0x8000_0000 | 33, 0, 0, 0])).text();
    assert_eq!(inheriting.futex_owner, Some(33));
}

#[test]
fn names_stand_behind_descriptors() {
    struct Some3;
    impl Names for Some3 {
        fn fd(&self, pid: u32, fd: i32) -> Option<Cow<'_, str>> {
            match (pid, fd) {
                (7, 3) => Some("/etc/a<b>\n".into()),
                (7, -100) => Some("/root".into()),
                _ => None,
            }
        }
    }
    let options = PrintOptions { fd_names: true, ..PrintOptions::default() };
    assert_eq!(
        made("openat", &[-100i64 as u64, P, 0], 3).piece(1, b"a<b>\n").line_with(&Some3, &options),
        "AT_FDCWD</root>, \"a<b>\\n\", O_RDONLY = 3</etc/a<b>\\n>"
    );
    assert_eq!(made("close", &[4], 0).line_with(&Some3, &options), "4 = 0");
}

#[test]
fn numbers_outside_the_table() {
    let mut call = made("read", &[1, 2, 3], -38);
    call.nr = 600;
    assert_eq!(call.text().name(), b"syscall_0x258");
    assert_eq!(call.line(), "0x1, 0x2, 0x3, 0, 0, 0 = -1 ENOSYS (Function not implemented)");
    call.nr = 3;
    call.flags = RawFlags::COMPAT;
    assert_eq!((call.text().name(), call.text().syscall), (&b"compat_syscall_0x3"[..], Syscall::UNLISTED));
}

#[test]
fn every_call_of_the_table_prints_all_it_has() {
    for row in table::rows() {
        let call = made(row.name, &vec![0x10; row.args.len()], 1);
        let text = call.text();
        assert_eq!(text.syscall.info().name, row.name);
        let shown = whyslow_model::text::arguments(&text.args).count();
        let least = usize::from(!row.args.is_empty());
        assert!(
            (least..=row.args.len()).contains(&shown),
            "{}: {}",
            row.name,
            String::from_utf8_lossy(&text.args)
        );
    }
}

/// Registers as programs fill them, and as nobody should.
fn register() -> impl Strategy<Value = u64> {
    prop_oneof![0..40u64, any::<u64>(), Just(u64::MAX), any::<u32>().prop_map(u64::from), Just(P)]
}

fn memory() -> impl Strategy<Value = Vec<u8>> {
    let piece = (0..6u8, 0..16u8, prop::collection::vec(any::<u8>(), 0..1100), any::<bool>(), 0..10u8);
    let pieces = prop::collection::vec(piece, 0..12).prop_map(|pieces| {
        let mut memory = Vec::new();
        for (arg, part, bytes, cut, fault) in &pieces {
            // Most pieces are part 0, as those of most calls are.
            let part = if *part < 8 { 0 } else { part - 8 };
            push_piece(
                &mut memory,
                MemoryPiece { arg: *arg, part, bytes, cut: *cut, fault: *fault == 0, reduced: false },
            );
        }
        memory
    });
    prop_oneof![4 => pieces, 1 => prop::collection::vec(any::<u8>(), 0..2000)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn any_call_is_survived_and_bounded(
        nr in 0..480u16,
        args in prop::array::uniform6(register()),
        ret in prop_oneof![-600..600i64, any::<i64>()],
        flags in 0..32u8,
        memory in memory(),
        string_limit in prop_oneof![Just(32usize), Just(256), Just(usize::MAX)],
        reduced in any::<bool>(),
    ) {
        let call = Made { nr, args, ret, flags: RawFlags(flags), memory };
        let mut text = CallText::default();
        let payload = if reduced { Payload::Reduced } else { Payload::AsItIs };
        let options = PrintOptions { string_limit, fd_names: true, payload };
        print(&call.raw(), &NoNames, &options, &mut text);
        text.name_result(&call.raw(), &NoNames);
        prop_assert!(text.args.len() <= put::MAX_TEXT);
        prop_assert!(text.ret_note.len() <= put::MAX_TEXT);
        prop_assert!(text.args.is_ascii() && text.ret_note.is_ascii());
        let _ = text.to_call(&call.raw(), Clock { offset: u64::MAX }, SourceId(0), 1);
    }
}

/// `cargo test --release -p whyslow-record how_long -- --ignored --nocapture`
#[test]
#[ignore = "a measurement"]
fn how_long_a_call_takes() {
    let stat = [longs(&[1, 2, 1]), words(&[0o100644, 0, 0, 0]), longs(&[0, 1234])].concat();
    let calls = [
        made("read", &[3, P, 100], 20),
        made("openat", &[-100i64 as u64, P, 0x80000, 0], 3).piece(1, b"/usr/lib/x86_64-linux-gnu/libc.so.6"),
        made("fstat", &[3, P], 0).piece(1, &stat),
        made("futex", &[P, 128, 2, 0, 0, 0], 0).piece(0, &words(&[2, 1, 77, 1])),
        made("epoll_wait", &[4, P, 128, -1i64 as u64], 1).piece(1, &words(&[1, 9, 0])),
        made("mmap", &[0, 4096, 3, 0x22, u64::MAX, 0], P as i64),
        made("poll", &[P, 1, 1000], 1).piece(0, &words(&[6, 1 | 1 << 16])),
        made("close", &[3], 0),
    ];
    let mut text = CallText::default();
    for call in &calls {
        let raw = call.raw();
        let rounds = 1_000_000;
        let start = std::time::Instant::now();
        for _ in 0..rounds {
            print(std::hint::black_box(&raw), &NoNames, &PrintOptions::default(), &mut text);
            std::hint::black_box(&text);
        }
        let ns = start.elapsed().as_nanos() as f64 / rounds as f64;
        println!(
            "{:12} {ns:6.0} ns  {}",
            String::from_utf8_lossy(text.name()),
            String::from_utf8_lossy(&text.args)
        );
    }
}
