//! Parts of an account whose every text is one text, and whose figures are one figure.

use whyslow_model::{
    ContentOf, Nanos, RequestPart, RequestTimes, RequestsTime, RowDevice, TimeState, WorkedOnContent,
};

pub(crate) fn device(text: &str, figure: u64) -> Option<RowDevice> {
    Some(RowDevice { name: text.to_string(), await_ns: Nanos::new(figure) })
}

pub(crate) fn works_on(text: &str, figure: u64, share: f64) -> Vec<WorkedOnContent> {
    let (of, object, ns, bytes) = (ContentOf::File, text.to_string(), figure, figure);
    vec![WorkedOnContent { of, object, ns, share, rounds: figure, reads: figure, bytes }]
}

pub(crate) fn requests(text: &str, figure: u64, share: f64) -> Vec<RequestTimes> {
    let ns = Nanos::new(figure);
    let part = RequestPart { state: TimeState::Peer, object: Some(text.to_string()), ns: figure, share };
    let all = RequestsTime { count: figure, from_ns: ns, ns: figure, mean_ns: ns, parts: vec![part] };
    vec![RequestTimes { endpoint: text.to_string(), all: all.clone(), slowest: Some(all) }]
}
