//! What the views show: questions about the fleet, a few at a time, and answers that are kept for as long as they are as good as new.

use crate::range::Range;
use serde::Serialize;
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{OnceCell, Semaphore};
use whyslow_query_engine::QueryError;
use whyslow_query_fleet::{
    FindingHistory, Fleet, FleetCompare, FleetError, FleetFindings, FleetHost, FleetHosts, FleetOptions,
    FleetService, FleetServices, FleetSpan, FleetSpread, FleetWhy, GroupColumn, parse_time, why_span,
};

/// How long an answer is as good as new: agents tell a minute each minute.
const FRESH: Duration = Duration::from_secs(30);
/// An answer about the past changes when parts come late.
const FRESH_PAST: Duration = Duration::from_secs(300);
/// How long the questions of one span take the store as it was: those of a view read its lists once.
const SNAPSHOT: Duration = Duration::from_secs(15);
/// Answers that are kept.
const MOST_KEPT: usize = 200;
/// Fleets that are kept, a span each.
const MOST_FLEETS: usize = 8;
/// Questions that are worked on at once: each takes the CPUs that it is given, and memory.
const AT_ONCE: usize = 3;
/// Questions that wait for their turn; more are sent away.
const MOST_WAITING: usize = 64;
/// A question that takes longer is given up.
const PATIENCE: Duration = Duration::from_secs(50);
/// Bytes that sorts and groups of the questions about one span may hold.
const MEMORY: usize = 1 << 30;
/// Characters of a name at most: those of agents are shorter.
const LONGEST_NAME: usize = 4_096;
/// Hosts whose course is read for a service, where the settings do not say it.
const SAMPLE: usize = 24;

/// Opens the fleet with these options.
pub type FleetOpener = Arc<dyn Fn(FleetOptions) -> Result<Fleet, FleetError> + Send + Sync>;

/// A question.
#[derive(Clone, Debug)]
pub(crate) enum ServedQuestion {
    Findings { by: Vec<GroupColumn>, service: Option<String>, open: bool },
    Services,
    Service(String),
    Hosts,
    Host(String),
    Finding { rule: String, service: Option<String> },
    Where { rule: String, service: Option<String> },
    Why { service: String, at: String },
    Compare { old: String, new: String, service: Option<String> },
}

/// Its answer, as the command line's `--json` has it.
#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum ServedAnswer {
    Findings(FleetFindings),
    Services(FleetServices),
    Service(FleetService),
    Hosts(FleetHosts),
    Host(FleetHost),
    Finding(FindingHistory),
    Where(FleetSpread),
    Why(FleetWhy),
    Compare(FleetCompare),
}

/// An answer with what is to be said beside it.
pub(crate) struct Answered {
    pub(crate) answer: ServedAnswer,
    /// The span that it is about.
    pub(crate) span: FleetSpan,
    /// What was passed over, and why.
    pub(crate) remarks: Vec<String>,
    /// How long it took.
    pub(crate) took: Duration,
}

/// Why there is no answer.
#[derive(Clone, Debug)]
pub(crate) enum NoAnswer {
    /// The question is wrong, or there is nothing about it.
    Question(String),
    /// There is nothing of that time or name.
    Nothing(String),
    /// The store cannot be read.
    Store(String),
    /// It took longer than it may.
    TooLong,
    /// It took more memory than it may.
    TooLarge(String),
    /// Too much is asked at once.
    Busy,
}

impl NoAnswer {
    pub(crate) fn text(&self) -> Cow<'_, str> {
        match self {
            NoAnswer::Question(text)
            | NoAnswer::Nothing(text)
            | NoAnswer::Store(text)
            | NoAnswer::TooLarge(text) => text.into(),
            NoAnswer::TooLong => format!(
                "it takes longer than {} s\nnext: ask about a shorter time with `since`",
                PATIENCE.as_secs()
            )
            .into(),
            NoAnswer::Busy => "too many questions are asked at once; ask again in a moment".into(),
        }
    }
}

impl From<FleetError> for NoAnswer {
    fn from(error: FleetError) -> NoAnswer {
        let text = error.to_string();
        match error {
            FleetError::Nothing(_) => NoAnswer::Nothing(text),
            FleetError::Root { .. } | FleetError::Store { .. } => NoAnswer::Store(text),
            FleetError::Query(QueryError::TooLong(_)) => NoAnswer::TooLong,
            FleetError::Query(QueryError::TooLarge(_)) => NoAnswer::TooLarge(text),
            // The questions are ours: what an engine says of them is no mistake of who asked.
            FleetError::Query(_) => NoAnswer::Store(text),
            FleetError::Time { .. } => NoAnswer::Question(text),
        }
    }
}

type Slot = Arc<OnceCell<Result<Arc<Answered>, NoAnswer>>>;

/// The fleets that are open: one a span, so that what a view asks is told of the same lists and ends of parts.
struct OpenFleets {
    open: FleetOpener,
    kept: Mutex<HashMap<String, OpenFleet>>,
}

/// One of them: since when it is open, and the span that it is about.
type OpenFleet = (Instant, FleetSpan, Arc<Fleet>);

impl OpenFleets {
    /// The fleet that is known under a key, or one with these options.
    fn get(&self, key: String, options: FleetOptions) -> Result<(FleetSpan, Arc<Fleet>), FleetError> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|_, (begun, ..)| begun.elapsed() < SNAPSHOT);
        if let Some((_, span, fleet)) = kept.get(&key) {
            return Ok((*span, fleet.clone()));
        }
        if kept.len() >= MOST_FLEETS
            && let Some(oldest) =
                kept.iter().min_by_key(|(_, (begun, ..))| *begun).map(|(key, _)| key.clone())
        {
            kept.remove(&oldest);
        }
        let (span, fleet) = (options.span, Arc::new((self.open)(options)?));
        kept.insert(key, (Instant::now(), span, fleet.clone()));
        Ok((span, fleet))
    }
}

/// Asks.
pub(crate) struct Answers {
    fleets: Arc<OpenFleets>,
    threads: Option<usize>,
    sample: usize,
    kept: Mutex<HashMap<String, (Instant, Duration, Slot)>>,
    turns: Semaphore,
    waiting: Semaphore,
}

impl Answers {
    pub(crate) fn new(open: FleetOpener, threads: Option<usize>, sample: Option<usize>) -> Answers {
        Answers {
            fleets: Arc::new(OpenFleets { open, kept: Mutex::default() }),
            threads,
            sample: sample.unwrap_or(SAMPLE).max(1),
            kept: Mutex::default(),
            turns: Semaphore::new(AT_ONCE),
            waiting: Semaphore::new(MOST_WAITING),
        }
    }

    /// The answer, which another request may have asked for already.
    ///
    /// # Errors
    /// Why there is none.
    pub(crate) async fn ask(
        &self,
        question: ServedQuestion,
        range: &Range,
    ) -> Result<Arc<Answered>, NoAnswer> {
        question.check()?;
        range.span().map_err(NoAnswer::from)?;
        let key = format!("{question:?} {:?} {:?}", range.since(), range.until());
        let slot = self.slot(&key, if range.until().is_some() { FRESH_PAST } else { FRESH });
        let answer = slot.get_or_init(|| self.answer(question, range)).await.clone();
        if matches!(answer, Err(NoAnswer::Busy | NoAnswer::Store(_))) {
            self.kept.lock().unwrap_or_else(PoisonError::into_inner).remove(&key);
        }
        answer
    }

    fn slot(&self, key: &str, fresh: Duration) -> Slot {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|_, (begun, fresh, _)| begun.elapsed() < *fresh);
        if kept.len() >= MOST_KEPT
            && let Some(oldest) =
                kept.iter().min_by_key(|(_, (begun, ..))| *begun).map(|(key, _)| key.clone())
        {
            kept.remove(&oldest);
        }
        kept.entry(key.to_string()).or_insert_with(|| (Instant::now(), fresh, Slot::default())).2.clone()
    }

    async fn answer(&self, question: ServedQuestion, range: &Range) -> Result<Arc<Answered>, NoAnswer> {
        let _waits = self.waiting.try_acquire().map_err(|_| NoAnswer::Busy)?;
        let _turn = self.turns.acquire().await.map_err(|_| NoAnswer::Busy)?;
        let span = range.span()?;
        let (begun, sample) = (Instant::now(), self.sample);
        let (span, at) = match &question {
            ServedQuestion::Why { at, .. } => {
                let at = parse_time(at, span.until)?;
                (why_span(at), Some(at))
            }
            _ => (span, None),
        };
        let hosts = match &question {
            ServedQuestion::Host(host) => Some(BTreeSet::from([host.clone()])),
            _ => None,
        };
        let key = format!("{:?} {:?} {at:?} {hosts:?}", range.since(), range.until());
        let options = FleetOptions { span, hosts, memory: MEMORY, threads: self.threads, time: PATIENCE };
        let fleets = self.fleets.clone();
        // A thread of its own: who asked may go away, and others may wait for the same.
        let runtime = tokio::runtime::Handle::current();
        // What it holds meanwhile stays on that thread.
        let work = move || {
            runtime.block_on(async move {
                let (span, fleet) = fleets.get(key, options)?;
                let answer = tokio::time::timeout(PATIENCE, question.ask(&fleet, at, sample)).await;
                let answer = answer.map_err(|_| NoAnswer::TooLong)??;
                Ok::<Answered, NoAnswer>(Answered {
                    answer,
                    span,
                    remarks: fleet.remarks(),
                    took: begun.elapsed(),
                })
            })
        };
        match tokio::task::spawn_blocking(work).await {
            Ok(answered) => Ok(Arc::new(answered?)),
            Err(_) => Err(NoAnswer::Store("it failed: a mistake of ours".to_string())),
        }
    }
}

impl ServedQuestion {
    /// Names come from strangers' addresses.
    fn check(&self) -> Result<(), NoAnswer> {
        let longest = match self {
            ServedQuestion::Service(name) | ServedQuestion::Host(name) => name.len(),
            ServedQuestion::Finding { rule, service } | ServedQuestion::Where { rule, service } => {
                rule.len().max(service.as_ref().map_or(0, String::len))
            }
            ServedQuestion::Why { service, at } => service.len().max(at.len()),
            ServedQuestion::Compare { old, new, service } => {
                old.len().max(new.len()).max(service.as_ref().map_or(0, String::len))
            }
            ServedQuestion::Findings { service, .. } => service.as_ref().map_or(0, String::len),
            ServedQuestion::Services | ServedQuestion::Hosts => 0,
        };
        match longest <= LONGEST_NAME {
            true => Ok(()),
            false => Err(NoAnswer::Question(format!("a name has at most {LONGEST_NAME} characters"))),
        }
    }

    async fn ask(&self, fleet: &Fleet, at: Option<i64>, sample: usize) -> Result<ServedAnswer, FleetError> {
        Ok(match self {
            ServedQuestion::Findings { by, service, open } => {
                ServedAnswer::Findings(FleetFindings::ask(fleet, by, service.as_deref(), *open).await?)
            }
            ServedQuestion::Services => ServedAnswer::Services(FleetServices::ask(fleet).await?),
            ServedQuestion::Service(name) => {
                ServedAnswer::Service(FleetService::ask(fleet, name, sample).await?)
            }
            ServedQuestion::Hosts => ServedAnswer::Hosts(FleetHosts::ask(fleet).await?),
            ServedQuestion::Host(name) => ServedAnswer::Host(FleetHost::ask(fleet, name).await?),
            ServedQuestion::Finding { rule, service } => {
                ServedAnswer::Finding(FindingHistory::ask(fleet, rule, service.as_deref()).await?)
            }
            ServedQuestion::Where { rule, service } => {
                ServedAnswer::Where(FleetSpread::ask(fleet, rule, service.as_deref()).await?)
            }
            ServedQuestion::Why { service, .. } => {
                ServedAnswer::Why(FleetWhy::ask(fleet, service, at.unwrap_or_default()).await?)
            }
            ServedQuestion::Compare { old, new, service } => {
                ServedAnswer::Compare(FleetCompare::ask(fleet, old, new, service.as_deref()).await?)
            }
        })
    }
}
