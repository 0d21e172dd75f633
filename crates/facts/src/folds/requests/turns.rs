//! Turns of a connection whose protocol nobody decodes: when the direction changes and comes back, that was a question and its
//! answer. Which connections are made of such exchanges, and which are feeds, logs or replication, that only look like it now
//! and then: their turns are no requests.
//!
//! Only the order, the times and the sizes of what went each way are known. What tells a stream:
//! - parts of an answer that come after pauses, many of them (news on a subscription), or more of them in some turns than in
//!   others (what the server says unasked);
//! - questions that nobody answers, and questions that are sent piece by piece with pauses between (heartbeats,
//!   acknowledgements, log lines);
//! - answers in three small parts and more, between which as much time passes as before the first (data as it comes up);
//! - an answer that is written when another client has said something, long after the question (a message handed on).
//!
//! The first exchanges of a connection wait until more of them show what it is.

use super::open::Open;
use whyslow_model::event::Tid;
use whyslow_model::{Nanos, Timestamp};

/// One chunk: when it was there, when its call ended, and its bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    /// Of a read its end, of a write its start.
    pub(super) there: Timestamp,
    pub(super) end: Timestamp,
    pub(super) len: u64,
    /// The thread that wrote it; 0 for what was read.
    pub(super) writer: Tid,
}

/// What a piece of a question is to the turns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum OfQuestion {
    /// A question begins; what was before it is over.
    Begins,
    /// More of the question.
    GoesOn,
    /// No question of this kind is asked piece by piece: the turn was none.
    IsNone,
}

/// What a piece of an answer is to the turns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum OfAnswer {
    /// It answers the question of the present turn.
    Answers,
    /// Nothing was asked.
    Unasked,
    /// No answer comes like this: the turn was none.
    IsNone,
}

/// What goes one way within a turn.
#[derive(Clone, Copy, Debug, Default)]
struct OneWay {
    pieces: u32,
    bytes: u64,
    /// Pauses between two pieces.
    lulls: u8,
    last_len: u64,
    writer: Tid,
    from: Timestamp,
    until: Timestamp,
}

/// The end of a part of an answer, and the answer's bytes so far.
#[derive(Clone, Copy, Debug, Default)]
struct Part {
    end: Timestamp,
    bytes: u64,
}

/// The turns of one connection.
#[derive(Debug, Default)]
pub(super) struct Turns {
    /// The request of the present turn.
    place: Option<u32>,
    question: OneWay,
    answer: OneWay,
    parts: [Part; Turns::FEED],
    part: usize,
    /// From the question to the first piece of its answer, and how often as much time passed again within the answer.
    first_wait: Nanos,
    again: u8,
    /// Parts of the answer that had the fewest, and pauses of the question that had the fewest; `None`: none has ended.
    fewest: Option<(usize, u8)>,
    /// Exchanges, turns that were none, and exchanges behind which more was said that nobody had asked for.
    exchanges: u32,
    others: u32,
    unasked: u32,
    /// Ended exchanges that wait until it is known whether they are any.
    pub(super) unproven: Vec<Open>,
}

impl OneWay {
    /// Adds a piece; true where it came after a pause, and not right behind a full segment.
    fn add(&mut self, piece: Piece) -> bool {
        let pause = piece.there.since(self.until).or_zero();
        let lull = self.pieces > 0 && self.last_len < Turns::SEGMENT && pause >= Turns::PAUSE.or_zero();
        if self.pieces == 0 {
            self.from = piece.there;
        }
        self.pieces = self.pieces.saturating_add(1);
        self.bytes = self.bytes.saturating_add(piece.len);
        self.lulls = self.lulls.saturating_add(u8::from(lull));
        (self.last_len, self.until, self.writer) = (piece.len, piece.end, piece.writer);
        lull
    }

    /// Little at a time, and for so long: lines as they come up, not one thing that is sent.
    fn trickles(&self, long: Nanos) -> bool {
        u64::from(self.pieces) >= Turns::MANY_PIECES
            && self.bytes / u64::from(self.pieces) < Turns::SEGMENT
            && self.until.since(self.from).or_zero() >= long.or_zero()
    }
}

impl Turns {
    /// A pause in what one side says: ten round trips within a data centre, and two slices of the scheduler.
    const PAUSE: Nanos = Nanos::from_millis(10);
    /// TCP's payload in an Ethernet frame of 1,500 bytes with timestamps (RFC 1122, 4.2.3.4): behind a full segment more of the same follows.
    const SEGMENT: u64 = 1_448;
    /// Parts of one answer from which on it is a feed.
    const FEED: usize = 8;
    /// Pauses within one question from which on it is none.
    const LULLS: u8 = 2;
    /// Pieces from which on a question or an answer may trickle, and the time that this takes at least: an answer may be worked out
    /// line by line, a question seldom is.
    const MANY_PIECES: u64 = 64;
    const LONG_ASKED: Nanos = Nanos::from_millis(500);
    const LONG_ANSWERED: Nanos = Nanos::from_secs(2);
    /// A shorter time between two pieces is the reader's own, or its tracer's.
    const WAIT: Nanos = Nanos::new(500_000);
    /// As much time within an answer as before it, so often, from which on it is data as it comes up.
    const AGAIN: u8 = 2;
    /// A question that has no answer after this time, and is followed by another piece, was none; an answer after it, in the turn of
    /// another client, is a message. Long polls are held for so long at least (Kafka's fetch.max.wait.ms).
    pub(super) const HELD: Nanos = Nanos::from_millis(500);
    /// Exchanges that prove a connection.
    const PROOF: u32 = 8;

    /// The request of the present turn.
    pub(super) fn place(&self) -> Option<u32> {
        self.place
    }

    /// True where the present question has its answer, or part of it.
    pub(super) fn is_answered(&self) -> bool {
        self.answer.pieces > 0
    }

    /// When the present question had come.
    pub(super) fn asked_until(&self) -> Timestamp {
        self.question.until
    }

    /// The present turn, which is over, or whose request was no request.
    pub(super) fn take(&mut self) -> Option<u32> {
        self.place.take()
    }

    /// Something was sent to the server.
    pub(super) fn asks(&mut self, piece: Piece) -> OfQuestion {
        if self.place.is_none() || self.is_answered() {
            return OfQuestion::Begins;
        }
        if piece.there.since(self.question.until).or_zero() >= Turns::HELD.or_zero() {
            self.others = self.others.saturating_add(1);
            return OfQuestion::Begins;
        }
        // What another thread writes is a question of its own.
        self.question.lulls =
            self.question.lulls.saturating_add(u8::from(piece.writer != self.question.writer));
        self.question.add(piece);
        if self.question.lulls >= Turns::LULLS || self.question.trickles(Turns::LONG_ASKED) {
            self.others = self.others.saturating_add(1);
            return OfQuestion::IsNone;
        }
        OfQuestion::GoesOn
    }

    /// A turn begins with this piece.
    pub(super) fn begin(&mut self, place: u32, piece: Piece) {
        self.place = Some(place);
        (self.question, self.answer) = (OneWay::default(), OneWay::default());
        (self.part, self.again) = (0, 0);
        self.question.add(piece);
    }

    /// Something came from the server; `is_news`: another client's message made it come.
    pub(super) fn answers(&mut self, piece: Piece, is_news: bool) -> OfAnswer {
        if self.place.is_none() {
            return OfAnswer::Unasked;
        }
        match self.is_answered() {
            false => self.first_wait = piece.there.since(self.question.until),
            true if self.answer.last_len < Turns::SEGMENT => {
                let wait = piece.there.since(self.answer.until).or_zero();
                let first = self.first_wait.or_zero();
                let is_as_long =
                    wait >= Turns::WAIT.or_zero() && (first / 2..=first.saturating_mul(4)).contains(&wait);
                self.again = self.again.saturating_add(u8::from(is_as_long));
            }
            true => {}
        }
        if self.answer.add(piece) {
            self.part += 1;
        }
        if is_news || self.part >= Turns::FEED || self.answer.trickles(Turns::LONG_ANSWERED) {
            self.others = self.others.saturating_add(1);
            return OfAnswer::IsNone;
        }
        self.parts[self.part] = Part { end: piece.end, bytes: self.answer.bytes };
        OfAnswer::Answers
    }

    /// The present turn is over: when its answer ended and how many bytes it had. Parts that other answers do not have are not
    /// its own. True where there were such. `None` where it was no exchange. `is_hidden`: of encrypted bytes, the pieces are records,
    /// and nothing is told by their times.
    pub(super) fn ends(&mut self, is_hidden: bool) -> Option<(Timestamp, u64, bool)> {
        if self.again >= Turns::AGAIN && !is_hidden {
            self.others = self.others.saturating_add(1);
            return None;
        }
        let (parts, lulls) = (self.part + 1, self.question.lulls);
        let (fewest, fewest_lulls) = self.fewest.unwrap_or((parts, lulls));
        let fewest = fewest.min(parts);
        self.fewest = Some((fewest, fewest_lulls.min(lulls)));
        // Other questions are asked at once: this one is several, of which some have no answer.
        if lulls > fewest_lulls {
            self.others = self.others.saturating_add(1);
            return None;
        }
        self.exchanges = self.exchanges.saturating_add(1);
        let Part { end, bytes } = self.parts[fewest - 1];
        self.unasked = self.unasked.saturating_add(u32::from(fewest < parts));
        Some((end, bytes, fewest < parts))
    }

    /// True where the connection is made of something else than exchanges: too many turns are none; or some are none and others have more
    /// than an answer, as where two talk past each other.
    pub(super) fn is_stream(&self) -> bool {
        let odd = self.others.saturating_add(self.unasked);
        let talk_past = self.unasked > 0 && odd.saturating_mul(4) > self.exchanges;
        self.others > 0 && (self.others.saturating_mul(2) > self.exchanges || talk_past)
    }

    /// True where enough exchanges were seen.
    pub(super) fn is_proven(&self) -> bool {
        self.exchanges >= Turns::PROOF && !self.is_stream()
    }

    /// True where a question without an answer waits for one: all others had theirs.
    pub(super) fn expects(&self) -> bool {
        self.exchanges > 0 && self.others == 0
    }

    /// True where all that is known is one exchange, whose answer came late and in parts, and the connection is still open: that
    /// is what a subscription looks like.
    pub(super) fn may_subscribe(&self) -> bool {
        self.exchanges == 1 && self.part > 0 && self.answer.until.since(self.question.until) >= Turns::HELD
    }

    /// True where turns were seen, whatever they were.
    pub(super) fn is_used(&self) -> bool {
        self.exchanges > 0 || self.others > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A piece at that millisecond.
    fn piece(ms: u64, len: u64) -> Piece {
        let at = Timestamp::new(1 + ms * 1_000_000);
        Piece { there: at, end: at, len, writer: 7 }
    }

    /// Plays pieces (`>` question, `<` answer; ms; bytes); the ms at which each exchange ended, and the turns.
    fn play(pieces: &[(char, u64, u64)]) -> (Vec<u64>, Turns) {
        let mut turns = Turns::default();
        let mut ends = Vec::new();
        for &(way, ms, len) in pieces {
            let piece = piece(ms, len);
            if way == '>' {
                match turns.asks(piece) {
                    OfQuestion::Begins => {
                        if turns.is_answered() && turns.take().is_some() {
                            let end = turns.ends(false).map(|(end, ..)| end.get().unwrap() / 1_000_000);
                            ends.extend(end);
                        }
                        turns.begin(1, piece);
                    }
                    OfQuestion::GoesOn => {}
                    OfQuestion::IsNone => {
                        turns.take();
                    }
                }
            } else if turns.answers(piece, false) == OfAnswer::IsNone {
                turns.take();
            }
        }
        (ends, turns)
    }

    /// `count` times the same, so many ms apart.
    fn again(count: u64, apart: u64, one: &[(char, u64, u64)]) -> Vec<(char, u64, u64)> {
        (0..count).flat_map(|at| one.iter().map(move |&(way, ms, len)| (way, at * apart + ms, len))).collect()
    }

    #[test]
    fn questions_and_answers_are_proven_and_an_answer_may_have_two_parts() {
        let (ends, turns) = play(&again(10, 100, &[('>', 0, 20), ('<', 1, 9), ('<', 41, 13)]));
        assert_eq!((ends.len(), &ends[..3]), (9, &[41, 141, 241][..]));
        assert!(turns.is_proven() && !turns.is_stream() && turns.expects());
        // Pieces of one question, and an answer of many full segments.
        let (ends, turns) = play(&again(
            4,
            500,
            &[
                ('>', 0, 20),
                ('>', 1, 4_000),
                ('<', 50, 65_536),
                ('<', 90, 65_536),
                ('<', 130, 65_536),
                ('<', 131, 100),
            ],
        ));
        assert_eq!((ends.len(), ends[0]), (3, 131));
        assert!(!turns.is_stream());
    }

    #[test]
    fn what_is_said_unasked_is_no_part_of_an_answer() {
        let mut talk = again(4, 1_000, &[('>', 0, 20), ('<', 2, 20)]);
        // Between the second and the third question the server has news.
        talk.extend([('<', 1_300, 30), ('<', 1_700, 30)]);
        talk.sort_by_key(|(_, ms, _)| *ms);
        let (ends, turns) = play(&talk);
        assert_eq!(ends, [2, 1_002, 2_002]);
        assert!(!turns.is_stream() && turns.expects());
    }

    #[test]
    fn feeds_logs_heartbeats_and_replication_are_streams() {
        let subscription: Vec<_> =
            [('>', 0, 20)].into_iter().chain((1..40).map(|at| ('<', at * 300, 30))).collect();
        let ticks: Vec<_> =
            [('>', 0, 20)].into_iter().chain((1..1_500).map(|at| ('<', at * 2, 30))).collect();
        let lines: Vec<_> =
            again(3, 2_000, &[]).into_iter().chain((0..900).map(|at| ('>', at * 2, 90))).collect();
        let heartbeats = again(6, 1_000, &[('>', 0, 4)]);
        // Data as it comes up, acknowledged once a second.
        let replica = again(
            6,
            1_000,
            &[
                ('<', 0, 300),
                ('<', 100, 300),
                ('<', 190, 300),
                ('<', 300, 300),
                ('<', 420, 300),
                ('<', 500, 300),
                ('<', 600, 300),
                ('<', 700, 300),
                ('<', 800, 300),
                ('<', 900, 300),
                ('>', 950, 34),
            ],
        );
        // The same, quicker.
        let quick = again(200, 6, &[('<', 0, 300), ('<', 2, 300), ('<', 4, 300), ('>', 4, 34)]);
        // Two that talk past each other.
        let past = (0..60)
            .map(|at| ('>', at * 30, 12))
            .chain((1..20).map(|at| ('<', at * 93 + at * at * 37 % 71, 12)));
        let mut past: Vec<_> = past.collect();
        past.sort_by_key(|(_, ms, _)| *ms);
        let (_, turns) = play(&past);
        assert!(turns.is_stream());
        for talk in [subscription, ticks, lines, heartbeats, replica, quick] {
            let (ends, turns) = play(&talk);
            assert_eq!(ends.len(), 0, "{:?}", &talk[..3]);
            assert!(turns.is_stream() && !turns.is_proven() && !turns.expects(), "{:?}", &talk[..3]);
        }
    }

    #[test]
    fn what_several_threads_write_before_an_answer_are_several_questions() {
        let mut turns = Turns::default();
        for at in (0..12).map(|at| at * 100) {
            for writer in 1..4 {
                let piece = Piece { writer, ..piece(at, 14) };
                match turns.asks(piece) {
                    OfQuestion::Begins => {
                        if turns.is_answered() && turns.take().is_some() {
                            turns.ends(false);
                        }
                        turns.begin(1, piece);
                    }
                    OfQuestion::GoesOn => {}
                    OfQuestion::IsNone => assert!(turns.take().is_some()),
                }
            }
            turns.answers(piece(at + 40, 20), false);
        }
        assert!(turns.is_stream());
    }

    #[test]
    fn one_late_answer_in_parts_may_be_a_subscription() {
        let (_, mut turns) = play(&[('>', 0, 20), ('<', 1, 9), ('<', 700, 30)]);
        turns.ends(false);
        assert!(turns.may_subscribe());
        let (_, mut turns) = play(&[('>', 0, 20), ('<', 700, 30)]);
        turns.ends(false);
        assert!(!turns.may_subscribe());
    }
}
