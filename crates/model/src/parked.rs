//! Goroutines that wait and are on no thread, counted by place.

use crate::figures::quantity;
use crate::ids::Tid;
use serde::{Deserialize, Serialize};

/// What a goroutine waits for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ParkedFor {
    /// A lock that another one holds.
    Lock,
    /// One that takes what it sends on a channel.
    Send,
    /// An answer of a peer.
    Answer,
    /// A connection, of a pool or a new one.
    Connection,
    /// The network, a pipe: to read or to write, on whoever's behalf.
    Io,
    /// A time.
    Sleep,
    /// Other goroutines, while a request is served that waits for them: a channel to receive from, a condition, their end.
    HandOff,
    /// A channel to receive from.
    Receive,
    /// Any of several channels.
    Select,
    /// A condition.
    Condition,
    /// The end of other goroutines.
    Group,
    /// A new client.
    Accept,
    /// Something else.
    Other,
}

impl ParkedFor {
    /// True for waits in which a goroutine has something to do and cannot. The others may be waits for work, or are.
    pub fn is_held_up(self) -> bool {
        use ParkedFor::{Answer, Connection, HandOff, Lock, Send};
        matches!(self, Lock | Send | Answer | Connection | HandOff)
    }
}

/// Goroutines of a process that wait at one place (table `parked`): counted some times a second. Counts are samples, and no times.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Parked {
    /// The process.
    pub pid: Tid,
    /// What they wait for.
    pub waits: ParkedFor,
    /// The same in the words of Go's own traces: `sync.Mutex.Lock`, `chan receive`.
    pub call: String,
    /// The innermost function of the program's own code.
    pub function: String,
    /// Its source file and line; `None` where no line is known.
    pub place: Option<String>,
    /// Goroutines of all counts together, where a count looked at a part of them in proportion.
    pub goroutines: u64,
    /// How often those of the process were counted.
    pub looks: u64,
}

/// How many goroutines wait at one place, on average: a part of what is known of a wait of their threads.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ParkedAt {
    /// What they wait for.
    pub waits: ParkedFor,
    /// The same in words.
    pub call: String,
    /// The innermost function of the program's own code.
    pub function: String,
    /// Its line: `order.go:88`.
    pub place: Option<String>,
    /// How many, on average over all counts.
    pub mean: f64,
}

impl ParkedAt {
    /// `main.reserve (stock.go:42)`.
    pub fn site(&self) -> String {
        match &self.place {
            Some(place) => format!("{} ({place})", self.function),
            None => self.function.clone(),
        }
    }

    /// `sync.Mutex.Lock at main.reserve (stock.go:42)`.
    pub fn words(&self) -> String {
        format!("{} at {}", self.call, self.site())
    }

    /// `15.0 goroutines wait in sync.Mutex.Lock at main.reserve (stock.go:42)`.
    pub fn counted(&self) -> String {
        match &*quantity(self.mean) {
            "1" => format!("1 goroutine waits in {}", self.words()),
            mean => format!("{mean} goroutines wait in {}", self.words()),
        }
    }
}
