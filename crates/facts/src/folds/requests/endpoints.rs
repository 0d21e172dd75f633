//! Rows of requests: by endpoint, with the slowest and the failed ones kept; by peer and by thread.

use super::Requests;
use super::record::{Downstream, EndpointId, RequestRecord, Side, TimeSplit};
use super::retries::Retries;
use hashbrown::{Equivalent, HashMap};
use std::hash::Hash;
use std::sync::Arc;
use whyslow_model::{CallStats, Timestamp};

/// The name of an endpoint that cannot be seen.
pub(super) const UNKNOWN: &str = "unknown";

/// What a protocol is called that no decoder knows, or whose bytes are not in the capture.
pub const UNKNOWN_PROTOCOL: &str = "unknown protocol";

/// What is known of the requests of one endpoint.
#[derive(Debug)]
pub struct EndpointFacts {
    /// Which end of their connections this program is.
    pub side: Side,
    /// Their protocol; `None` where it was not recognised, `TLS` where it cannot be seen.
    pub protocol: Option<&'static str>,
    /// What they ask for: `GET /user/relations/{id}`, `HMGET relation:{…}`; `unknown` where that cannot be seen.
    pub name: Box<str>,
    /// Whom they ask (client); `None` for a server, and where unknown.
    pub peer: Option<Arc<str>>,
    /// The descriptor on which they are asked (client), of requests that cannot be seen to a server that nothing names, where the program's own
    /// initiative tells that it asks; `None` for others.
    pub fd: Option<i32>,
    /// Where they are asked (server), of requests that cannot be seen; `None` for others, and where unknown.
    pub local: Option<Arc<str>>,
    /// Answered and aborted ones: count, errors (aborted ones too), time from begin to end, bytes of the answers.
    pub stats: CallStats,
    /// Of these, aborted.
    pub aborted: u64,
    /// Those that were open at the end of the capture: not in `stats`.
    pub open: u64,
    /// Bytes of the requests.
    pub request_bytes: u64,
    /// When the first began.
    pub first: Timestamp,
    /// When the last ended.
    pub last: Timestamp,
    /// What was asked of others while they were open (server), in order of appearance.
    pub downstream: Vec<Downstream>,
    /// Where the time of their threads went, over the requests of `split_count`.
    pub split: TimeSplit,
    /// Requests that are in `split`.
    pub split_count: u64,
    /// Those that were asked again at once after they had failed (client).
    pub retries: Retries,
    /// Requests that one thread read and another one answered.
    pub handed_over: u64,
    /// Those that a thread made while it served several others, for one of which they may have been made (client).
    pub ambiguous: u64,
    /// How large they are.
    pub sizes: RequestSizes,
    /// The slowest.
    pub(super) slowest: Kept,
    /// The slowest of the failed.
    pub(super) failed: Kept,
}

impl EndpointFacts {
    fn new(key: &Key) -> EndpointFacts {
        // The address is one end or the other.
        let (peer, local) = match key.side {
            Side::Client => (key.address.clone(), None),
            Side::Server => (None, key.address.clone()),
        };
        EndpointFacts {
            side: key.side,
            protocol: key.protocol,
            name: key.name.clone(),
            peer,
            fd: key.fd,
            local,
            stats: CallStats::default(),
            aborted: 0,
            open: 0,
            request_bytes: 0,
            first: Timestamp::UNKNOWN,
            last: Timestamp::UNKNOWN,
            downstream: Vec::new(),
            split: TimeSplit::default(),
            split_count: 0,
            retries: Retries::default(),
            handed_over: 0,
            ambiguous: 0,
            sizes: RequestSizes::default(),
            slowest: Kept::default(),
            failed: Kept::default(),
        }
    }

    /// True where what is asked cannot be seen.
    pub fn is_hidden(&self) -> bool {
        &*self.name == UNKNOWN
    }

    /// True where that is because no decoder knows the protocol.
    pub fn is_undecoded(&self) -> bool {
        self.protocol.is_none() && self.is_hidden()
    }

    /// The protocol, in words; `None` for what shares a row because there were too many.
    pub fn protocol_words(&self) -> Option<&'static str> {
        self.protocol.or_else(|| self.is_undecoded().then_some(UNKNOWN_PROTOCOL))
    }

    /// Those of its requests that are kept: the slowest and the failed.
    pub fn kept(&self) -> impl Iterator<Item = &RequestRecord> {
        self.slowest.records.iter().chain(&self.failed.records)
    }

    pub(super) fn kept_mut(&mut self) -> impl Iterator<Item = &mut RequestRecord> {
        self.slowest.records.iter_mut().chain(&mut self.failed.records)
    }

    /// Takes a request in that ended; `None` where it is not kept.
    pub(super) fn wants(&self, ns: u64, failed: bool, limit: usize) -> bool {
        (failed && self.failed.wants(ns, Kept::of_failed(limit))) || self.slowest.wants(ns, limit)
    }

    pub(super) fn keep(&mut self, record: RequestRecord, limit: usize) -> usize {
        let ns = record.dur.or_zero();
        if record.failed() && self.failed.wants(ns, Kept::of_failed(limit)) {
            self.failed.push(record, Kept::of_failed(limit))
        } else if self.slowest.wants(ns, limit) {
            self.slowest.push(record, limit)
        } else {
            0
        }
    }
}

/// Bytes of requests: where the bytes themselves tell nothing, their number tells whether the same is asked.
#[derive(Clone, Copy, Debug, Default)]
pub struct RequestSizes {
    count: u64,
    mean: f64,
    /// The sum of the squares of what each is from the mean (Welford 1962).
    squares: f64,
}

impl RequestSizes {
    /// The deviation from the mean, as a part of it, up to which requests are alike: a key or a number that differs.
    const ALIKE: f64 = 0.25;

    pub(super) fn add(&mut self, bytes: u64) {
        self.count += 1;
        let off = bytes as f64 - self.mean;
        self.mean += off / self.count as f64;
        self.squares += off * (bytes as f64 - self.mean);
    }

    /// True where all are about as large.
    pub fn are_alike(&self) -> bool {
        let deviation = (self.squares / self.count.max(1) as f64).sqrt();
        self.count > 0 && deviation <= Self::ALIKE * self.mean
    }
}

/// The slowest of many requests.
#[derive(Debug, Default)]
pub(super) struct Kept {
    records: Vec<RequestRecord>,
    /// Place of the fastest, once full.
    least: usize,
}

impl Kept {
    /// How many failed ones are kept beside `limit` slowest.
    fn of_failed(limit: usize) -> usize {
        (limit / 4).max(1)
    }

    fn wants(&self, ns: u64, limit: usize) -> bool {
        self.records.len() < limit
            || self.records.get(self.least).is_none_or(|least| ns > least.dur.or_zero())
    }

    /// Adds a record; how many there are more than before.
    fn push(&mut self, record: RequestRecord, limit: usize) -> usize {
        let grown = self.records.len() < limit;
        if grown {
            self.records.push(record);
        } else {
            self.records[self.least] = record;
        }
        let by_dur = (0..self.records.len()).min_by_key(|at| self.records[*at].dur);
        self.least = by_dur.unwrap_or(0);
        usize::from(grown)
    }

    fn cut(&mut self, limit: usize) {
        self.records.sort_by_key(|record| std::cmp::Reverse(record.dur));
        self.records.truncate(limit);
        self.least = self.records.len().saturating_sub(1);
    }
}

/// Requests of one peer or one thread.
#[derive(Debug, Default)]
pub struct GroupFacts {
    /// Answered and aborted ones.
    pub stats: CallStats,
    /// Those that were open at the end of the capture.
    pub open: u64,
    /// Bytes of the requests.
    pub request_bytes: u64,
}

/// The rows of peers. Bounded, as those of threads are ([`row`]).
pub(super) type PeerRows = HashMap<PeerKey, GroupFacts>;

/// A peer: which end this program is, and who is at the other.
#[derive(PartialEq, Eq, Hash, Debug)]
pub(super) struct PeerKey(pub(super) Side, pub(super) Box<str>);

#[derive(Clone, Copy, Hash)]
struct PeerName<'a>(Side, &'a str);

impl Equivalent<PeerKey> for PeerName<'_> {
    fn equivalent(&self, key: &PeerKey) -> bool {
        self.0 == key.0 && *self.1 == *key.1
    }
}

impl From<&PeerName<'_>> for PeerKey {
    fn from(name: &PeerName<'_>) -> PeerKey {
        PeerKey(name.0, name.1.into())
    }
}

/// The row of a peer; past the bound one that all others share.
pub(super) fn peer_row<'r>(rows: &'r mut PeerRows, side: Side, name: &str) -> &'r mut GroupFacts {
    let key = PeerName(side, name);
    let is_told_apart = rows.len() < Requests::MAX_GROUPS || rows.contains_key(&key);
    let key = if is_told_apart { key } else { PeerName(side, "(other peers)") };
    rows.entry_ref(&key).or_default()
}

/// The row of `key`, or of `others` where there are too many.
pub(super) fn row<K: Eq + Hash>(rows: &mut HashMap<K, GroupFacts>, key: K, others: K) -> &mut GroupFacts {
    let key = if rows.len() < Requests::MAX_GROUPS || rows.contains_key(&key) { key } else { others };
    rows.entry(key).or_default()
}

#[derive(PartialEq, Eq, Hash, Debug)]
struct Key {
    side: Side,
    protocol: Option<&'static str>,
    name: Box<str>,
    /// Whom they ask; of a server whose requests cannot be seen where it is asked.
    address: Option<Arc<str>>,
    fd: Option<i32>,
}

#[derive(Hash)]
struct Asked<'a> {
    side: Side,
    protocol: Option<&'static str>,
    name: &'a str,
    address: Option<&'a str>,
    fd: Option<i32>,
}

impl Equivalent<Key> for Asked<'_> {
    fn equivalent(&self, key: &Key) -> bool {
        self.side == key.side
            && self.protocol == key.protocol
            && *self.name == *key.name
            && self.address == key.address.as_deref()
            && self.fd == key.fd
    }
}

/// All rows by endpoint. Bounded: past the cap the requests of new endpoints share a row for each side.
#[derive(Debug, Default)]
pub(super) struct Endpoints {
    rows: Vec<EndpointFacts>,
    index: HashMap<Key, EndpointId>,
    /// Records kept in all rows, about.
    kept: usize,
    /// Slowest records kept of each row; 0 for the first choice.
    limit: usize,
}

impl Endpoints {
    /// Rows.
    const MAX_ROWS: usize = 2_048;
    /// Slowest records of each row, as long as there are few rows.
    const KEPT_OF_EACH: usize = 64;
    /// Slowest records in all. One is about 1 KiB.
    const KEPT_IN_ALL: usize = 4_096;
    /// The name of what shares a row.
    const OTHERS: &str = "(other endpoints)";

    pub(super) fn rows(&self) -> &[EndpointFacts] {
        &self.rows
    }

    pub(super) fn get(&self, id: EndpointId) -> Option<&EndpointFacts> {
        self.rows.get(id.0 as usize)
    }

    pub(super) fn get_mut(&mut self, id: EndpointId) -> Option<&mut EndpointFacts> {
        self.rows.get_mut(id.0 as usize)
    }

    pub(super) fn id(
        &mut self,
        side: Side,
        protocol: Option<&'static str>,
        name: &str,
        address: Option<&Arc<str>>,
        fd: Option<i32>,
    ) -> EndpointId {
        let asked = Asked { side, protocol, name, address: address.map(|address| &**address), fd };
        if let Some(id) = self.index.get(&asked) {
            return *id;
        }
        if self.rows.len() >= Self::MAX_ROWS && name != Self::OTHERS {
            return self.id(side, None, Self::OTHERS, None, None);
        }
        let id = EndpointId(self.rows.len() as u32);
        let key = Key { side, protocol, name: name.into(), address: address.cloned(), fd };
        self.rows.push(EndpointFacts::new(&key));
        self.index.insert(key, id);
        id
    }

    fn limit(&self) -> usize {
        if self.limit == 0 { Self::KEPT_OF_EACH } else { self.limit }
    }

    /// Whether a request of that row would be kept.
    pub(super) fn wants(&self, id: EndpointId, ns: u64, failed: bool) -> bool {
        self.get(id).is_some_and(|row| row.wants(ns, failed, self.limit()))
    }

    pub(super) fn keep(&mut self, record: RequestRecord) {
        let limit = self.limit();
        let Some(row) = self.rows.get_mut(record.endpoint.0 as usize) else { return };
        self.kept += row.keep(record, limit);
        if self.kept > Self::KEPT_IN_ALL && limit > 1 {
            let limit = limit / 2;
            self.limit = limit;
            for row in &mut self.rows {
                row.slowest.cut(limit);
                row.failed.cut(Kept::of_failed(limit));
            }
            self.kept = self.rows.iter().map(|row| row.kept().count()).sum();
        }
    }
}
