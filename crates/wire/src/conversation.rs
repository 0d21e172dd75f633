//! What the tests of the protocols share: conversations, and what decoders tell of them.

use crate::{Chunk, Decoder, Direction, Protocol, Step};

/// A chunk of a conversation: `>` to the server, `<` from it.
pub(crate) type Said = (char, &'static [u8]);

/// The direction of what was said.
pub(crate) fn direction(way: char) -> Direction {
    if way == '>' { Direction::Request } else { Direction::Response }
}

/// A step as text: `1 asked SELECT ?`.
pub(crate) fn text(step: &Step) -> String {
    match step {
        Step::Asked(key, request) if request.one_way => format!("{} sent {}", key.0, request.endpoint),
        Step::Asked(key, request) => format!("{} asked {}", key.0, request.endpoint),
        Step::Asks(key) => format!("{} asks", key.0),
        Step::Answered(key, None) => format!("{} answered", key.0),
        Step::Answered(key, Some(status)) => {
            format!("{} answered {}{}", key.0, if status.is_error { "!" } else { "" }, status.text)
        }
        Step::Answers(key) => format!("{} answers", key.0),
        Step::Done(key) => format!("{} done", key.0),
        Step::Unclear(key) => format!("{} unclear", key.0),
    }
}

/// The steps of one chunk.
pub(crate) fn steps_of(decoder: &mut dyn Decoder, way: char, head: &[u8], len: u64) -> Vec<String> {
    let mut steps = Vec::new();
    decoder.take(direction(way), Chunk { head, len }, &mut |step| steps.push(text(&step)));
    steps
}

/// The steps of a conversation.
pub(crate) fn steps(protocol: &Protocol, said: &[Said]) -> Vec<String> {
    let mut decoder = (protocol.decoder)();
    said.iter().flat_map(|(way, bytes)| steps_of(&mut *decoder, *way, bytes, bytes.len() as u64)).collect()
}

/// The steps of a conversation of which only the first bytes of each chunk are there.
pub(crate) fn steps_of_heads(protocol: &Protocol, said: &[Said], kept: usize) -> Vec<String> {
    let mut decoder = (protocol.decoder)();
    said.iter()
        .flat_map(|(way, bytes)| {
            steps_of(&mut *decoder, *way, &bytes[..bytes.len().min(kept)], bytes.len() as u64)
        })
        .collect()
}

/// The steps of a conversation cut into chunks of so many bytes; what goes on is not told.
pub(crate) fn steps_in_pieces(protocol: &Protocol, said: &[Said], size: usize) -> Vec<String> {
    let mut decoder = (protocol.decoder)();
    said.iter()
        .flat_map(|(way, bytes)| bytes.chunks(size).map(|piece| (*way, piece)))
        .flat_map(|(way, piece)| steps_of(&mut *decoder, way, piece, piece.len() as u64))
        .filter(|step| !goes_on(step))
        .collect()
}

/// True for steps that depend on where chunks end.
pub(crate) fn goes_on(step: &str) -> bool {
    step.ends_with(" asks") || step.ends_with(" answers") || step.ends_with(" answered")
}

/// The steps of a conversation of which only that is there which may be kept unasked.
pub(crate) fn steps_of_kept(protocol: &Protocol, said: &[Said]) -> Vec<String> {
    let mut decoder = (protocol.decoder)();
    said.iter()
        .flat_map(|(way, bytes)| {
            let mut kept = Vec::new();
            (protocol.reduce)(bytes, direction(*way), &mut kept);
            steps_of(&mut *decoder, *way, &kept, bytes.len() as u64)
        })
        .collect()
}

/// Checks that a decoder tells the same wherever chunks end, the same of what may be kept as of the first bytes, and that
/// it survives chunks of which most is missing.
pub(crate) fn check(protocol: &Protocol, said: &[Said]) {
    let whole: Vec<_> = steps(protocol, said).into_iter().filter(|step| !goes_on(step)).collect();
    for size in [1, 2, 3, 5, 7, 11, 64, 200] {
        assert_eq!(steps_in_pieces(protocol, said, size), whole, "in pieces of {size}");
    }
    for kept in 0..48 {
        steps_of_heads(protocol, said, kept);
    }
}

/// Checks that of these heads, whole or cut, nothing is kept that contains the secret.
pub(crate) fn check_kept(protocol: &Protocol, heads: &[Said], secret: &[u8]) {
    for (way, head) in heads {
        for end in 0..=head.len() {
            let mut kept = Vec::new();
            (protocol.reduce)(&head[..end], direction(*way), &mut kept);
            assert!(kept.len() <= crate::MAX_REDUCED);
            let left = secret.windows(4).find(|part| memchr::memmem::find(&kept, part).is_some());
            assert!(left.is_none(), "{} of {}", kept.escape_ascii(), head.escape_ascii());
        }
    }
}

/// Checks that a decoder survives noise between what is said, and reductions of it.
pub(crate) fn check_noise(protocol: &Protocol, said: &[Said], noise: &[(bool, Vec<u8>, u64, usize)]) {
    let mut decoder = (protocol.decoder)();
    for (asks, bytes, missing, at) in noise {
        let (way, chunk) = said[at % said.len()];
        steps_of(&mut *decoder, way, chunk, chunk.len() as u64);
        // The beginning of a message, and then anything.
        let mixed = [&chunk[..chunk.len().min(at % 24)], bytes].concat();
        let way = if *asks { '>' } else { '<' };
        steps_of(&mut *decoder, way, &mixed, mixed.len() as u64 + missing);
        let mut kept = Vec::new();
        (protocol.reduce)(&mixed, direction(way), &mut kept);
        assert!(kept.len() <= crate::MAX_REDUCED);
    }
}

/// Noise for [`check_noise`].
pub(crate) fn noise() -> impl proptest::strategy::Strategy<Value = Vec<(bool, Vec<u8>, u64, usize)>> {
    use proptest::prelude::*;
    let missing = prop_oneof![Just(0), 0..100u64, Just(1 << 40)];
    prop::collection::vec(
        (any::<bool>(), prop::collection::vec(any::<u8>(), 0..60), missing, 0..10_000usize),
        0..24,
    )
}
