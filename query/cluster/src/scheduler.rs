//! The scheduler: it cuts plans into tasks, and hands these to executors that ask for some. It reads no parts.

use crate::address::ClusterAddress;
use crate::error::{ClusterError, told};
use crate::keys::{ClusterKeys, connector};
use crate::service::ClusterService;
use crate::session::{self, MOST_MESSAGE};
use axum::extract::ConnectInfo;
use ballista_core::config::TaskSchedulingPolicy;
use ballista_core::serde::protobuf::scheduler_grpc_server::SchedulerGrpcServer;
use ballista_scheduler::cluster::BallistaCluster;
use ballista_scheduler::config::SchedulerConfig;
use ballista_scheduler::scheduler_process::create_scheduler;
use datafusion_proto::protobuf::{LogicalPlanNode, PhysicalPlanNode};
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::net::TcpListener;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::Server;
use tonic::transport::server::TcpIncoming;
use tonic::{Request, Status};

/// An executor that said nothing for so long is lost, in seconds. A busy one asks every 5 s.
const SILENT: u64 = 15;
/// How often it is looked for such, in seconds.
const LOOK: u64 = 2;
/// Seconds for which results are kept whose asker did not say that it has them.
const KEPT: u64 = 60;

/// What a scheduler is told.
#[derive(Clone, Debug)]
pub struct ClusterSchedulerOptions {
    /// Where it listens; port 0 for any.
    pub bind: SocketAddr,
    /// Without them it listens on this machine alone.
    pub keys: Option<ClusterKeys>,
}

/// Runs a scheduler until `stop` ends. `listening` is told where.
///
/// # Errors
/// If it may not or cannot listen there, or the server ends.
pub async fn run_scheduler(
    options: ClusterSchedulerOptions,
    listening: impl FnOnce(SocketAddr),
    stop: impl Future<Output = ()>,
) -> Result<(), ClusterError> {
    ClusterAddress::from(options.bind).check(options.keys.as_ref())?;
    let address = options.bind.to_string();
    let not_there = |reason: String| ClusterError::Listen { address: address.clone(), reason };
    let listener = TcpListener::bind(options.bind).await.map_err(|error| not_there(error.to_string()))?;
    let bound = listener.local_addr().map_err(|error| not_there(error.to_string()))?;
    let config = Arc::new(config(bound, options.keys.clone()));
    let failed = |error: &dyn std::error::Error| ClusterError::Job { reason: told(error) };
    let cluster = BallistaCluster::new_from_config(&config).await.map_err(|error| failed(&error))?;
    let jobs = cluster.job_state();
    let scheduler = create_scheduler::<LogicalPlanNode, PhysicalPlanNode>(cluster, config).await;
    let scheduler = scheduler.map_err(|error| failed(&error))?;
    let service = SchedulerGrpcServer::new(ClusterService::new(scheduler, jobs))
        .max_decoding_message_size(MOST_MESSAGE)
        .max_encoding_message_size(MOST_MESSAGE);
    let mut server = Server::builder();
    if let Some(keys) = &options.keys {
        server = server.tls_config(keys.of_server()).map_err(|error| not_there(told(&error)))?;
    }
    listening(bound);
    let incoming = TcpIncoming::from(listener).with_nodelay(Some(true));
    tokio::select! {
        served = server.add_service(InterceptedService::new(service, with_origin)).serve_with_incoming(incoming) => {
            served.map_err(|error| not_there(told(&error)))
        }
        () = stop => Ok(()),
    }
}

/// Where a request comes from: Ballista wants to know it of an executor that does not say where it is.
fn with_origin(mut request: Request<()>) -> Result<Request<()>, Status> {
    let Some(from) = request.remote_addr() else { return Err(Status::internal("it comes from nowhere")) };
    request.extensions_mut().insert(ConnectInfo(from));
    Ok(request)
}

fn config(bound: SocketAddr, keys: Option<ClusterKeys>) -> SchedulerConfig {
    let message = u32::try_from(MOST_MESSAGE).unwrap_or(u32::MAX);
    SchedulerConfig {
        namespace: "whyslow".to_string(),
        external_host: bound.ip().to_string(),
        bind_host: bound.ip().to_string(),
        bind_port: bound.port(),
        // Executors ask for tasks: they need not be reached from here, and a new scheduler knows them as soon as they ask.
        scheduling_policy: TaskSchedulingPolicy::PullStaged,
        executor_timeout_seconds: SILENT,
        expire_dead_executor_interval_seconds: LOOK,
        no_executors_grace_period_seconds: 2 * SILENT,
        finished_job_data_clean_up_interval_seconds: KEPT,
        finished_job_state_clean_up_interval_seconds: KEPT,
        grpc_server_max_decoding_message_size: message,
        grpc_server_max_encoding_message_size: message,
        grpc_client_max_message_size: message,
        override_session_builder: Some(Arc::new(session::of_scheduler)),
        override_create_grpc_client_endpoint: Some(connector(keys.clone())),
        use_tls: keys.is_some(),
        ..SchedulerConfig::default()
    }
}
