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
