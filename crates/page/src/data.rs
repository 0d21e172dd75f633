//! What a page holds, as its scripts read it (`page/src/data.ts` says the same). Times are nanoseconds from the start of the run's
//! window. What is unknown is null, never 0. Columns are of equal length; `start` and `at` hold differences, where it says so.

use serde::Serialize;
use serde_json::Value;
use whyslow_model::TimeState;

/// Bumped when a field changes its meaning.
pub(crate) const SCHEMA: u32 = 1;

/// The whole document.
#[derive(Debug, Serialize)]
pub(crate) struct PageData {
    pub(crate) schema: u32,
    pub(crate) made_by: String,
    /// One; two for before and after.
    pub(crate) runs: Vec<PageRun>,
    pub(crate) diff: Option<Value>,
}

/// One recording, or captures read as one.
#[derive(Debug, Serialize)]
pub(crate) struct PageRun {
    pub(crate) name: String,
    pub(crate) kind: &'static str,
    /// ns; 0 where the input has no clock: nothing is drawn over time then.
    pub(crate) length: u64,
    pub(crate) started: Option<String>,
    /// The start of the window as the input's clock has it, ns, in digits: more than a browser's numbers hold.
    pub(crate) origin: Option<String>,
    pub(crate) texts: Vec<String>,
    pub(crate) diagnosis: Value,
    pub(crate) threads: Vec<PageThread>,
    pub(crate) timeline: PageTimeline,
    pub(crate) requests: Option<PageRequests>,
    pub(crate) waits: Vec<PageWait>,
    pub(crate) stacks: Option<PageStacks>,
    pub(crate) tables: Vec<PageTable>,
    /// What stands behind each row of the account; empty where there is none.
    pub(crate) account: Vec<Option<PageLead>>,
    pub(crate) host: Vec<PageSeries>,
    pub(crate) left_out: Vec<String>,
}

/// A thread; other fields name it by its place in the list.
#[derive(Debug, Serialize)]
pub(crate) struct PageThread {
    pub(crate) pid: u32,
    pub(crate) tid: u32,
    pub(crate) name: u32,
    pub(crate) process: u32,
    pub(crate) role: Option<u32>,
    pub(crate) target: bool,
    pub(crate) from: Option<i64>,
    pub(crate) to: Option<i64>,
}

/// What a thread does, coarser than [`TimeState`]: as many colours as people tell apart.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum PageState {
    Running,
    Runnable,
    Peer,
    File,
    Lock,
    Timer,
    Child,
    Pipe,
    Work,
    Other,
    Unknown,
    InCall,
    BetweenCalls,
}

impl PageState {
    /// States.
    pub(crate) const COUNT: usize = PageState::BetweenCalls as usize + 1;

    /// Of a state of the account; `for_work` says that such waits of the thread are for work.
    pub(crate) fn of(state: TimeState, for_work: bool) -> PageState {
        match state {
            TimeState::User | TimeState::Kernel | TimeState::OnCpu => PageState::Running,
            TimeState::RunQueue | TimeState::Throttled | TimeState::Stolen => PageState::Runnable,
            TimeState::InCall => PageState::InCall,
            TimeState::BetweenCalls => PageState::BetweenCalls,
            TimeState::Accept => PageState::Work,
            _ if for_work => PageState::Work,
            TimeState::File => PageState::File,
            TimeState::Peer | TimeState::Client => PageState::Peer,
            TimeState::Pipe => PageState::Pipe,
            TimeState::Lock => PageState::Lock,
            TimeState::Timer => PageState::Timer,
            TimeState::Child => PageState::Child,
            TimeState::PageFault | TimeState::KernelWait | TimeState::Poll | TimeState::Event => {
                PageState::Other
            }
            TimeState::Unknown => PageState::Unknown,
        }
    }
}

/// What happened when.
#[derive(Debug, Default, Serialize)]
pub(crate) struct PageTimeline {
    pub(crate) tiles: PageTiles,
    pub(crate) slices: PageSlices,
    pub(crate) wakes: PageWakes,
    pub(crate) marks: Vec<PageMark>,
}

/// All time of the threads, added up in equal parts.
#[derive(Debug, Default, Serialize)]
pub(crate) struct PageTiles {
    pub(crate) buckets: u64,
    /// Where the first begins; 0 or less.
    pub(crate) from: i64,
    /// Length of each, ns.
    pub(crate) width: u64,
    pub(crate) thread: Vec<u32>,
    pub(crate) bucket: Vec<u32>,
    pub(crate) state: Vec<u8>,
    pub(crate) ns: Vec<u64>,
}

/// Calls one by one, by their start.
#[derive(Debug, Default, Serialize)]
pub(crate) struct PageSlices {
    pub(crate) thread: Vec<u32>,
    /// Differences.
    pub(crate) start: Vec<i64>,
    pub(crate) took: Vec<Option<u64>>,
    pub(crate) state: Vec<u8>,
    pub(crate) call: Vec<u32>,
    pub(crate) object: Vec<Option<u32>>,
    pub(crate) error: Vec<Option<u32>>,
    pub(crate) site: Vec<Option<u32>>,
    pub(crate) line: Vec<Option<u32>>,
    /// Captures alone: which one, and the number of the line in it, which is there for calls without their line too.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) file: Vec<u32>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) row: Vec<u64>,
}

/// Wake-ups, by their time.
#[derive(Debug, Default, Serialize)]
pub(crate) struct PageWakes {
    pub(crate) from: Vec<u32>,
    pub(crate) to: Vec<u32>,
    /// Differences.
    pub(crate) at: Vec<i64>,
}

/// Where a finding shows.
#[derive(Debug, Serialize)]
pub(crate) struct PageMark {
    pub(crate) finding: usize,
    pub(crate) thread: Option<u32>,
    pub(crate) from: i64,
    pub(crate) to: i64,
}

/// Requests one by one, by their start, and what is known of all.
#[derive(Debug, Default, Serialize)]
pub(crate) struct PageRequests {
    pub(crate) endpoint: Vec<u32>,
    pub(crate) served: Vec<bool>,
    /// Differences.
    pub(crate) start: Vec<i64>,
    pub(crate) took: Vec<u64>,
    pub(crate) failed: Vec<bool>,
    pub(crate) thread: Vec<Option<u32>>,
    pub(crate) peer: Vec<Option<u32>>,
    pub(crate) endpoints: Vec<PageEndpoint>,
}

/// All requests of an endpoint.
#[derive(Debug, Serialize)]
pub(crate) struct PageEndpoint {
    pub(crate) endpoint: u32,
    pub(crate) count: u64,
    pub(crate) p50: Option<u64>,
    pub(crate) p95: Option<u64>,
    pub(crate) p99: Option<u64>,
    pub(crate) max: Option<u64>,
    pub(crate) failed: u64,
}

/// Somebody waits for somebody or something.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct PageWait {
    pub(crate) from: u32,
    pub(crate) to: Option<u32>,
    pub(crate) object: Option<u32>,
    pub(crate) state: u8,
    pub(crate) ns: u64,
    pub(crate) count: u64,
    pub(crate) critical: bool,
}

/// Stacks as a tree.
#[derive(Debug, Default, Serialize)]
pub(crate) struct PageStacks {
    pub(crate) parent: Vec<i32>,
    pub(crate) frame: Vec<u32>,
    pub(crate) place: Vec<Option<u32>>,
    pub(crate) language: Vec<u8>,
    pub(crate) cpu_samples: Vec<u64>,
    pub(crate) off_cpu_ns: Vec<u64>,
    pub(crate) ns_per_sample: Option<u64>,
}

/// What stands behind a figure: which calls one looks at to see it. What is not said narrows nothing.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct PageLead {
    /// The place of a thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) thread: Option<u32>,
    /// The place of a thread: it, and those with its process's name and its role.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) alike: Option<u32>,
    /// The threads of a process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) pid: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) call: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) object: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) state: Option<u8>,
    /// Requests of it instead of calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) endpoint: Option<u32>,
}

/// A table of a view.
#[derive(Debug, Serialize)]
pub(crate) struct PageTable {
    pub(crate) id: &'static str,
    pub(crate) title: String,
    pub(crate) columns: Vec<PageColumn>,
    pub(crate) rows: Vec<Vec<Value>>,
    /// What stands behind each row; empty where there is nothing behind any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) leads: Vec<Option<PageLead>>,
    pub(crate) left_out: usize,
}

/// A column of one.
#[derive(Debug, Serialize)]
pub(crate) struct PageColumn {
    pub(crate) name: &'static str,
    pub(crate) kind: &'static str,
}

/// A figure of the host over time.
#[derive(Debug, Serialize)]
pub(crate) struct PageSeries {
    pub(crate) resource: String,
    pub(crate) name: &'static str,
    pub(crate) unit: &'static str,
    pub(crate) at: Vec<i64>,
    pub(crate) value: Vec<Option<f64>>,
}
