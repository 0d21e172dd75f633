//! HTTP/2 (RFC 9113) and gRPC over it: requests by the number of their stream.
//!
//! Frames tell their length, so that bodies are skipped. The blocks of header fields build on each other ([`hpack`]): what a
//! block says by an index into what the capture does not have stays unknown. A request of gRPC is its method; its
//! status comes behind its answer, in the trailers.

mod grpc;
mod hpack;
mod huffman;
mod reduce;
mod sniff;
#[cfg(test)]
pub(super) mod tests;

use super::http;
use crate::framer::{Framer, Messages, Piece};
use crate::pairing::Pairing;
use crate::text::{CUT, path_end, route_template, without_tokens};
use crate::turn::{Out, failed};
use crate::{Chunk, Decoder, Direction, Key, Protocol, Request, Status, Step};
use hpack::{Field, Table};

/// HTTP/2 without TLS, as gRPC inside a cluster mostly is.
pub(super) static HTTP2: Protocol = Protocol {
    name: "HTTP/2",
    ports: &[50051, 2379],
    sniff: sniff::sniff,
    decoder: || Box::new(Http2::default()),
    reduce: reduce::reduce,
};

/// The endpoint of a request whose path is not in the capture.
const UNKNOWN: &str = "unknown";

/// What a client says before its first frame (RFC 9113, 3.4).
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// Bytes of a frame's header: length, type, flags, stream.
const HEADER: usize = 9;

// Types of frames (RFC 9113, 6).
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const PRIORITY: u8 = 2;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PUSH_PROMISE: u8 = 5;
const PING: u8 = 6;
const GOAWAY: u8 = 7;
const WINDOW_UPDATE: u8 = 8;
const CONTINUATION: u8 = 9;

// Their flags.
const END_STREAM: u8 = 1;
const ACK: u8 = 1;
const END_HEADERS: u8 = 4;
const PADDED: u8 = 8;
const HAS_PRIORITY: u8 = 0x20;

/// A frame's header.
#[derive(Clone, Copy, Debug)]
struct Frame {
    /// Bytes behind the header.
    len: usize,
    kind: u8,
    flags: u8,
    stream: u32,
}

impl Frame {
    fn read(bytes: &[u8]) -> Option<Frame> {
        let [a, b, c, kind, flags, s0, s1, s2, s3, ..] = *bytes else { return None };
        Some(Frame {
            len: u32::from_be_bytes([0, a, b, c]) as usize,
            kind,
            flags,
            // The highest bit means nothing.
            stream: u32::from_be_bytes([s0 & 0x7f, s1, s2, s3]),
        })
    }

    fn has(self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    fn end_of_stream(self) -> bool {
        matches!(self.kind, DATA | HEADERS) && self.has(END_STREAM)
    }

    /// The part of a block that a frame has, with whether all of it is here; `payload` is what is here of the frame
    /// behind its header.
    fn fragment(self, payload: &[u8]) -> Option<(&[u8], bool)> {
        let has_padding = self.kind != CONTINUATION && self.has(PADDED);
        let padding = if has_padding { usize::from(*payload.first()?) } else { 0 };
        let before = usize::from(has_padding)
            + match self.kind {
                HEADERS if self.has(HAS_PRIORITY) => 5,
                PUSH_PROMISE => 4,
                _ => 0,
            };
        let end = self.len.checked_sub(padding)?;
        let fragment = payload.get(before..end.min(payload.len()))?;
        Some((fragment, payload.len() >= end))
    }
}

/// Names of errors (RFC 9113, 7).
const ERRORS: [&str; 14] = [
    "NO_ERROR",
    "PROTOCOL_ERROR",
    "INTERNAL_ERROR",
    "FLOW_CONTROL_ERROR",
    "SETTINGS_TIMEOUT",
    "STREAM_CLOSED",
    "FRAME_SIZE_ERROR",
    "REFUSED_STREAM",
    "CANCEL",
    "COMPRESSION_ERROR",
    "CONNECT_ERROR",
    "ENHANCE_YOUR_CALM",
    "INADEQUATE_SECURITY",
    "HTTP_1_1_REQUIRED",
];

/// `RST_STREAM CANCEL`
fn ended_by(what: &str, code: Option<&[u8; 4]>) -> Status {
    let code = code.map(|code| u32::from_be_bytes(*code));
    match code.map(|code| (code, ERRORS.get(code as usize))) {
        Some((_, Some(name))) => failed(format!("{what} {name}")),
        Some((code, None)) => failed(format!("{what} {code:#x}")),
        None => failed(what.to_owned()),
    }
}

#[derive(Default)]
pub(super) struct Http2 {
    framers: [Framer; 2],
    state: State,
}

impl Http2 {
    /// Goes on on a connection of HTTP/1.1 whose open request becomes the first stream (RFC 7540, 3.2).
    pub(super) fn upgraded<T>(pairing: Pairing<T>) -> Http2 {
        let pairing = pairing.hand_over(|_| Stream { number: 1, is_answered: false, is_grpc: false });
        Http2 { state: State { pairing, ..State::default() }, ..Http2::default() }
    }
}

impl Decoder for Http2 {
    fn take(&mut self, direction: Direction, chunk: Chunk<'_>, out: &mut dyn FnMut(Step)) {
        self.state.told = None;
        let mut told = Told { state: &mut self.state, direction, out };
        self.framers[direction as usize].take(chunk, &mut told);
    }
}

#[derive(Default)]
struct State {
    pairing: Pairing<Stream>,
    ways: [Way; 2],
    /// The request of which a step was told last in this chunk.
    told: Option<Key>,
}

/// One direction.
#[derive(Default)]
struct Way {
    table: Table,
    /// A block that goes on in the next frame.
    block: Option<Block>,
    /// To whom the bytes of the present frame belong.
    current: Option<Key>,
    /// It is over with the present frame.
    ends: bool,
}

/// A block of header fields.
struct Block {
    frame: Frame,
    bytes: Vec<u8>,
    is_whole: bool,
}

impl Block {
    /// Bytes of a block that are read: what servers accept.
    const MAX: usize = 64 << 10;
}

/// A request.
struct Stream {
    number: u32,
    is_answered: bool,
    is_grpc: bool,
}

struct Told<'a, 'o> {
    state: &'a mut State,
    direction: Direction,
    out: Out<'o>,
}

impl Messages for Told<'_, '_> {
    const HEADER: usize = HEADER;

    fn length(&mut self, head: &[u8], is_resync: bool) -> Option<u64> {
        if head.starts_with(&PREFACE[..HEADER]) {
            return Some(PREFACE.len() as u64);
        }
        let frame = Frame::read(head).filter(|frame| !is_resync || sniff::is_sound(*frame))?;
        Some((HEADER + frame.len) as u64)
    }

    /// A block is of use as a whole; of the rest the first bytes are all that matters.
    fn enough(&self, head: &[u8]) -> usize {
        match head.get(3) {
            Some(&(HEADERS | PUSH_PROMISE | CONTINUATION)) => Block::MAX,
            Some(&(RST_STREAM | GOAWAY)) => HEADER + 8,
            _ => HEADER,
        }
    }

    fn piece(&mut self, piece: Piece<'_>) {
        match piece {
            Piece::Message { head, .. } if head.starts_with(&PREFACE[..HEADER]) => {}
            Piece::Message { head, ends, .. } => {
                if let Some(frame) = Frame::read(head) {
                    self.frame(frame, &head[HEADER..], ends);
                }
            }
            Piece::Rest { ends } => {
                let way = &self.state.ways[self.direction as usize];
                let (key, over) = (way.current, way.ends && ends);
                if let Some(key) = key {
                    self.go_on(key);
                    if over {
                        self.end(key);
                    }
                }
            }
            Piece::Lost => self.lose(),
        }
    }
}

impl Told<'_, '_> {
    fn way(&mut self) -> &mut Way {
        &mut self.state.ways[self.direction as usize]
    }

    /// Frames were missed.
    fn lose(&mut self) {
        let way = self.way();
        way.table.forget();
        (way.block, way.current) = (None, None);
        if self.direction == Direction::Response {
            // Answers may have been among them.
            for (key, stream) in self.state.pairing.iter() {
                if !stream.is_answered {
                    (self.out)(Step::Unclear(key));
                }
            }
        }
    }

    fn find(&mut self, stream: u32) -> Option<(Key, &mut Stream)> {
        self.state.pairing.find(|open| open.number == stream)
    }

    /// A frame, of whose payload the first bytes are here. `ends`: its last byte is in this chunk.
    fn frame(&mut self, frame: Frame, payload: &[u8], ends: bool) {
        let way = self.way();
        (way.current, way.ends) = (None, frame.end_of_stream());
        if frame.kind != CONTINUATION
            && let Some(block) = way.block.take()
        {
            // A block is in one piece (RFC 9113, 6.10): its end was missed.
            self.fields(block.frame, &block.bytes, false);
            self.way().current = None;
        }
        match frame.kind {
            DATA => {
                if let Some((key, _)) = self.find(frame.stream) {
                    self.way().current = Some(key);
                    self.go_on(key);
                    if ends && frame.end_of_stream() {
                        self.end(key);
                    }
                }
            }
            HEADERS | PUSH_PROMISE | CONTINUATION => {
                self.block(frame, payload);
                if ends
                    && self.way().ends
                    && let Some(key) = self.way().current
                {
                    self.end(key);
                }
            }
            RST_STREAM => {
                if let Some((key, open)) = self.find(frame.stream) {
                    if !open.is_answered || payload.first_chunk() != Some(&[0; 4]) {
                        self.tell(key, Some(ended_by("RST_STREAM", payload.first_chunk())));
                    }
                    self.done(key);
                }
            }
            GOAWAY if self.direction == Direction::Response => {
                let Some(last) = payload.first_chunk().map(|last| u32::from_be_bytes(*last) & 0x7fff_ffff)
                else {
                    return;
                };
                // What came behind that one was not looked at (RFC 9113, 6.8).
                let code = payload.get(4..).and_then(|code| code.first_chunk());
                while let Some(key) = self.state.pairing.find(|open| open.number > last).map(|(key, _)| key) {
                    self.tell(key, Some(ended_by("GOAWAY", code)));
                    self.done(key);
                }
            }
            _ => {}
        }
    }

    /// A block begins or goes on.
    fn block(&mut self, frame: Frame, payload: &[u8]) {
        let way = self.way();
        let (fragment, is_whole) = frame.fragment(payload).unwrap_or((b"", false));
        let block = match way.block.take() {
            // All of it in one frame, as nearly all are.
            // What it goes on was missed.
            None if frame.kind == CONTINUATION => return way.table.forget(),
            None if frame.has(END_HEADERS) || !is_whole => return self.fields(frame, fragment, is_whole),
            None => Block { frame, bytes: fragment.to_vec(), is_whole },
            Some(mut block) => {
                let room = Block::MAX.saturating_sub(block.bytes.len());
                block.bytes.extend_from_slice(&fragment[..fragment.len().min(room)]);
                block.is_whole &= is_whole && fragment.len() <= room;
                block
            }
        };
        if frame.has(END_HEADERS) || !block.is_whole {
            way.ends = block.frame.end_of_stream();
            return self.fields(block.frame, &block.bytes, block.is_whole);
        }
        (way.block, way.ends) = (Some(block), false);
    }

    /// The fields of a block, or of its beginning.
    fn fields(&mut self, frame: Frame, block: &[u8], is_whole: bool) {
        let mut fields = Fields::default();
        self.way().table.read(block, is_whole, |field, value, is_cut| fields.take(field, value, is_cut));
        // What a server promises has an even number.
        if frame.kind == PUSH_PROMISE || frame.stream.is_multiple_of(2) {
            return;
        }
        let known = self.find(frame.stream).map(|(key, _)| key);
        match (self.direction, known) {
            (Direction::Request, None) => {
                let stream = Stream { number: frame.stream, is_answered: false, is_grpc: fields.is_grpc };
                let key = self.state.pairing.ask(stream);
                self.way().current = Some(key);
                self.state.told = Some(key);
                (self.out)(Step::Asked(key, fields.request()));
            }
            (Direction::Request, Some(key)) => {
                self.way().current = Some(key);
                self.go_on(key);
            }
            (Direction::Response, Some(key)) => {
                self.way().current = Some(key);
                self.answer(key, frame.stream, &fields);
            }
            (Direction::Response, None) => {}
        }
    }

    /// The fields before an answer, or those behind it.
    fn answer(&mut self, key: Key, stream: u32, fields: &Fields) {
        let Some((_, open)) = self.find(stream) else { return };
        if fields.status.is_some_and(|status| status < 200) {
            return;
        }
        open.is_grpc |= fields.is_grpc;
        // Where gRPC got as far as an answer, HTTP only says that it did.
        let is_inner = open.is_grpc && fields.status.is_none_or(|status| status == 200);
        let is_first = !std::mem::replace(&mut open.is_answered, true);
        let status = match fields.grpc_status {
            Some(code) if is_inner => Some(grpc::status(code)),
            _ if is_inner => None,
            _ => fields.status.map(http::told_status),
        };
        if is_first || status.is_some() {
            self.tell(key, status);
        } else {
            self.go_on(key);
        }
    }

    fn tell(&mut self, key: Key, status: Option<Status>) {
        self.state.told = Some(key);
        (self.out)(Step::Answered(key, status));
    }

    fn go_on(&mut self, key: Key) {
        if self.state.told != Some(key) {
            self.state.told = Some(key);
            (self.out)(match self.direction {
                Direction::Request => Step::Asks(key),
                Direction::Response => Step::Answers(key),
            });
        }
    }

    /// The stream ends in this direction.
    fn end(&mut self, key: Key) {
        let way = self.way();
        (way.current, way.ends) = (None, false);
        if self.direction == Direction::Response {
            self.done(key);
        }
    }

    fn done(&mut self, key: Key) {
        self.state.pairing.remove(key);
        (self.out)(Step::Done(key));
    }
}

/// What a block says of a request or an answer.
#[derive(Default)]
struct Fields {
    method: Option<String>,
    /// The path, and whether it is cut.
    path: Option<(Vec<u8>, bool)>,
    host: Option<String>,
    status: Option<u16>,
    is_grpc: bool,
    grpc_status: Option<u8>,
    trace_id: Option<String>,
}

impl Fields {
    fn take(&mut self, field: Field, value: Option<&[u8]>, is_cut: bool) {
        let Some(value) = value.filter(|_| !is_cut || field == Field::Path) else { return };
        let number = || std::str::from_utf8(value).ok().filter(|text| text.len() <= 3);
        match field {
            Field::Method if value.len() <= 20 && value.iter().all(u8::is_ascii_uppercase) => {
                self.method = Some(String::from_utf8_lossy(value).into_owned());
            }
            Field::Path => self.path = Some((value.to_vec(), is_cut)),
            Field::Authority | Field::Host => {
                self.host = self.host.take().or(http::host(value).map(|host| {
                    let mut shown = String::with_capacity(host.len());
                    without_tokens(host.as_bytes(), false, &mut shown);
                    shown
                }));
            }
            Field::Status => self.status = number().and_then(|text| text.parse().ok()),
            Field::ContentType => self.is_grpc = grpc::is_content(value),
            Field::GrpcStatus => self.grpc_status = number().and_then(|text| text.parse().ok()),
            Field::TraceParent => {
                let id = value.split(|byte| *byte == b'-').nth(1).and_then(http::trace_id);
                self.trace_id = id.map(str::to_owned).or(self.trace_id.take());
            }
            Field::B3 => {
                let id = value.split(|byte| *byte == b'-').next().and_then(http::trace_id);
                self.trace_id = self.trace_id.take().or(id.map(str::to_owned));
            }
            Field::B3TraceId => {
                let id = http::trace_id(value).map(str::to_owned);
                self.trace_id = self.trace_id.take().or(id);
            }
            _ => {}
        }
    }

    fn request(self) -> Request {
        let (mut endpoint, mut detail) = (String::new(), String::new());
        match (self.path, self.method) {
            (Some((path, is_cut)), Some(_)) if self.is_grpc => {
                // Methods have names that do not differ from request to request.
                without_tokens(&path, is_cut, &mut endpoint);
                detail.clone_from(&endpoint);
            }
            (Some((path, is_cut)), Some(method)) => {
                let end = path_end(&path);
                let is_cut = is_cut && end == path.len();
                for text in [&mut endpoint, &mut detail] {
                    text.push_str(&method);
                    text.push(' ');
                }
                route_template(&path, is_cut, &mut endpoint);
                without_tokens(&path[..end], is_cut, &mut detail);
                if is_cut && !detail.ends_with(CUT) {
                    detail.push(CUT);
                }
            }
            (None, Some(method)) if method == "CONNECT" => {
                endpoint = format!("CONNECT {}", self.host.as_deref().unwrap_or(""));
                detail.clone_from(&endpoint);
            }
            _ => UNKNOWN.clone_into(&mut endpoint),
        }
        Request { endpoint, detail, host: self.host, trace_id: self.trace_id, one_way: false }
    }
}
