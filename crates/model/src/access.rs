//! Requests as logs tell them: lines of access logs, and tables of percentiles.

use crate::ids::{SourceId, Tid};
use crate::time::{Nanos, Timestamp};
use serde::Serialize;

/// One line of an access log: a request that the server answered. Text borrows from the reader's buffer.
#[derive(Clone, Copy, Debug)]
pub struct Logged<'a> {
    /// Where it was read.
    pub source: SourceId,
    /// The line, from 1.
    pub line: u64,
    /// The time in the line. nginx writes when it answered, Apache when it read the request: which one is not known
    /// from the line.
    pub at: Timestamp,
    /// True where `at` is known to whole seconds only: lines of one second have no order.
    pub whole_second: bool,
    /// How long the server took, as the log tells it in a known unit.
    pub dur: Nanos,
    /// `GET`; empty where the server could not read the request.
    pub method: &'a [u8],
    /// What was asked for, with its query.
    pub target: &'a [u8],
    /// The status of the answer.
    pub status: Option<u16>,
    /// The address of the client.
    pub client: Option<&'a [u8]>,
    /// Whom the request was meant for (`Host`).
    pub host: Option<&'a [u8]>,
    /// The trace that it belongs to.
    pub trace_id: Option<&'a [u8]>,
    /// The process that served it.
    pub pid: Option<Tid>,
    /// Bytes of the request.
    pub request_bytes: Option<u64>,
    /// Bytes of the answer.
    pub answer_bytes: Option<u64>,
    /// The servers behind that were asked for it, one after the other.
    pub upstreams: &'a [Upstream<'a>],
    /// The line as it stands.
    pub raw: &'a [u8],
}

/// A server behind, as a line of an access log names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Upstream<'a> {
    /// Its address, if the log has it.
    pub address: Option<&'a [u8]>,
    /// From connecting to the last byte of its answer.
    pub dur: Nanos,
    /// The status of its answer.
    pub status: Option<u16>,
}

/// A table of percentiles, a row an endpoint. It tells nothing of how many requests there were.
#[derive(Clone, Debug, Serialize)]
pub struct PercentileTable {
    /// Where it was read.
    pub source: SourceId,
    /// What a value of 1 stands for; unknown where the table does not tell its unit.
    pub unit: Nanos,
    /// The percentiles, as parts of 1, in the order of the rows' values.
    pub quantiles: Vec<f64>,
    /// The rows, in the table's order.
    pub rows: Vec<PercentileRow>,
}

/// The percentiles of one endpoint.
#[derive(Clone, Debug, Serialize)]
pub struct PercentileRow {
    /// The endpoint.
    pub endpoint: String,
    /// To which of several runs it belongs, where the table tells: `before`.
    pub when: Option<String>,
    /// The values, in the table's unit; `None` where one is missing.
    pub values: Vec<Option<f64>>,
    /// The line, from 1.
    pub line: u64,
}

impl PercentileTable {
    /// The names of the runs that the rows belong to, in order of appearance.
    pub fn runs(&self) -> Vec<&str> {
        let mut runs = Vec::new();
        for when in self.rows.iter().filter_map(|row| row.when.as_deref()) {
            if !runs.contains(&when) {
                runs.push(when);
            }
        }
        runs
    }
}
