//! Jobs: a plan is submitted, watched, and what came of it fetched. What is lost on the way is submitted again under the same name, as
//! long as nothing of the answer was given away; what is given up is cancelled.

use crate::address::ClusterAddress;
use crate::error::{ClusterError, told};
use crate::keys::{self, ClusterKeys, connector};
use crate::session::MOST_MESSAGE;
use ballista_core::client::BallistaClient;
use ballista_core::config::BALLISTA_JOB_NAME;
use ballista_core::extension::BallistaConfigGrpcEndpoint;
use ballista_core::ids::new_instance_id;
use ballista_core::serde::protobuf::execute_query_params::Query;
use ballista_core::serde::protobuf::execute_query_result::Result as Submitted;
use ballista_core::serde::protobuf::job_status::Status as JobState;
use ballista_core::serde::protobuf::scheduler_grpc_client::SchedulerGrpcClient;
use ballista_core::serde::protobuf::{
    CancelJobParams, CleanJobDataParams, ExecuteQueryParams, GetJobStatusParams, KeyValuePair,
    PartitionLocation, RemoveSessionParams,
};
use ballista_core::version::insert_version_header;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::common::Result as EngineResult;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::prelude::SessionConfig;
use futures::StreamExt;
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::mpsc::Sender;
use tonic::transport::Channel;
use tonic::{Code, Request, Status};

/// A scheduler that answered before may be away for so long: it is being restarted.
const AWAY: Duration = Duration::from_secs(60);
/// One that never answered may be starting.
const STARTING: Duration = Duration::from_secs(3);
/// Pauses between attempts to reach it.
const PAUSES: [Duration; 2] = [Duration::from_millis(100), Duration::from_secs(2)];
/// How often a job is done again whose executors were lost.
const AGAIN: usize = 3;
/// Pauses between two looks at a job.
const LOOKS: [Duration; 2] = [Duration::from_millis(4), Duration::from_millis(64)];
/// A job that was just submitted may not be known yet.
const UNKNOWN: Duration = Duration::from_secs(2);
/// Bytes of an answer that are held back until it is whole. A larger one is given away as it comes, and not asked for again.
const HELD: usize = 64 << 20;
/// Results that are opened at once.
const FETCHES: usize = 8;

/// The client of a scheduler.
type SchedulerClient = SchedulerGrpcClient<Channel>;

/// Why an attempt came to nothing.
enum Stopped {
    /// The scheduler does not answer.
    Away(ClusterError),
    /// The scheduler does not know the job any more, or an executor is lost.
    Lost(ClusterError),
    /// Another attempt would end alike.
    Over(ClusterError),
}

/// The jobs of one who asks.
#[derive(Debug)]
pub(crate) struct ClusterJobs {
    scheduler: ClusterAddress,
    keys: Option<ClusterKeys>,
    session: String,
    has_answered: AtomicBool,
    /// Jobs that the scheduler may be at work on.
    open: Arc<AtomicUsize>,
}

/// A job that was submitted; it is cancelled unless it is told that it is done.
struct Job {
    client: SchedulerClient,
    id: String,
    is_done: bool,
    open: Arc<AtomicUsize>,
}

impl Drop for Job {
    fn drop(&mut self) {
        let (mut client, open) = (self.client.clone(), self.open.clone());
        let (job_id, is_done) = (std::mem::take(&mut self.id), self.is_done);
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        runtime.spawn(async move {
            // What came of it is not needed any more either way.
            let _ = match is_done {
                true => client
                    .clean_job_data(CleanJobDataParams { job_id, remove_stage_ids: Vec::new() })
                    .await
                    .err(),
                false => client.cancel_job(CancelJobParams { job_id }).await.err(),
            };
            open.fetch_sub(1, Ordering::AcqRel);
        });
    }
}

impl ClusterJobs {
    pub(crate) fn new(scheduler: ClusterAddress, keys: Option<ClusterKeys>) -> ClusterJobs {
        ClusterJobs {
            scheduler,
            keys,
            session: new_instance_id(),
            has_answered: AtomicBool::new(false),
            open: Arc::default(),
        }
    }

    pub(crate) fn scheduler(&self) -> &ClusterAddress {
        &self.scheduler
    }

    /// Waits until the scheduler answers.
    pub(crate) async fn reach(&self) -> Result<SchedulerClient, ClusterError> {
        let (begun, mut pause) = (Instant::now(), PAUSES[0]);
        loop {
            match self.connect().await {
                Ok(client) => {
                    self.has_answered.store(true, Ordering::Release);
                    return Ok(client);
                }
                Err(reason) if begun.elapsed() + pause > self.patience() => {
                    return Err(ClusterError::Unreachable { address: self.scheduler.to_string(), reason });
                }
                Err(_) => tokio::time::sleep(pause).await,
            }
            pause = (pause * 2).min(PAUSES[1]);
        }
    }

    fn patience(&self) -> Duration {
        if self.has_answered.load(Ordering::Acquire) { AWAY } else { STARTING }
    }

    /// A connection to a scheduler that answers: one that takes other keys is told only when it is asked something.
    async fn connect(&self) -> Result<SchedulerClient, String> {
        let endpoint = keys::endpoint(&self.scheduler.to_string(), self.keys.as_ref())?;
        let channel = endpoint.connect().await.map_err(|error| told(&error))?;
        let mut client = SchedulerGrpcClient::new(channel)
            .max_decoding_message_size(MOST_MESSAGE)
            .max_encoding_message_size(MOST_MESSAGE);
        let asked = client.get_job_status(GetJobStatusParams { job_id: "none".to_string() });
        match tokio::time::timeout(STARTING, asked).await {
            Err(_) => Err("it says nothing".to_string()),
            Ok(Err(status)) => Err(told(&status)),
            // That it knows of no such job is an answer.
            Ok(Ok(_)) => Ok(client),
        }
    }

    /// Has a plan answered, and gives its rows to `to`. Where nobody takes them any more it ends.
    pub(crate) async fn answer(
        &self,
        plan: Vec<u8>,
        config: &SessionConfig,
        to: Sender<EngineResult<RecordBatch>>,
    ) -> Result<(), ClusterError> {
        let name = format!("whyslow-{}", new_instance_id());
        let entries = config.options().entries().into_iter().filter(|entry| entry.key != BALLISTA_JOB_NAME);
        let mut settings: Vec<KeyValuePair> =
            entries.map(|entry| KeyValuePair { key: entry.key, value: entry.value }).collect();
        settings.push(KeyValuePair { key: BALLISTA_JOB_NAME.to_string(), value: Some(name) });
        let params = ExecuteQueryParams {
            settings,
            session_id: self.session.clone(),
            operation_id: new_instance_id(),
            query: Some(Query::PhysicalPlan(plan)),
        };
        let (mut lost, mut away) = (0, None::<Instant>);
        loop {
            let error = match self.attempt(&params, &to).await {
                Ok(()) => return Ok(()),
                Err(Stopped::Over(error)) => return Err(error),
                Err(Stopped::Away(error)) => {
                    if away.get_or_insert_with(Instant::now).elapsed() > self.patience() {
                        return Err(error);
                    }
                    error
                }
                Err(Stopped::Lost(error)) => {
                    lost += 1;
                    away = None;
                    error
                }
            };
            if lost > AGAIN {
                return Err(error);
            }
            tokio::time::sleep(PAUSES[0]).await;
        }
    }

    async fn attempt(
        &self,
        params: &ExecuteQueryParams,
        to: &Sender<EngineResult<RecordBatch>>,
    ) -> Result<(), Stopped> {
        let mut client = self.reach().await.map_err(Stopped::Over)?;
        let mut request = Request::new(params.clone());
        insert_version_header(request.metadata_mut());
        let submitted = client.execute_query(request).await.map_err(|status| self.stopped(&status))?;
        let id = match submitted.into_inner().result {
            Some(Submitted::Success(submitted)) => submitted.job_id,
            Some(Submitted::Failure(failure)) => {
                return Err(Stopped::Over(ClusterError::Plan {
                    reason: plain(&format!("{:?}", failure.failure)),
                }));
            }
            None => return Err(Stopped::Over(job("it answered nothing".to_string()))),
        };
        self.open.fetch_add(1, Ordering::AcqRel);
        let mut job = Job { client, id, is_done: false, open: self.open.clone() };
        let results = self.watch(&mut job).await?;
        self.fetch(results, to).await?;
        job.is_done = true;
        Ok(())
    }

    /// Looks at a job until it is done.
    async fn watch(&self, job: &mut Job) -> Result<Vec<PartitionLocation>, Stopped> {
        let (begun, mut was_known, mut pause) = (Instant::now(), false, LOOKS[0]);
        loop {
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LOOKS[1]);
            let asked = job.client.get_job_status(GetJobStatusParams { job_id: job.id.clone() }).await;
            let state = match asked {
                Ok(found) => found.into_inner().status.and_then(|status| status.status),
                Err(status) => return Err(self.away(&status)),
            };
            match state {
                Some(JobState::Successful(done)) => return Ok(done.partition_location),
                Some(JobState::Failed(failed)) => {
                    job.is_done = true;
                    return Err(failure(&failed.error));
                }
                Some(_) => was_known = true,
                None if was_known || begun.elapsed() > UNKNOWN => {
                    let reason = "the scheduler forgot it again and again: it is restarted".to_string();
                    return Err(Stopped::Lost(ClusterError::Job { reason }));
                }
                None => {}
            }
        }
    }

    /// Fetches what came of a job.
    async fn fetch(
        &self,
        results: Vec<PartitionLocation>,
        to: &Sender<EngineResult<RecordBatch>>,
    ) -> Result<(), Stopped> {
        if let Some(reason) = twice(&results) {
            return Err(Stopped::Lost(job(reason)));
        }
        let mut all = futures::stream::iter(results).map(|result| self.open(result)).buffered(FETCHES);
        let (mut held, mut bytes) = (Vec::new(), 0);
        while let Some(result) = all.next().await {
            let is_given = bytes > HELD;
            let lost = |reason: String| match is_given {
                true => Stopped::Over(job(reason)),
                false => Stopped::Lost(job(reason)),
            };
            let mut rows = result.map_err(lost)?;
            while let Some(batch) = rows.next().await {
                let batch = batch.map_err(|error| lost(plain(&error.strip_backtrace())))?;
                bytes += batch.get_array_memory_size();
                held.push(batch);
                if bytes > HELD && !give(&mut held, to).await {
                    return Ok(());
                }
            }
        }
        give(&mut held, to).await;
        Ok(())
    }

    async fn open(&self, result: PartitionLocation) -> Result<SendableRecordBatchStream, String> {
        let (layout, file) = (result.layout(), result.file_id);
        let (Some(executor), Some(partition)) = (result.executor_meta, result.partition_id) else {
            return Err("it does not say where the results are".to_string());
        };
        let port = u16::try_from(executor.port).map_err(|_| "an executor has no port".to_string())?;
        let customize = Arc::new(BallistaConfigGrpcEndpoint::new(connector(self.keys.clone())));
        let use_tls = self.keys.is_some();
        let client = BallistaClient::try_new(
            &executor.host,
            port,
            MOST_MESSAGE,
            use_tls,
            Some(customize),
            1,
            100,
            0,
            0,
        );
        let mut client = client.await.map_err(|error| told(&error))?;
        let rows = client.fetch_partition(&executor.id, &partition.into(), file, layout, true).await;
        rows.map_err(|error| told(&error))
    }

    fn stopped(&self, status: &Status) -> Stopped {
        match status.code() {
            Code::Unavailable | Code::Cancelled | Code::Unknown | Code::DeadlineExceeded | Code::Aborted => {
                self.away(status)
            }
            _ => Stopped::Over(job(plain(status.message()))),
        }
    }

    fn away(&self, status: &Status) -> Stopped {
        let reason = plain(&told(status));
        Stopped::Away(ClusterError::Unreachable { address: self.scheduler.to_string(), reason })
    }

    /// Waits until jobs that were given up are cancelled, and says that this session is over.
    pub(crate) async fn close(&self, time: Duration) {
        let closed = async {
            while self.open.load(Ordering::Acquire) > 0 {
                tokio::time::sleep(LOOKS[0]).await;
            }
            if let Ok(endpoint) = keys::endpoint(&self.scheduler.to_string(), self.keys.as_ref())
                && let Ok(channel) = endpoint.connect().await
            {
                let params = RemoveSessionParams { session_id: self.session.clone() };
                let _ = SchedulerGrpcClient::new(channel).remove_session(params).await;
            }
        };
        let _ = tokio::time::timeout(time, closed).await;
    }
}

/// Gives batches away; false where nobody takes them.
async fn give(held: &mut Vec<RecordBatch>, to: &Sender<EngineResult<RecordBatch>>) -> bool {
    for batch in held.drain(..) {
        if to.send(Ok(batch)).await.is_err() {
            return false;
        }
    }
    true
}

/// Where a part of the answer is there twice: an executor was lost, what it had was done again, and then it came back.
fn twice(results: &[PartitionLocation]) -> Option<String> {
    let mut seen = HashSet::new();
    let mut parts = results.iter().filter_map(|result| {
        let part = result.partition_id.as_ref()?;
        Some((part.stage_id, part.partition_id, result.map_partition_id))
    });
    parts
        .any(|part| !seen.insert(part))
        .then(|| "a part of the answer came twice, again and again".to_string())
}

fn job(reason: String) -> ClusterError {
    ClusterError::Job { reason }
}

/// Whether a job failed because of what it asks, or because machines went.
fn failure(text: &str) -> Stopped {
    /// Words of Ballista for results that are gone and executors that do not answer.
    const MACHINES: [&str; 6] = [
        "FetchFailed",
        "fetch partition",
        "ExecutorLost",
        "GrpcConnection",
        "transport error",
        "no executors",
    ];
    let is_of_machines = MACHINES.iter().any(|word| text.contains(word));
    let reason = plain(cause(text));
    if text.contains("There is no UD") {
        let reason = format!("its executors are not of this program: {reason}");
        return Stopped::Over(ClusterError::Plan { reason });
    }
    match is_of_machines {
        true => Stopped::Lost(job(reason)),
        false => Stopped::Over(job(reason)),
    }
}

/// What a task failed of, without the steps and types through which it was told.
fn cause(text: &str) -> &str {
    const AROUND: [&str; 5] = ["DataFusionError(", "Shared(", "External(", "ArrowError(", "Execution("];
    let mut text = text.rsplit_once("execution error: ").map_or(text, |(_, cause)| cause).trim();
    while let Some(inner) = AROUND.iter().find_map(|around| text.strip_prefix(around)?.strip_suffix(')')) {
        text = inner.trim_end_matches(", None").trim_matches('"');
    }
    if text == "DivideByZero" { "divide by zero" } else { text }
}

/// What Ballista says, in a line.
fn plain(text: &str) -> String {
    let line: String = text.lines().next().unwrap_or_default().chars().take(600).collect();
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use ballista_core::serde::protobuf::PartitionId;

    #[test]
    fn what_machines_did_is_tried_again_and_what_the_question_did_is_not() {
        for (text, again) in [
            ("Job x failed: FetchFailed { executor .. }", true),
            ("tonic transport error: connection refused", true),
            ("DataFusionError(Execution(\"Divide by zero\"))", false),
            ("There is no UDAF named \"p99\" in the TaskContext", false),
        ] {
            assert_eq!(matches!(failure(text), Stopped::Lost(_)), again, "{text}");
        }
    }

    #[test]
    fn a_part_of_an_answer_counts_once() {
        let part = |partition_id, map_partition_id| PartitionLocation {
            partition_id: Some(PartitionId { job_id: "j".to_string(), stage_id: 3, partition_id }),
            map_partition_id,
            ..PartitionLocation::default()
        };
        assert_eq!(twice(&[part(0, 0), part(1, 0), part(0, 1)]), None);
        assert!(twice(&[part(0, 0), part(1, 0), part(0, 0)]).is_some());
    }

    #[test]
    fn a_task_failed_of_what_stands_innermost() {
        for (text, says) in [
            (
                "Job failed due to stage 2 failed: Task failed due to runtime execution error: \
                 DataFusionError(Shared(External(ArrowError(DivideByZero))))",
                "divide by zero",
            ),
            ("DataFusionError(Execution(\"too long\"))", "too long"),
            ("anything else)", "anything else)"),
        ] {
            assert_eq!(cause(text), says);
        }
    }

    #[tokio::test]
    async fn nobody_at_the_address_is_told_with_what_to_do() {
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let jobs = ClusterJobs::new(format!("127.0.0.1:{port}").parse().unwrap(), None);
        let error = jobs.reach().await.expect_err("nobody").to_string();
        assert!(error.contains("does not answer") && error.contains("next: "), "{error}");
    }
}
