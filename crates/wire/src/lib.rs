//! Wire protocols: the bytes of a connection, as far as a capture has them, become requests and answers.
//!
//! Sans-I/O. A capture often has only the first bytes of each read and write ([`Chunk`]); what is missing is
//! skipped where the protocol tells its length, and else the decoder finds its feet again at the next chunk that
//! begins a message. Nothing is guessed: what is not recognised stays unknown.

mod connection;
#[cfg(test)]
mod conversation;
mod exchange;
pub mod framer;
mod mask;
pub mod pairing;
pub mod protocols;
mod recent;
pub mod sql;
#[cfg(test)]
mod testing;
pub mod text;
mod turn;

use std::borrow::Cow;

pub use connection::Connection;
pub use protocols::{PROTOCOLS, find, first_request, reduce, reduce_as, sniff};

/// Which way bytes go.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Direction {
    /// From the client to the server.
    Request,
    /// From the server to the client.
    Response,
}

/// What one read or write moved.
#[derive(Clone, Copy, Debug)]
pub struct Chunk<'a> {
    /// The first bytes of it, as far as the capture has them.
    pub head: &'a [u8],
    /// Bytes moved in all. At least `head.len()`, but for a reduced head, which may be a little longer than what it
    /// stands for.
    pub len: u64,
}

/// Number of a request on its connection, from 0 in order of appearance.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Key(pub u64);

/// A request, as its first bytes tell it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Request {
    /// What it asks for, with what differs from request to request taken out: `GET /user/relations/{id}`,
    /// `HMGET relation:{…}`, `SELECT name FROM users WHERE id = ?`. At most [`MAX_TEXT`] bytes.
    pub endpoint: String,
    /// The same with its own values, as far as they can be no secret: `HMGET relation:series:1234:check`. At most
    /// [`MAX_TEXT`] bytes.
    pub detail: String,
    /// Whom it is meant for, where the request says so: the `Host` of HTTP.
    pub host: Option<String>,
    /// The trace that it belongs to (W3C traceparent, B3): 16 or 32 hexadecimal digits.
    pub trace_id: Option<String>,
    /// No answer will come.
    pub one_way: bool,
}

/// How an answer ends a request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Status {
    /// As the protocol says it: `200`, `OK`, `WRONGTYPE`, `ERROR 42P01`.
    pub text: Cow<'static, str>,
    /// The request failed.
    pub is_error: bool,
}

/// What a decoder makes of a chunk.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Step {
    /// A request begins in this chunk.
    Asked(Key, Request),
    /// The request goes on in this chunk: bytes of its body.
    Asks(Key),
    /// Its answer begins in this chunk. `None`: the status is not in what the capture has, or comes behind what it is
    /// the status of, as that of rows does; it is told again then, with a status. The last status told is the one.
    Answered(Key, Option<Status>),
    /// Its answer goes on in this chunk.
    Answers(Key),
    /// The answer's last byte is in this chunk. Where a protocol does not tell its answers' lengths, it is said with
    /// the first chunk of what comes next.
    Done(Key),
    /// Whether the request was answered cannot be told: bytes that would have said so are missing. What is told of it
    /// later holds.
    Unclear(Key),
}

/// Takes chunks of both directions of one connection, in order, and tells steps.
pub trait Decoder: Send {
    /// Takes one chunk.
    fn take(&mut self, direction: Direction, chunk: Chunk<'_>, out: &mut dyn FnMut(Step));

    /// Whom the connection is meant for, where its first bytes say so: the server's name of TLS.
    fn server(&self) -> Option<&str> {
        None
    }

    /// The protocol that the connection speaks from here on, where it was asked to change.
    fn becomes(&mut self) -> Option<(&'static Protocol, Box<dyn Decoder>)> {
        None
    }
}

/// How sure a protocol is that bytes are its own.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Sniff {
    /// They are not.
    No,
    /// They may be: taken where the port says so too, or where several messages in a row agree.
    Maybe,
    /// They are.
    Yes,
}

/// One protocol.
pub struct Protocol {
    /// As people call it: `HTTP/1.1`, `Redis`, `PostgreSQL`.
    pub name: &'static str,
    /// Ports on which it is usually served: a hint, no more.
    pub ports: &'static [u16],
    /// Whether the first bytes of a chunk are of this protocol.
    pub sniff: fn(&[u8], Direction) -> Sniff,
    /// A decoder for one connection.
    pub decoder: fn() -> Box<dyn Decoder>,
    /// Appends to `out` what may be kept of the head of a chunk without being asked: a head of the same chunk (the same
    /// [`Chunk::len`]) of which the decoder tells the same, with nothing that may be a secret (arguments behind a key,
    /// literals, header values, credentials). Messages without content take the place of those with it; the last one's
    /// length is stretched by what was left out, so that it ends where it ended. False where nothing may be kept.
    pub reduce: fn(&[u8], Direction, &mut Vec<u8>) -> bool,
}

/// Bytes of a request's texts.
pub const MAX_TEXT: usize = 200;

/// Bytes that [`reduce`] leaves at most.
pub const MAX_REDUCED: usize = 240;
