//! gRPC: what it says over HTTP/2 (grpc.io, "gRPC over HTTP2").

use crate::Status;
use crate::turn::{failed, fine};

/// Names of the statuses (grpc.io, "Status codes and their use in gRPC").
const STATUSES: [&str; 17] = [
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
];

/// What its messages are called, perhaps with what they are in (`application/grpc+proto`).
pub(super) const CONTENT: &[u8] = b"application/grpc";

/// True for the content of gRPC, and not for that of gRPC-Web, whose status is in its body.
pub(super) fn is_content(content_type: &[u8]) -> bool {
    content_type.strip_prefix(CONTENT).is_some_and(|rest| matches!(rest.first(), None | Some(b'+' | b';')))
}

/// The status of that code.
pub(super) fn status(code: u8) -> Status {
    match (code, STATUSES.get(usize::from(code))) {
        (0, _) => fine("OK"),
        (_, Some(name)) => failed((*name).to_owned()),
        (_, None) => failed(format!("STATUS {code}")),
    }
}
