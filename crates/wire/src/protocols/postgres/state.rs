//! Which request each message belongs to.

use super::Startup;
use crate::pairing::Pairing;
use crate::recent::Recent;
use crate::sql::sql_shape;
use crate::turn::{Out, Turn, failed, fine};
use crate::{Key, Request, Status};
use std::sync::Arc;

/// Bytes of a name of a statement or a portal that are remembered.
const MAX_NAME: usize = 128;
/// A statement that was prepared before the capture began.
const UNKNOWN: &str = "EXECUTE ?";

/// A connection.
#[derive(Default)]
pub(super) struct State {
    pub(super) turn: Turn,
    /// Both directions are encrypted from here on, or copy what is no request.
    opaque: bool,
    encryption: Option<Key>,
    open: Pairing<Open>,
    /// Shapes by the names of prepared statements; the unnamed one is a name too.
    statements: Recent<Vec<u8>, Arc<str>>,
    /// Shapes by the names of portals.
    portals: Recent<Vec<u8>, Arc<str>>,
    /// Of an extended query: what no request was made of yet.
    draft: Draft,
    /// `Sync`s and simple queries seen: each is answered by one `ReadyForQuery`.
    asked_groups: u64,
    /// `ReadyForQuery` seen.
    ready_groups: u64,
    /// Answers may have been missed since the last that was understood.
    answers_lost: bool,
    /// Messages of either side may have been missed: groups may not match.
    is_lossy: bool,
    /// Something was answered since the client sent last.
    is_answered: bool,
}

/// A request that waits.
struct Open {
    /// The `ReadyForQuery` that ends it at last.
    group: u64,
    /// Of an extended query: the statement, and messages that are to be answered.
    extended: Option<(Option<Arc<str>>, u64)>,
    has_failed: bool,
    has_status: bool,
}

/// Messages of an extended query before the request they belong to is known.
#[derive(Default)]
struct Draft {
    statement: Option<Arc<str>>,
    /// `None`: nothing is drafted.
    does: Option<Does>,
    /// Messages that are to be answered.
    replies: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Does {
    Parse,
    Bind,
    Describe,
    Close,
}

impl State {
    /// Nothing more will be understood.
    pub(super) fn is_opaque(&self) -> bool {
        self.opaque
    }

    /// A message without a type.
    pub(super) fn start(&mut self, startup: Option<(u32, Startup)>, out: Out<'_>) {
        match startup.map(|(_, what)| what) {
            Some(Startup::Session) | None => {
                let open = self.opened(None);
                let key = self.open.ask(open);
                self.asked_groups += 1;
                self.turn.asked(key, named("STARTUP"), out);
            }
            Some(Startup::Encryption) => {
                let key = self.open.ask_one_way();
                self.encryption = Some(key);
                self.turn.asked(key, named("SSLREQUEST"), out);
            }
            Some(Startup::Cancel) => {
                let key = self.open.ask_one_way();
                self.turn.asked(key, Request { one_way: true, ..named("CANCEL") }, out);
            }
        }
    }

    /// The answer to a request for encryption: one byte.
    pub(super) fn takes_encryption(&mut self, first: u8, out: Out<'_>) -> bool {
        let Some(key) = self.encryption.take() else { return false };
        if !matches!(first, b'S' | b'N' | b'G') {
            return false;
        }
        self.turn.status(key, fine(if first == b'N' { "refused" } else { "encrypted" }), out);
        self.turn.done(key, out);
        self.opaque = first != b'N';
        true
    }

    /// A message of the client.
    pub(super) fn ask(&mut self, kind: u8, body: &[u8], is_cut: bool, out: Out<'_>) {
        if self.is_lossy && self.is_answered && matches!(kind, b'Q' | b'F' | b'P' | b'B' | b'E') {
            self.settle(out);
        }
        self.is_answered = false;
        match kind {
            b'Q' => {
                self.tell_draft(false, out);
                self.simple(shape(body, is_cut), out);
            }
            b'F' => {
                self.tell_draft(false, out);
                self.simple("FUNCTION CALL".into(), out);
            }
            b'P' => self.parse(body, is_cut, out),
            b'B' => self.bind(body, out),
            b'D' => self.describe(body),
            b'C' => self.close(body, out),
            b'E' => self.execute(body, out),
            b'H' => self.tell_draft(true, out),
            b'S' => {
                self.tell_draft(true, out);
                self.asked_groups += 1;
            }
            b'd' | b'c' | b'f' | b'p' => self.ask_goes_on(out),
            // Terminate.
            _ => {}
        }
    }

    /// More of the message before.
    pub(super) fn ask_goes_on(&mut self, out: Out<'_>) {
        if let Some((key, _)) = self.open.newest() {
            self.turn.asks(key, out);
        }
    }

    /// What follows of this chunk is missing.
    pub(super) fn ask_lost(&mut self, out: Out<'_>) {
        self.is_lossy = true;
        self.tell_draft(false, out);
        // The `Sync` of it is among what is missing.
        if self.open.newest().is_some_and(|(_, open)| open.group == self.asked_groups) {
            self.asked_groups += 1;
        }
    }

    fn opened(&self, extended: Option<(Option<Arc<str>>, u64)>) -> Open {
        Open { group: self.asked_groups, extended, has_failed: false, has_status: false }
    }

    fn simple(&mut self, text: Arc<str>, out: Out<'_>) {
        let open = self.opened(None);
        let key = self.open.ask(open);
        self.asked_groups += 1;
        self.turn.asked(key, named(&text), out);
    }

    fn parse(&mut self, body: &[u8], is_cut: bool, out: Out<'_>) {
        let Some((name, text)) = split_name(body) else { return };
        let shape = shape(text, is_cut);
        remember(&mut self.statements, name, Some(&shape));
        let replies = self.replies_of_close(out);
        self.draft = Draft { statement: Some(shape), does: Some(Does::Parse), replies: replies + 1 };
    }

    /// Ends what is drafted; what only closes belongs to what follows it.
    fn replies_of_close(&mut self, out: Out<'_>) -> u64 {
        if self.draft.does == Some(Does::Close) {
            return std::mem::take(&mut self.draft).replies;
        }
        self.tell_draft(true, out);
        0
    }

    fn bind(&mut self, body: &[u8], out: Out<'_>) {
        let portal = split_name(body);
        let statement = portal.and_then(|(_, rest)| split_name(rest));
        let statement = statement.and_then(|(name, _)| self.statements.get(name).cloned());
        if let Some((portal, _)) = portal {
            remember(&mut self.portals, portal, statement.as_ref());
        }
        let is_parsed = self.draft.does == Some(Does::Parse) && self.draft.statement == statement;
        let replies = if is_parsed { self.draft.replies } else { self.replies_of_close(out) };
        self.draft = Draft { statement, does: Some(Does::Bind), replies: replies + 1 };
    }

    fn describe(&mut self, body: &[u8]) {
        if self.draft.does.is_none() {
            if self.add_to_newest(1, None) {
                return;
            }
            let names = if body.first() == Some(&b'S') { &self.statements } else { &self.portals };
            let name = split_name(body.get(1..).unwrap_or_default());
            let statement = name.and_then(|(name, _)| names.get(name).cloned());
            self.draft = Draft { statement, does: Some(Does::Describe), replies: 0 };
        }
        self.draft.replies += 1;
    }

    fn close(&mut self, body: &[u8], out: Out<'_>) {
        if let Some((name, _)) = split_name(body.get(1..).unwrap_or_default()) {
            if body.first() == Some(&b'S') { &mut self.statements } else { &mut self.portals }.remove(name);
        }
        if self.draft.does.is_some_and(|does| does != Does::Close) {
            self.tell_draft(true, out);
        }
        if self.draft.does.is_none() && self.add_to_newest(1, None) {
            return;
        }
        self.draft.does = Some(Does::Close);
        self.draft.replies += 1;
    }

    fn execute(&mut self, body: &[u8], out: Out<'_>) {
        let statement = match split_name(body) {
            Some((portal, _)) => self.portals.get(portal).cloned(),
            // What was bound just now, most likely.
            None => self.draft.statement.clone(),
        };
        let is_drafted = self.draft.does.is_some() && self.draft.statement == statement;
        let replies = if is_drafted { self.draft.replies } else { self.replies_of_close(out) } + 1;
        self.draft = Draft::default();
        if self.add_to_newest(replies, Some(&statement)) {
            return self.ask_goes_on(out);
        }
        let text = statement.clone().unwrap_or_else(|| UNKNOWN.into());
        let open = self.opened(Some((statement, replies)));
        let key = self.open.ask(open);
        self.turn.asked(key, named(&text), out);
    }

    /// Adds messages to the request that came last, where it goes on: in the same group, for the same statement.
    fn add_to_newest(&mut self, more: u64, same: Option<&Option<Arc<str>>>) -> bool {
        let group = self.asked_groups;
        let Some((_, open)) = self.open.newest() else { return false };
        match &mut open.extended {
            Some((statement, replies))
                if open.group == group && same.is_none_or(|same| statement == same) =>
            {
                *replies += more;
                true
            }
            _ => false,
        }
    }

    /// What was asked for without an execution of it. `is_whole`: none will follow.
    fn tell_draft(&mut self, is_whole: bool, out: Out<'_>) {
        let draft = std::mem::take(&mut self.draft);
        let Some(does) = draft.does else { return };
        let is_unknown = matches!(does, Does::Bind) && draft.statement.is_none();
        let text = if is_unknown { UNKNOWN } else { draft.statement.as_deref().unwrap_or("") };
        let verb = match does {
            Does::Parse if is_whole => "PREPARE",
            Does::Describe => "DESCRIBE",
            Does::Bind if is_whole && !is_unknown => "BIND",
            Does::Close => "CLOSE",
            Does::Parse | Does::Bind => "",
        };
        let text = [verb, text].join(" ");
        let open = self.opened(Some((draft.statement, draft.replies)));
        let key = self.open.ask(open);
        self.turn.asked(key, named(text.trim()), out);
    }

    /// A message of the server.
    pub(super) fn answer(&mut self, kind: u8, body: &[u8], out: Out<'_>) {
        match kind {
            b'Z' => return self.ready(out),
            // Notices, notifications and parameters come at any time.
            b'N' | b'A' | b'S' | b'K' => return,
            _ => {}
        }
        self.answers_lost = false;
        self.is_answered = true;
        let Some((key, open)) = self.open.oldest_mut() else { return };
        let mut answers = 0;
        match kind {
            b'E' => {
                open.has_failed = true;
                open.has_status = true;
                self.turn.status(key, error(body), out);
                return;
            }
            b'C' | b'I' | b's' => {
                answers = 1;
                if !open.has_status {
                    open.has_status = true;
                    self.turn.status(key, fine("OK"), out);
                }
            }
            b'1' | b'2' | b'3' | b'n' | b'T' => answers = 1,
            _ => {}
        }
        self.turn.answers(key, out);
        let group = open.group;
        let Some((_, replies)) = &mut open.extended else { return };
        *replies = replies.saturating_sub(answers);
        if *replies > 0 || answers == 0 {
            return;
        }
        // `ReadyForQuery` ends the last of a group, where one was asked for.
        if group == self.asked_groups || self.open.iter().nth(1).is_some_and(|(_, next)| next.group == group)
        {
            self.finish(out);
        }
    }

    /// Rows, of which no more is known.
    pub(super) fn answer_unframed(&mut self, out: Out<'_>) {
        self.is_answered = true;
        if let Some((key, _)) = self.open.oldest() {
            self.turn.answers(key, out);
        }
    }

    /// A chunk of answers of which nothing is understood: the last of them may be in it.
    pub(super) fn answer_unseen(&mut self, out: Out<'_>) {
        self.answers_lost = true;
        self.is_lossy = true;
        self.answer_unframed(out);
    }

    /// Messages may have been missed.
    pub(super) fn answer_lost(&mut self, out: Out<'_>) {
        self.answers_lost = true;
        self.is_lossy = true;
        // Which of the groups the answers belong to that come later is not known: only of the oldest can be.
        let Some(group) = self.open.oldest().map(|(_, open)| open.group) else { return };
        self.open.give_up(|open| open.group != group, out);
        self.ready_groups = group;
    }

    /// Where messages were missed: a client that asks again has its answers. That of the oldest request was seen.
    fn settle(&mut self, out: Out<'_>) {
        if let Some((key, _)) = self.open.oldest()
            && self.turn.has_begun(key)
        {
            self.turn.ended(key, out);
            self.open.take_oldest();
        }
        self.open.give_up(|_| true, out);
        self.ready_groups = self.asked_groups;
        self.is_lossy = false;
        self.answers_lost = false;
    }

    /// `ReadyForQuery`: all of a group is answered.
    pub(super) fn ready(&mut self, out: Out<'_>) {
        self.is_answered = true;
        let group = self.ready_groups;
        let mut has_failed = false;
        while self.open.oldest().is_some_and(|(_, open)| open.group <= group) {
            if let Some((key, open)) = self.open.oldest_mut() {
                if has_failed && !open.has_status {
                    open.has_status = true;
                    self.turn.status(key, failed("not run".to_owned()), out);
                }
                has_failed |= open.has_failed;
            }
            self.finish(out);
        }
        self.ready_groups = (group + 1).min(self.asked_groups);
    }

    fn finish(&mut self, out: Out<'_>) {
        if let Some((key, open)) = self.open.take_oldest() {
            if !open.has_status && !self.answers_lost {
                self.turn.status(key, fine("OK"), out);
            }
            self.turn.done(key, out);
        }
    }
}

fn named(text: &str) -> Request {
    Request { endpoint: text.to_owned(), detail: text.to_owned(), ..Request::default() }
}

fn shape(text: &[u8], is_cut: bool) -> Arc<str> {
    let mut shape = String::new();
    sql_shape(text, is_cut, &mut shape);
    shape.into()
}

/// The name that a NUL ends, and what is behind it; `None` where its end is missing.
fn split_name(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    memchr::memchr(0, bytes).map(|end| (&bytes[..end], &bytes[end + 1..]))
}

fn remember(names: &mut Recent<Vec<u8>, Arc<str>>, name: &[u8], shape: Option<&Arc<str>>) {
    match shape {
        Some(shape) if name.len() <= MAX_NAME => names.insert(name.to_vec(), Arc::clone(shape)),
        _ => names.remove(name),
    }
}

/// The severity and the code of an `ErrorResponse` (PostgreSQL documentation, "Error and Notice Message Fields").
fn error(body: &[u8]) -> Status {
    let mut severity = "ERROR";
    let mut rest = body;
    while let [field, value @ ..] = rest {
        let value_end = memchr::memchr(0, value).unwrap_or(value.len());
        match (field, &value[..value_end]) {
            (b'V', b"FATAL") => severity = "FATAL",
            (b'V', b"PANIC") => severity = "PANIC",
            (b'C', code) if code.len() == 5 && code.iter().all(u8::is_ascii_alphanumeric) => {
                return failed(format!("{severity} {}", String::from_utf8_lossy(code)));
            }
            _ => {}
        }
        rest = value.get(value_end + 1..).unwrap_or_default();
    }
    failed(severity.to_owned())
}
