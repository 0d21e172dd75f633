//! What a scheduler answers: all that Ballista does, but that a job is done whose steps were begun again.
//!
//! Where an executor is lost, Ballista 55.0 begins a step again whose inputs are gone, and leaves what the first try had already given to
//! the next step (`rollback_running_stage` in execution_graph.rs takes nothing away): the answer then has rows twice. Such a job is told as
//! failed for the lost executor, and who asks submits it again.

use async_trait::async_trait;
use ballista_core::JobId;
use ballista_core::serde::protobuf::job_status::Status as State;
use ballista_core::serde::protobuf::scheduler_grpc_server::SchedulerGrpc;
use ballista_core::serde::protobuf::{
    CancelJobParams, CancelJobResult, CleanJobDataParams, CleanJobDataResult, CreateUpdateSessionParams,
    CreateUpdateSessionResult, ExecuteQueryParams, ExecuteQueryResult, ExecutorStoppedParams,
    ExecutorStoppedResult, FailedJob, GetJobMetricsParams, GetJobMetricsResult, GetJobStatusParams,
    GetJobStatusResult, HeartBeatParams, HeartBeatResult, PollWorkParams, PollWorkResult,
    RegisterExecutorParams, RegisterExecutorResult, RemoveSessionParams, RemoveSessionResult, RunningJob,
    UpdateTaskStatusParams, UpdateTaskStatusResult,
};
use ballista_scheduler::cluster::JobState;
use ballista_scheduler::scheduler_server::SchedulerServer;
use ballista_scheduler::state::execution_graph::ExecutionGraphBox;
use ballista_scheduler::state::execution_stage::ExecutionStage;
use datafusion_proto::protobuf::{LogicalPlanNode, PhysicalPlanNode};
use std::sync::Arc;
use tonic::{Request, Response, Status};

/// Ballista's own.
pub(crate) type Stock = SchedulerServer<LogicalPlanNode, PhysicalPlanNode>;

/// Answers as Ballista does, of whose jobs it has the state.
pub(crate) struct ClusterService {
    stock: Stock,
    jobs: Arc<dyn JobState>,
}

impl ClusterService {
    pub(crate) fn new(stock: Stock, jobs: Arc<dyn JobState>) -> ClusterService {
        ClusterService { stock, jobs }
    }
}

/// Whether a step of the job was begun again.
fn began_again(graph: &ExecutionGraphBox) -> bool {
    graph.stages().values().any(|stage| {
        let attempts = match stage {
            ExecutionStage::UnResolved(stage) => stage.stage_attempt_num,
            ExecutionStage::Resolved(stage) => stage.stage_attempt_num,
            ExecutionStage::Running(stage) => stage.stage_attempt_num,
            ExecutionStage::Successful(stage) => stage.stage_attempt_num,
            ExecutionStage::Failed(stage) => stage.stage_attempt_num,
        };
        attempts > 0
    })
}

#[async_trait]
impl SchedulerGrpc for ClusterService {
    async fn get_job_status(
        &self,
        request: Request<GetJobStatusParams>,
    ) -> Result<Response<GetJobStatusResult>, Status> {
        let id = JobId::from(request.get_ref().job_id.clone());
        let mut answer = self.stock.get_job_status(request).await?;
        let Some(job) = &mut answer.get_mut().status else { return Ok(answer) };
        let Some(State::Successful(done)) = &job.status else { return Ok(answer) };
        let (queued_at, started_at, ended_at) = (done.queued_at, done.started_at, done.ended_at);
        let graph = self.jobs.get_execution_graph(&id).await;
        let graph = graph.map_err(|error| Status::internal(error.to_string()))?;
        match graph.filter(|graph| matches!(graph.status().status, Some(State::Successful(_)))) {
            // It is told as done a moment before it is kept as done.
            None => {
                job.status =
                    Some(State::Running(RunningJob { queued_at, started_at, ..RunningJob::default() }))
            }
            Some(graph) if began_again(&graph) => {
                let error = "ExecutorLost: a step was begun again".to_string();
                job.status = Some(State::Failed(FailedJob { error, queued_at, started_at, ended_at }));
            }
            Some(_) => {}
        }
        Ok(answer)
    }

    async fn poll_work(&self, request: Request<PollWorkParams>) -> Result<Response<PollWorkResult>, Status> {
        self.stock.poll_work(request).await
    }

    async fn register_executor(
        &self,
        request: Request<RegisterExecutorParams>,
    ) -> Result<Response<RegisterExecutorResult>, Status> {
        self.stock.register_executor(request).await
    }

    async fn heart_beat_from_executor(
        &self,
        request: Request<HeartBeatParams>,
    ) -> Result<Response<HeartBeatResult>, Status> {
        self.stock.heart_beat_from_executor(request).await
    }

    async fn update_task_status(
        &self,
        request: Request<UpdateTaskStatusParams>,
    ) -> Result<Response<UpdateTaskStatusResult>, Status> {
        self.stock.update_task_status(request).await
    }

    async fn create_update_session(
        &self,
        request: Request<CreateUpdateSessionParams>,
    ) -> Result<Response<CreateUpdateSessionResult>, Status> {
        self.stock.create_update_session(request).await
    }

    async fn remove_session(
        &self,
        request: Request<RemoveSessionParams>,
    ) -> Result<Response<RemoveSessionResult>, Status> {
        self.stock.remove_session(request).await
    }

    type ExecuteQueryPushStream = <Stock as SchedulerGrpc>::ExecuteQueryPushStream;

    async fn execute_query_push(
        &self,
        request: Request<ExecuteQueryParams>,
    ) -> Result<Response<Self::ExecuteQueryPushStream>, Status> {
        self.stock.execute_query_push(request).await
    }

    async fn execute_query(
        &self,
        request: Request<ExecuteQueryParams>,
    ) -> Result<Response<ExecuteQueryResult>, Status> {
        self.stock.execute_query(request).await
    }

    async fn get_job_metrics(
        &self,
        request: Request<GetJobMetricsParams>,
    ) -> Result<Response<GetJobMetricsResult>, Status> {
        self.stock.get_job_metrics(request).await
    }

    async fn executor_stopped(
        &self,
        request: Request<ExecutorStoppedParams>,
    ) -> Result<Response<ExecutorStoppedResult>, Status> {
        self.stock.executor_stopped(request).await
    }

    async fn cancel_job(
        &self,
        request: Request<CancelJobParams>,
    ) -> Result<Response<CancelJobResult>, Status> {
        SchedulerGrpc::cancel_job(&self.stock, request).await
    }

    async fn clean_job_data(
        &self,
        request: Request<CleanJobDataParams>,
    ) -> Result<Response<CleanJobDataResult>, Status> {
        self.stock.clean_job_data(request).await
    }
}
