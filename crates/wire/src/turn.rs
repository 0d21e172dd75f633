//! Steps of requests that are answered in their order: each is told at most once a chunk, a status as soon as it is known.

use crate::{Key, Request, Status, Step};
use std::borrow::Cow;

/// Takes steps.
pub(crate) type Out<'a> = &'a mut dyn FnMut(Step);

/// What was told of the request whose turn it is.
#[derive(Debug, Default)]
pub(crate) struct Turn {
    /// The answer of this one has begun.
    begun: Option<Key>,
    /// It was told in this chunk already.
    told: Option<Key>,
    /// Begun in this chunk; its status may follow in it.
    unsaid: Option<Key>,
    /// The request that was told last in this chunk.
    asked: Option<Key>,
}

impl Turn {
    /// A chunk begins.
    pub(crate) fn chunk(&mut self) {
        self.told = None;
        self.asked = None;
    }

    /// A request begins.
    pub(crate) fn asked(&mut self, key: Key, request: Request, out: Out<'_>) {
        self.asked = Some(key);
        out(Step::Asked(key, request));
    }

    /// A request goes on.
    pub(crate) fn asks(&mut self, key: Key, out: Out<'_>) {
        if self.asked != Some(key) {
            self.asked = Some(key);
            out(Step::Asks(key));
        }
    }

    /// An answer begins or goes on, and its status is not known yet.
    pub(crate) fn answers(&mut self, key: Key, out: Out<'_>) {
        if self.begun != Some(key) {
            self.end(out);
            self.begun = Some(key);
            self.unsaid = Some(key);
        } else if self.told != Some(key) {
            out(Step::Answers(key));
        }
        self.told = Some(key);
    }

    /// The status of an answer.
    pub(crate) fn status(&mut self, key: Key, status: Status, out: Out<'_>) {
        if self.unsaid != Some(key) {
            self.end(out);
        }
        self.unsaid = None;
        self.begun = Some(key);
        self.told = Some(key);
        out(Step::Answered(key, Some(status)));
    }

    /// An answer has ended.
    pub(crate) fn done(&mut self, key: Key, out: Out<'_>) {
        self.answers(key, out);
        self.end(out);
        out(Step::Done(key));
    }

    /// An answer had ended before this chunk, as is seen only now.
    pub(crate) fn ended(&mut self, key: Key, out: Out<'_>) {
        self.end(out);
        out(Step::Done(key));
    }

    /// The answer of this request has begun.
    pub(crate) fn has_begun(&self, key: Key) -> bool {
        self.begun == Some(key)
    }

    /// Nothing more of this chunk is known.
    pub(crate) fn end(&mut self, out: Out<'_>) {
        if let Some(key) = self.unsaid.take() {
            out(Step::Answered(key, None));
        }
    }
}

/// A status that is no error.
pub(crate) fn fine(text: impl Into<Cow<'static, str>>) -> Status {
    Status { text: text.into(), is_error: false }
}

/// A status that is an error.
pub(crate) fn failed(text: String) -> Status {
    Status { text: text.into(), is_error: true }
}
