//! At what one process waits for another.

use serde::{Serialize, Serializer};
use std::fmt::{self, Display};

/// At what one process waits for another. Written, in recordings too, as words: `a pipe`, `the lock of /srv/orders.lock`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Via {
    /// A pipe that two processes share.
    Pipe,
    /// A pipe with a name: a FIFO.
    NamedPipe(String),
    /// A lock of this file.
    FileLock(String),
    /// A lock in memory that is shared, as far as it is known where.
    SharedLock(String),
    /// A lock that the sessions of a database wait for.
    DatabaseLock,
    /// Two unix sockets that are connected without a name.
    UnixPair,
    /// A socket, by the address or the path at which it is asked; or what else is told in words.
    Peer(String),
}

const PIPE: &str = "a pipe";
const NAMED_PIPE: &str = "the pipe ";
const FILE_LOCK: &str = "the lock of ";
const SHARED_LOCK: &str = "a lock in ";
const DATABASE_LOCK: &str = "a lock of the database";
const UNIX_PAIR: &str = "a pair of unix sockets";

impl Via {
    /// What these words say.
    pub fn of_words(words: &str) -> Via {
        let named = |start: &str| words.strip_prefix(start).map(str::to_string);
        match words {
            PIPE => Via::Pipe,
            DATABASE_LOCK => Via::DatabaseLock,
            UNIX_PAIR => Via::UnixPair,
            _ => named(NAMED_PIPE)
                .map(Via::NamedPipe)
                .or_else(|| named(FILE_LOCK).map(Via::FileLock))
                .or_else(|| named(SHARED_LOCK).map(Via::SharedLock))
                .unwrap_or_else(|| Via::Peer(words.to_string())),
        }
    }

    /// Where it is, as far as it has a name.
    pub fn place(&self) -> Option<&str> {
        match self {
            Via::NamedPipe(place) | Via::FileLock(place) | Via::SharedLock(place) | Via::Peer(place) => {
                Some(place)
            }
            Via::Pipe | Via::DatabaseLock | Via::UnixPair => None,
        }
    }

    /// The same, to be written over.
    pub fn place_mut(&mut self) -> Option<&mut String> {
        match self {
            Via::NamedPipe(place) | Via::FileLock(place) | Via::SharedLock(place) | Via::Peer(place) => {
                Some(place)
            }
            Via::Pipe | Via::DatabaseLock | Via::UnixPair => None,
        }
    }

    /// True for what has no name of its own: two of them may be of two processes that have nothing in common.
    pub fn is_anybodys(&self) -> bool {
        matches!(self, Via::Pipe | Via::UnixPair)
    }
}

impl Display for Via {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Via::Pipe => f.write_str(PIPE),
            Via::NamedPipe(path) => write!(f, "{NAMED_PIPE}{path}"),
            Via::FileLock(path) => write!(f, "{FILE_LOCK}{path}"),
            Via::SharedLock(place) => write!(f, "{SHARED_LOCK}{place}"),
            Via::DatabaseLock => f.write_str(DATABASE_LOCK),
            Via::UnixPair => f.write_str(UNIX_PAIR),
            Via::Peer(address) => f.write_str(address),
        }
    }
}

impl Serialize for Via {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_say_what_was_meant() {
        for (words, via) in [
            ("a pipe", Via::Pipe),
            ("the pipe /run/x", Via::NamedPipe("/run/x".to_string())),
            ("the lock of /srv/a.lock", Via::FileLock("/srv/a.lock".to_string())),
            ("a lock in shared memory", Via::SharedLock("shared memory".to_string())),
            ("a lock of the database", Via::DatabaseLock),
            ("a pair of unix sockets", Via::UnixPair),
            ("127.0.0.1:80", Via::Peer("127.0.0.1:80".to_string())),
            ("", Via::Peer(String::new())),
        ] {
            assert_eq!(Via::of_words(words), via);
            assert_eq!(via.to_string(), words);
        }
    }
}
