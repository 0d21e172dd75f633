//! What the tests of all protocols share.

use crate::{Chunk, Decoder, Direction, Protocol, Request, Step};
pub(crate) use Direction::{Request as Ask, Response as Answer};

/// A chunk of which all bytes are there.
pub(crate) fn whole(bytes: &[u8]) -> Chunk<'_> {
    Chunk { head: bytes, len: bytes.len() as u64 }
}

/// The steps of chunks of which all bytes are there, as short text: `ask 0 GET /`, `answer 0 200`, `done 0`. Where more
/// of a message goes by is left out.
pub(crate) fn talk(protocol: &Protocol, chunks: &[(Direction, &[u8])]) -> Vec<String> {
    let mut decoder = (protocol.decoder)();
    chunks.iter().flat_map(|(direction, bytes)| steps(&mut *decoder, *direction, whole(bytes))).collect()
}

/// The steps of one chunk.
pub(crate) fn steps(decoder: &mut dyn Decoder, direction: Direction, chunk: Chunk<'_>) -> Vec<String> {
    let mut told = Vec::new();
    decoder.take(direction, chunk, &mut |step| told.extend(text(&step)));
    told
}

fn text(step: &Step) -> Option<String> {
    Some(match step {
        Step::Asked(key, request) if request.one_way => format!("tell {} {}", key.0, request.endpoint),
        Step::Asked(key, request) => format!("ask {} {}", key.0, request.endpoint),
        Step::Answered(key, Some(status)) if status.is_error => format!("fail {} {}", key.0, status.text),
        Step::Answered(key, Some(status)) => format!("answer {} {}", key.0, status.text),
        Step::Answered(key, None) => format!("answer {}", key.0),
        Step::Done(key) => format!("done {}", key.0),
        Step::Unclear(key) => format!("unclear {}", key.0),
        Step::Asks(_) | Step::Answers(_) => return None,
    })
}

/// The first request in a chunk.
pub(crate) fn first_request(protocol: &Protocol, chunk: Chunk<'_>) -> Option<Request> {
    let mut first = None;
    (protocol.decoder)().take(Ask, chunk, &mut |step| {
        if let Step::Asked(_, request) = step {
            first.get_or_insert(request);
        }
    });
    first
}

/// Takes a stream of both directions in chunks of any lengths: what it tells is the same as of the chunks given.
pub(crate) fn cut_anywhere(protocol: &Protocol, chunks: &[(Direction, &[u8])], cuts: &[usize]) {
    let expected = talk(protocol, chunks);
    let mut cuts = cuts.iter().copied().cycle();
    let mut pieces: Vec<(Direction, &[u8])> = Vec::new();
    for (direction, bytes) in chunks {
        let mut rest = *bytes;
        while !rest.is_empty() {
            let (piece, behind) = rest.split_at(cuts.next().unwrap_or(1).clamp(1, rest.len()));
            pieces.push((*direction, piece));
            rest = behind;
        }
    }
    let seen = talk(protocol, &pieces);
    assert_eq!(
        seen,
        expected,
        "in pieces: {:?}",
        pieces.iter().map(|(_, piece)| piece.len()).collect::<Vec<_>>()
    );
}

/// Takes a reduced head, and checks that it tells the same as the head did; and gives it.
pub(crate) fn reduced(protocol: &Protocol, direction: Direction, bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    assert!((protocol.reduce)(bytes, direction, &mut out), "{}", bytes.escape_ascii());
    assert!(out.len() <= crate::MAX_REDUCED, "{}", out.escape_ascii());
    for missing in [0, 1_000] {
        let same = |head| first_request(protocol, Chunk { head, len: bytes.len() as u64 + missing });
        let expected = same(bytes).filter(|_| direction == Ask);
        if expected.is_some() {
            assert_eq!(same(&out), expected, "{} of {}", out.escape_ascii(), bytes.escape_ascii());
        }
    }
    out
}
