//! Of which whole a share is a part.

use crate::event::Tid;
use serde::{Serialize, Serializer};
use std::fmt::{self, Display};

/// Of which whole a share is a part. Written as words: `wall time of thread 512`, `calls`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum ShareOf {
    /// The time that was recorded.
    WallTime,
    /// All calls.
    Calls,
    /// The time of all requests that were served.
    Requests,
    /// The time of one thread, or of what is known of it.
    Thread {
        /// Which.
        tid: Tid,
        /// Which time, up to the word `thread`: `wall time of`, `the life of`.
        time: &'static str,
    },
    /// Something else, in words; empty where it is unknown.
    Named(String),
}

impl ShareOf {
    /// The wall time of a thread.
    pub fn wall_time_of(tid: Tid) -> ShareOf {
        ShareOf::Thread { tid, time: "wall time of" }
    }

    /// The life of a thread, as far as it was recorded.
    pub fn life_of(tid: Tid) -> ShareOf {
        ShareOf::Thread { tid, time: "the life of" }
    }

    /// True where nobody says of what.
    pub fn is_unknown(&self) -> bool {
        matches!(self, ShareOf::Named(words) if words.is_empty())
    }
}

impl Default for ShareOf {
    fn default() -> ShareOf {
        ShareOf::Named(String::new())
    }
}

impl From<String> for ShareOf {
    fn from(words: String) -> ShareOf {
        ShareOf::Named(words)
    }
}

impl From<&str> for ShareOf {
    fn from(words: &str) -> ShareOf {
        ShareOf::Named(words.to_string())
    }
}

impl Display for ShareOf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ShareOf::WallTime => f.write_str("wall time"),
            ShareOf::Calls => f.write_str("calls"),
            ShareOf::Requests => f.write_str("the requests' time"),
            ShareOf::Thread { tid, time } => write!(f, "{time} thread {tid}"),
            ShareOf::Named(words) => f.write_str(words),
        }
    }
}

impl Serialize for ShareOf {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_written_as_words() {
        let all = [
            ShareOf::WallTime,
            ShareOf::Calls,
            ShareOf::Requests,
            ShareOf::wall_time_of(7),
            ShareOf::life_of(8),
            "x".into(),
            ShareOf::default(),
        ];
        let words: Vec<String> = all.iter().map(|of| serde_json::to_string(of).unwrap()).collect();
        let expected = [
            r#""wall time""#,
            r#""calls""#,
            r#""the requests' time""#,
            r#""wall time of thread 7""#,
            r#""the life of thread 8""#,
            r#""x""#,
            r#""""#,
        ];
        assert_eq!(words, expected);
        assert!(all.iter().filter(|of| of.is_unknown()).count() == 1);
    }
}
