//! Protocols in which a request is one message that tells its length, and an answer one or several: what goes on of
//! which, told as steps. What the messages mean is the [`Exchange`]'s.

use crate::framer::{Framer, Messages, Piece};
use crate::turn::Out;
use crate::{Chunk, Decoder, Direction, Key, Step};

/// What a protocol knows of its messages.
pub(crate) trait Exchange: Default + Send {
    /// Bytes of the shortest header.
    const HEADER: usize;
    /// As [`Messages::length`].
    fn length(&self, head: &[u8], direction: Direction, is_resync: bool) -> Option<u64>;
    /// A request begins: tells it, and gives its key; `None` where it cannot be read.
    fn ask(&mut self, head: &[u8], out: Out<'_>) -> Option<Key>;
    /// A message of an answer begins: tells it, and gives its key, and whether the answer ends with this message; `None`
    /// where nothing waits for it.
    fn answer(&mut self, head: &[u8], out: Out<'_>) -> Option<(Key, bool)>;
}

/// The decoder of an [`Exchange`].
#[derive(Default)]
pub(crate) struct Exchanged<E> {
    asks: Framer,
    answers: Framer,
    state: State<E>,
}

#[derive(Default)]
struct State<E> {
    exchange: E,
    /// The request that goes on.
    asking: Option<Key>,
    /// The answer that goes on, and whether it ends with this message.
    answering: Option<(Key, bool)>,
}

impl<E: Exchange> Decoder for Exchanged<E> {
    fn take(&mut self, direction: Direction, chunk: Chunk<'_>, out: Out<'_>) {
        let framer = if direction == Direction::Request { &mut self.asks } else { &mut self.answers };
        framer.take(chunk, &mut Side { direction, state: &mut self.state, out });
    }
}

struct Side<'s, 'o, E> {
    direction: Direction,
    state: &'s mut State<E>,
    out: Out<'o>,
}

impl<E: Exchange> Messages for Side<'_, '_, E> {
    const HEADER: usize = E::HEADER;

    fn length(&mut self, head: &[u8], is_resync: bool) -> Option<u64> {
        self.state.exchange.length(head, self.direction, is_resync)
    }

    fn piece(&mut self, piece: Piece<'_>) {
        let Side { direction, state, out } = self;
        match (*direction, piece) {
            (Direction::Request, Piece::Message { head, .. }) => {
                state.asking = state.exchange.ask(&head[..head.len().min(Framer::ENOUGH)], *out);
            }
            (Direction::Request, Piece::Rest { .. }) => {
                if let Some(key) = state.asking {
                    out(Step::Asks(key));
                }
            }
            (Direction::Request, Piece::Lost) => state.asking = None,
            (Direction::Response, Piece::Message { head, ends, .. }) => {
                state.answering = state.exchange.answer(&head[..head.len().min(Framer::ENOUGH)], *out);
                state.end_answer(ends, *out);
            }
            (Direction::Response, Piece::Rest { ends }) => {
                if let Some((key, _)) = state.answering {
                    out(Step::Answers(key));
                }
                state.end_answer(ends, *out);
            }
            (Direction::Response, Piece::Lost) => state.answering = None,
        }
    }
}

impl<E> State<E> {
    fn end_answer(&mut self, ends: bool, out: Out<'_>) {
        if let Some((key, is_last)) = self.answering.take_if(|_| ends)
            && is_last
        {
            out(Step::Done(key));
        }
    }
}
