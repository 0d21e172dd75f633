//! HTTP/2 and gRPC as clients and servers speak them.

use super::*;
use crate::Connection;
use crate::conversation::{
    Said, check, check_kept, check_noise, direction, goes_on, noise, steps, steps_of_kept, text,
};
use proptest::prelude::*;

/// A client and a server of Python's grpcio 1.85: unary calls, one of which fails, a stream, and an unknown method.
#[rustfmt::skip]
pub(in crate::protocols) const GRPC: &[Said] = &[
    ('>', b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0$\x04\0\0\0\0\0\0\x02\0\0\0\0\0\x03\0\0\0\0\0\x04\0@\0\0\0\x05\0@\0\0\0\x06\0\0@\0\xfe\x03\0\0\0\x01\0\0\x04\x08\0\0\0\0\0\0?\0\x01"),
    ('<', b"\0\0\x18\x04\0\0\0\0\0\0\x04\0@\0\0\0\x05\0@\0\0\0\x06\0\0@\0\xfe\x03\0\0\0\x01\0\0\x04\x08\0\0\0\0\0\0?\0\x01\0\0\0\x04\x01\0\0\0\0"),
    ('>', b"\0\0\0\x04\x01\0\0\0\0"),
    ('>', b"\0\x016\x01\x04\0\0\0\x01@\x05:path\x0f/shop.Users/Get@\n:authority\x0e127.0.0.1:8192\x83\x86@\x0ccontent-type\x10application/grpc@\x02te\x08trailers@\x14grpc-accept-encoding\x17identity, deflate, gzip@\nuser-agent0grpc-python/1.85.1 grpc-c/58.0.0 (linux; chttp2)\0\x0btraceparent700-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\0\rauthorization\x16Bearer sekrettoken1234\0\0\x04\x08\0\0\0\0\x01\0\0\0\x05\0\0\x08\0\x01\0\0\0\x01\0\0\0\0\x03one\0\0\x04\x08\0\0\0\0\0\0\0\0\x05"),
    ('<', b"\0\0\x08\x06\0\0\0\0\0\xa2\xac\xa7\x80%K\x9cE"),
    ('>', b"\0\0\x08\x06\x01\0\0\0\0\xa2\xac\xa7\x80%K\x9cE"),
    ('<', b"\0\0N\x01\x04\0\0\0\x01\x88@\x0ccontent-type\x10application/grpc@\x14grpc-accept-encoding\x17identity, deflate, gzip\0\0\x12\0\0\0\0\0\x01\0\0\0\0\ranswer to one\0\0\x1e\x01\x05\0\0\0\x01@\x0bgrpc-status\x010\0\x0cgrpc-message\0\0\0\x04\x08\0\0\0\0\0\0\0\0\x08"),
    ('>', b"\0\0\x08\x06\0\0\0\0\0%\xec\x13\xd8nw44"),
    ('<', b"\0\0\x08\x06\x01\0\0\0\0%\xec\x13\xd8nw44"),
    ('>', b"\0\0s\x01\x04\0\0\0\x03\xc3\xc2\x83\x86\xc1\xc0\xbf\xbe\0\x0btraceparent700-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\0\rauthorization\x16Bearer sekrettoken1234\0\0\x04\x08\0\0\0\0\x03\0\0\0\x05\0\0\x08\0\x01\0\0\0\x03\0\0\0\0\x03two\0\0\x04\x08\0\0\0\0\0\0\0\0\x12"),
    ('<', b"\0\0\x03\x01\x04\0\0\0\x03\x88\xc0\xbf\0\0\x12\0\0\0\0\0\x03\0\0\0\0\ranswer to two\0\0\x10\x01\x05\0\0\0\x03\xbe\0\x0cgrpc-message\0\0\0\x04\x08\0\0\0\0\0\0\0\0\x08"),
    ('>', b"\0\0s\x01\x04\0\0\0\x05\xc3\xc2\x83\x86\xc1\xc0\xbf\xbe\0\x0btraceparent700-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\0\rauthorization\x16Bearer sekrettoken1234\0\0\x04\x08\0\0\0\0\x05\0\0\0\x05\0\0\x0c\0\x01\0\0\0\x05\0\0\0\0\x07missing\0\0\x04\x08\0\0\0\0\0\0\0\0\x12"),
    ('<', b"\0\0D\x01\x05\0\0\0\x05\x88\xc0@\x0bgrpc-status\x015\0\x0cgrpc-message\x13no such user sekret\0\x08x-secret\x06sekret\0\0\x04\x08\0\0\0\0\0\0\0\0\x0c"),
    ('>', b"\0\0\x1f\x01\x04\0\0\0\x07@\x05:path\x10/shop.Users/List\xc3\x83\x86\xc2\xc1\xc0\xbf\0\0\x08\0\x01\0\0\0\x07\0\0\0\0\x03all"),
    ('<', b"\0\0\x03\x01\x04\0\0\0\x07\x88\xc1\xc0\0\0\x0b\0\0\0\0\0\x07\0\0\0\0\x06part 0\0\0\x04\x08\0\0\0\0\0\0\0\0\x08"),
    ('<', b"\0\0\x0b\0\0\0\0\0\x07\0\0\0\0\x06part 1"),
    ('<', b"\0\0\x0b\0\0\0\0\0\x07\0\0\0\0\x06part 2\0\0\x10\x01\x05\0\0\0\x07\xbf\0\x0cgrpc-message\0"),
    ('>', b"\0\0\"\x01\x04\0\0\0\t@\x05:path\x13/shop.Users/Nothing\xc4\x83\x86\xc3\xc2\xc1\xc0\0\0\x04\x08\0\0\0\0\t\0\0\0\x05\0\0\x06\0\x01\0\0\0\t\0\0\0\0\x01x\0\0\x04\x08\0\0\0\0\0\0\0\0!"),
    ('<', b"\0\x002\x01\x05\0\0\0\t\x88\xc1@\x0bgrpc-status\x0212\0\x0cgrpc-message\x11Method not found!\0\0\x04\x08\0\0\0\0\0\0\0\0\x06"),
    ('>', b"\0\0\x08\x01\x04\0\0\0\x0b\xc5\xc4\x83\x86\xc3\xc2\xc1\xc0\0\0\x04\x08\0\0\0\0\x0b\0\0\0\x05\0\0\n\0\x01\0\0\0\x0b\0\0\0\0\x05three"),
    ('<', b"\0\0\x03\x01\x04\0\0\0\x0b\x88\xc2\xc1\0\0\x14\0\0\0\0\0\x0b\0\0\0\0\x0fanswer to three\0\0\x10\x01\x05\0\0\0\x0b\xc0\0\x0cgrpc-message\0\0\0\x04\x08\0\0\0\0\0\0\0\0\n"),
];

/// curl 7.88 with prior knowledge, and nginx 1.22.
#[rustfmt::skip]
pub(in crate::protocols) const CURL: &[Said] = &[
    ('>', b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\x12\x04\0\0\0\0\0\0\x03\0\0\0d\0\x04\x02\0\0\0\0\x02\0\0\0\0\0\0\x04\x08\0\0\0\0\0\x01\xff\0\x01\0\0\x86\x01\x05\0\0\0\x01\x82\x04\x90b\xd4\x16\xc40\x11\x7f\x89?R\xd5\x02\x0b\xd6\xc2\xa7\x86A\x8a\x08\x9d\\\x0b\x81p\xdcx/\x87z\x88%\xb6P\xc3\xab\xbc\xf2\xe1S\x03*/*\x1f\x08\x90\xbaQ\xd8[\x14Az\xd8T\xa4\xfdKPD\xcb_@\x87\xf2\xb0\xeb2\xddK\xeb\x88Az\xd8T\xf5/\xa7\xdf@\x88M\x83!k\x1d\x85\xa9?\xa7\0\x16j9_\x14\xac\xb6\xeb\xb1\xb2\xd4\x83pl\x90\xaf\x89\xf9\0P\x15\xa7Yq`\x02P8\xe8\xc6\x08\xc6\xf8\x05\x1b\xab\0?"),
    ('<', b"\0\0\x12\x04\0\0\0\0\0\0\x03\0\0\0\x80\0\x04\0\x01\0\0\0\x05\0\xff\xff\xff\0\0\x04\x08\0\0\0\0\0\x7f\xff\0\0\0\0\0\x04\x01\0\0\0\0\0\x001\x01\x04\0\0\0\x01\x88v\x89\xaacU\xe5\x80\xae!.\x1fa\x96\xddm_J\x08Ji?u\x04\x018\xa0\x1a\xb8\x07\xae6\xda\x98\xb4o_\x87I|\xa5\x8a\xe8\x19\xaa\\\x0211\0\0\x0b\0\x01\0\0\0\x01hello user\n"),
    ('>', b"\0\0\0\x04\x01\0\0\0\0"),
];

/// curl 7.88 asks Hypercorn 0.18 to change from HTTP/1.1, and asks once more.
#[rustfmt::skip]
pub(in crate::protocols) const UPGRADE: &[Said] = &[
    ('>', b"GET /users/7 HTTP/1.1\r\nHost: 127.0.0.1:8193\r\nUser-Agent: curl/7.88.1\r\nAccept: */*\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA\r\n\r\n"),
    ('<', b"HTTP/1.1 101 \r\ndate: Sun, 22 Nov 2026 04:09:01 GMT\r\nserver: hypercorn-h11\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n\0\0*\x04\0\0\0\0\0\0\x01\0\0\x10\0\0\x02\0\0\0\0\0\x04\0\0\xff\xff\0\x05\0\0@\0\0\x08\0\0\0\x01\0\x03\0\0\0d\0\x06\0\x01\0\0"),
    ('<', b"\0\0-\x01\x04\0\0\0\x01\x88_\x87I|\xa5\x8a\xe8\x19\xaaa\x96\xddm_J\x08Ji?u\x04\x018\xa0\x1a\xb8\x07\xee\0*b\xd1\xbfv\x89\x9f\xd5e\xb0\x87\xb2\xa5\xa7\x17"),
    ('<', b"\0\0\x02\0\0\0\0\0\x01hi"),
    ('<', b"\0\0\0\0\x01\0\0\0\x01"),
    ('>', b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\x12\x04\0\0\0\0\0\0\x03\0\0\0d\0\x04\x02\0\0\0\0\x02\0\0\0\0\0\0\0\x04\x01\0\0\0\0\0\0\x04\x08\0\0\0\0\0\x01\xff\0\x01"),
    ('>', b"\0\0\x04\x03\0\0\0\0\x01\0\0\0\x05\0\0&\x01\x05\0\0\0\x03?\xe1\x1f\x82\x04\x84bR\x96O\x86A\x8a\x08\x9d\\\x0b\x81p\xdcx/\xb3z\x88%\xb6P\xc3\xab\xbc\xf2\xe1S\x03*/*"),
    ('<', b"\0\0\0\x04\x01\0\0\0\0"),
    ('<', b"\0\0\x04\x01\x04\0\0\0\x03\x88\xc0\xbf\xbe"),
    ('<', b"\0\0\x02\0\0\0\0\0\x03hi"),
    ('<', b"\0\0\0\0\x01\0\0\0\x03"),
];

/// The steps that say what was asked and what became of it.
fn told(said: &[Said]) -> Vec<String> {
    steps(&HTTP2, said).into_iter().filter(|step| !goes_on(step)).collect()
}

/// The same of a whole connection, which may change its protocol.
fn told_of_connection(said: &[Said]) -> Vec<String> {
    let mut connection = Connection::new(None);
    let mut all = Vec::new();
    for (way, bytes) in said {
        let chunk = Chunk { head: bytes, len: bytes.len() as u64 };
        connection.take(direction(*way), chunk, &mut |step| all.push(text(&step)));
    }
    all.retain(|step| !goes_on(step));
    all
}

#[test]
fn unary_calls_and_streams_of_grpc() {
    assert_eq!(
        told(GRPC),
        [
            "0 asked /shop.Users/Get",
            "0 answered OK",
            "0 done",
            "1 asked /shop.Users/Get",
            "1 answered OK",
            "1 done",
            "2 asked /shop.Users/Get",
            "2 answered !NOT_FOUND",
            "2 done",
            "3 asked /shop.Users/List",
            "3 answered OK",
            "3 done",
            "4 asked /shop.Users/Nothing",
            "4 answered !UNIMPLEMENTED",
            "4 done",
            "5 asked /shop.Users/Get",
            "5 answered OK",
            "5 done"
        ]
    );
}

#[test]
fn curl_and_nginx() {
    assert_eq!(told(CURL), ["0 asked GET /users/{id}", "0 answered 200", "0 done"]);
    let mut decoder = Http2::default();
    let mut asked = None;
    for (way, bytes) in CURL {
        let chunk = Chunk { head: bytes, len: bytes.len() as u64 };
        decoder.take(direction(*way), chunk, &mut |step| {
            if let Step::Asked(_, request) = step {
                asked = Some(request);
            }
        });
    }
    let asked = asked.unwrap();
    assert_eq!(asked.detail, "GET /users/12");
    assert_eq!(asked.host.as_deref(), Some("127.0.0.1:8191"));
    assert_eq!(asked.trace_id.as_deref(), Some("4bf92f3577b34da6a3ce929d0e0e4736"));
}

#[test]
fn an_upgraded_connection_goes_on() {
    let expected = [
        "0 asked GET /users/{id}",
        "0 answered 200",
        "0 done",
        "1 asked GET /feed",
        "1 answered 200",
        "1 done",
    ];
    assert_eq!(told_of_connection(UPGRADE), expected);
    let reduced: Vec<_> = UPGRADE
        .iter()
        .map(|(way, bytes)| {
            let mut kept = Vec::new();
            crate::reduce(bytes, None, &mut kept);
            (*way, kept, bytes.len() as u64)
        })
        .collect();
    let mut connection = Connection::new(None);
    let mut all = Vec::new();
    for (way, head, len) in &reduced {
        connection.take(direction(*way), Chunk { head, len: *len }, &mut |step| all.push(text(&step)));
    }
    // Frames behind the head of HTTP/1.1 are not kept.
    all.retain(|step| !goes_on(step) && step != "0 unclear");
    assert_eq!(all, expected);
}

#[test]
fn chunks_make_no_difference() {
    check(&HTTP2, GRPC);
    check(&HTTP2, CURL);
}

#[test]
fn what_may_be_kept_tells_the_same() {
    for said in [GRPC, CURL] {
        let kept = steps_of_kept(&HTTP2, said);
        assert_eq!(kept.into_iter().filter(|step| !goes_on(step)).collect::<Vec<_>>(), told(said));
        for secret in [&b"sekret"[..], b"token1234", b"no such"] {
            check_kept(&HTTP2, said, secret);
        }
    }
}

#[test]
fn what_was_said_before_the_capture_is_unknown() {
    // From the second call on: its path is an index.
    let from = GRPC.iter().position(|(_, bytes)| bytes[3] == HEADERS && bytes[8] == 3).unwrap();
    let told = told_of_connection(&GRPC[from..]);
    assert_eq!(
        told,
        [
            "0 asked unknown",
            "0 answered 200",
            "0 done",
            "1 asked unknown",
            "1 answered 200",
            "1 done",
            // It spells its path out; what its content is was said before.
            "2 asked POST /shop.Users/List",
            "2 answered 200",
            "2 done",
            "3 asked POST /shop.Users/Nothing",
            "3 answered 200",
            "3 done",
            "4 asked unknown",
            "4 answered 200",
            "4 done"
        ]
    );
}

/// A frame.
fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let [_, a, b, c] = (payload.len() as u32).to_be_bytes();
    [&[a, b, c, kind, flags], &stream.to_be_bytes()[..], payload].concat()
}

/// `GET` of a path that is added to the table.
fn get(stream: u32, path: &str) -> Vec<u8> {
    let block = [&[0x82, 0x86, 0x44, path.len() as u8], path.as_bytes()].concat();
    frame(HEADERS, END_STREAM | END_HEADERS, stream, &block)
}

/// The steps of chunks of which so much is there.
fn told_of(chunks: &[(char, &[u8], u64)]) -> Vec<String> {
    let mut decoder = Http2::default();
    let mut all = Vec::new();
    for (way, head, len) in chunks {
        decoder.take(direction(*way), Chunk { head, len: *len }, &mut |step| all.push(text(&step)));
    }
    all
}

#[test]
fn after_a_block_that_is_cut_nothing_is_known_of_the_table() {
    let again = frame(HEADERS, END_STREAM | END_HEADERS, 5, &[0x82, 0xbe]);
    let (first, second, third) = (get(1, "/a"), get(3, "/b/and/more"), get(7, "/d"));
    let all = |bytes: &[u8]| bytes.len() as u64;
    assert_eq!(
        told_of(&[('>', &first, all(&first)), ('>', &again, all(&again))]),
        ["0 asked GET /a", "1 asked GET /a"]
    );
    let cut = &second[..second.len() - 4];
    assert_eq!(
        told_of(&[('>', &first, all(&first)), ('>', cut, all(&second)), ('>', &again, all(&again))]),
        ["0 asked GET /a", "1 asked GET /b/and/…", "2 asked unknown"]
    );
    let later = frame(HEADERS, END_STREAM | END_HEADERS, 9, &[0x82, 0xbe]);
    let much = [&first[..], &third].concat();
    let seen = [('>', cut, all(&second)), ('>', &much[..], all(&much)), ('>', &later, all(&later))];
    assert_eq!(
        told_of(&seen),
        ["0 asked GET /b/and/…", "1 asked GET /a", "2 asked GET /d", "3 asked GET /d"]
    );
}

#[test]
fn blocks_in_several_frames_padding_and_priority() {
    let block = [&[0x82, 0x44, 6][..], b"/users"].concat();
    let padded = [&[3, 0, 0, 0, 0, 16][..], &block[..5], &[0; 3]].concat();
    let said = [
        PREFACE.to_vec(),
        frame(HEADERS, END_STREAM | PADDED | HAS_PRIORITY, 1, &padded),
        frame(CONTINUATION, 0, 1, &block[5..7]),
        frame(CONTINUATION, END_HEADERS, 1, &block[7..]),
        frame(HEADERS, END_STREAM | END_HEADERS, 3, &[0x82, 0xbe]),
    ]
    .concat();
    assert_eq!(told_of(&[('>', &said, said.len() as u64)]), ["0 asked GET /users", "1 asked GET /users"]);
    // The end of the block never comes.
    let torn = [frame(HEADERS, 0, 1, &block[..2]), frame(HEADERS, END_HEADERS, 3, &[0x82, 0xbe])].concat();
    assert_eq!(told_of(&[('>', &torn, torn.len() as u64)]), ["0 asked unknown", "1 asked unknown"]);
}

#[test]
fn streams_that_are_reset_or_refused() {
    let asked = [get(1, "/a"), get(3, "/b"), get(5, "/c")].concat();
    let reset = frame(RST_STREAM, 0, 1, &[0, 0, 0, 8]);
    let away = frame(GOAWAY, 0, 0, &[0, 0, 0, 3, 0, 0, 0, 11, b'b', b'y', b'e']);
    let steps = told_of(&[('>', &asked, asked.len() as u64), ('>', &reset, 13), ('<', &away, 20)]);
    assert_eq!(
        steps[3..],
        ["0 answered !RST_STREAM CANCEL", "0 done", "2 answered !GOAWAY ENHANCE_YOUR_CALM", "2 done"]
    );
}

#[test]
fn bodies_are_skipped_and_what_is_missed_is_unclear() {
    let asked = [get(1, "/a"), get(3, "/b")].concat();
    let answer =
        [frame(HEADERS, END_HEADERS, 1, &[0x88]), vec![0, 0x40, 0, DATA, END_STREAM, 0, 0, 0, 1]].concat();
    let len = answer.len() as u64;
    let asks = ('>', &asked[..], asked.len() as u64);
    let ended = ["0 asked GET /a", "1 asked GET /b", "0 answered 200", "0 answers", "0 done"];
    let (half, rest) = (len + 8_000, 16_384 - 8_000);
    let seen = [asks, ('<', &answer[..], half), ('<', &b""[..], rest)];
    assert_eq!(told_of(&seen), ended);
    // Frames behind it were not kept.
    let mut missed = ended[..3].to_vec();
    missed.extend(["0 done", "1 unclear"]);
    assert_eq!(told_of(&[asks, ('<', &answer[..], len + 20_000)]), missed);
}

proptest! {
    #[test]
    fn any_noise_is_survived(noise in noise()) {
        check_noise(&HTTP2, GRPC, &noise);
        check_noise(&HTTP2, CURL, &noise);
    }
}
