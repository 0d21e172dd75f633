//! What a store says, as what is to be done about it.

use std::error::Error as _;
use whyslow_parts::PartError;

/// Why something could not be done with a store.
#[derive(Debug, thiserror::Error)]
pub enum DepotError {
    /// The address is none.
    #[error(
        "{url}: {reason}; give a directory, s3://BUCKET/PREFIX, gs://BUCKET/PREFIX or az://CONTAINER/PREFIX"
    )]
    Address {
        /// As it was given.
        url: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The file of credentials, or what the environment says of them, cannot be used.
    #[error("{url}: the store's settings cannot be used: {reason}")]
    Settings {
        /// The store.
        url: String,
        /// What is wrong.
        reason: String,
    },
    /// The store does not let us.
    #[error(
        "{url}: the store refuses it: {reason}; let these credentials list, read, create and delete below that address \
         (S3: s3:ListBucket, s3:GetObject, s3:PutObject, s3:DeleteObject), or give others"
    )]
    Refused {
        /// The store.
        url: String,
        /// What it said.
        reason: String,
    },
    /// There is no such bucket, container or directory.
    #[error("{url}: there is no such bucket, container or directory: {reason}; make it, or mend the address")]
    NoBucket {
        /// The store.
        url: String,
        /// What it said.
        reason: String,
    },
    /// It does not answer, or not now: to be tried again.
    #[error("{url}: the store does not answer as it should: {reason}; it is tried again later")]
    Away {
        /// The store.
        url: String,
        /// What happened.
        reason: String,
    },
    /// What was asked for is not there (any more).
    #[error("{url}: {path} is not there")]
    Missing {
        /// The store.
        url: String,
        /// The object.
        path: String,
    },
    /// Another object has the name.
    #[error(
        "{url}: {path} is there with other bytes: two agents use the same host name and run, or it was changed"
    )]
    Other {
        /// The store.
        url: String,
        /// The object.
        path: String,
    },
    /// A part cannot be read or written.
    #[error("{path}: {error}")]
    Part {
        /// The part.
        path: String,
        /// What is wrong with it.
        error: PartError,
    },
}

impl DepotError {
    /// Whether nothing but time is needed.
    pub fn passes(&self) -> bool {
        matches!(self, DepotError::Away { .. })
    }

    /// Of what the library says about `path`.
    pub(crate) fn of(url: &str, path: &str, error: object_store::Error) -> DepotError {
        use object_store::Error;
        let (url, reason) = (url.to_string(), told(&error));
        match error {
            // Of lists the library does not tell these apart.
            _ if no_bucket(&reason) => DepotError::NoBucket { url, reason },
            _ if reason.contains("403 Forbidden") || reason.contains("401 Unauthorized") => {
                DepotError::Refused { url, reason }
            }
            Error::NotFound { .. } => DepotError::Missing { url, path: path.to_string() },
            Error::PermissionDenied { .. } | Error::Unauthenticated { .. } => DepotError::Refused { url, reason },
            _ if reason.contains("URL scheme is not allowed") => DepotError::Settings {
                url,
                reason: "its endpoint is http://, which sends all unencrypted: give one with https://, or allow it by --plain-http".to_string(),
            },
            // Credentials that are not there are asked of the machine's own service, which then does not answer.
            _ if reason.contains("169.254.") || reason.contains("metadata.google") => DepotError::Refused {
                url,
                reason: format!("no credentials are given, and this machine's own service has none ({reason})"),
            },
            _ => DepotError::Away { url, reason },
        }
    }
}

fn no_bucket(reason: &str) -> bool {
    ["NoSuchBucket", "ContainerNotFound", "The specified bucket does not exist"]
        .iter()
        .any(|text| reason.contains(text))
}

/// The error and its causes in one line, each once, and no longer than a line of a log.
fn told(error: &object_store::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !text.contains(&more) {
            text.push_str(": ");
            text.push_str(&more);
        }
        cause = error.source();
    }
    let line: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().filter(|character| !character.is_control()).take(600).collect()
}
