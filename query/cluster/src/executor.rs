//! An executor: it asks the scheduler for tasks, reads parts below its root and nothing else, and serves what came of its tasks.
//!
//! It lives as long as it is not stopped. Where the scheduler does not answer, what it was told by it is worth nothing any more: the
//! executor gives its tasks up, removes what came of them, and comes back under a new name. The scheduler has done again what the old name had.

use crate::address::ClusterAddress;
use crate::error::{ClusterError, told};
use crate::keys::{self, ClusterKeys, connector};
use crate::session::{self, MOST_MESSAGE};
use arrow_flight::flight_service_server::FlightServiceServer;
use async_trait::async_trait;
use ballista_core::extension::SessionConfigExt;
use ballista_core::ids::new_instance_id;
use ballista_core::serde::BallistaCodec;
use ballista_core::serde::protobuf::executor_grpc_server::{ExecutorGrpc, ExecutorGrpcServer};
use ballista_core::serde::protobuf::executor_resource::Resource;
use ballista_core::serde::protobuf::scheduler_grpc_client::SchedulerGrpcClient;
use ballista_core::serde::protobuf::{
    CancelTasksParams, CancelTasksResult, ExecutorRegistration, ExecutorResource, ExecutorSpecification,
    ExecutorStoppedParams, LaunchMultiTaskParams, LaunchMultiTaskResult, LaunchTaskParams, LaunchTaskResult,
    RemoveJobDataParams, RemoveJobDataResult, StopExecutorParams, StopExecutorResult,
};
use ballista_core::{BALLISTA_PROTOCOL_VERSION, ConfigProducer, RuntimeProducer};
use ballista_executor::execution_engine::DefaultExecutionEngine;
use ballista_executor::execution_loop::poll_loop;
use ballista_executor::executor::Executor;
use ballista_executor::flight_service::BallistaFlightService;
use ballista_executor::health::ExecutorHealth;
use ballista_executor::metrics::LoggingMetricsCollector;
use ballista_executor::runtime_cache::{DefaultSessionRuntimeCache, MemoryPoolPolicy};
use datafusion::common::{DataFusionError, Result as EngineResult};
use datafusion::execution::memory_pool::FairSpillPool;
use datafusion::execution::object_store::ObjectStoreRegistry;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::prelude::SessionConfig;
use object_store::ObjectStore;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::net::TcpListener;
use tonic::transport::server::TcpIncoming;
use tonic::transport::{Channel, Server};
use tonic::{Request, Response, Status};
use url::Url;
use whyslow_query_fleet::parts_store;

/// Sessions whose open stores and ends of parts are kept.
const SESSIONS: usize = 16;
/// How often it is looked whether the scheduler still answers.
const LOOK: Duration = Duration::from_millis(100);
/// A scheduler that never answered by then is asked anew.
const FIRST: Duration = Duration::from_secs(30);
/// The longest pause between two attempts to reach the scheduler.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// Bytes that one task may put aside.
const MOST_SPILLED: u64 = 4 << 30;

/// What an executor is told.
#[derive(Clone, Debug)]
pub struct ClusterExecutorOptions {
    /// Whom it asks for tasks.
    pub scheduler: ClusterAddress,
    /// Where others fetch what came of its tasks; port 0 for any.
    pub bind: SocketAddr,
    /// The name or address by which others reach it; that of `bind` where none is said.
    pub advertise: Option<String>,
    /// Where the parts are: nothing else is read.
    pub root: String,
    /// The folder for what comes of tasks. All in it is removed.
    pub work: PathBuf,
    /// Tasks at once.
    pub threads: usize,
    /// Bytes that sorts, groups and joins may hold, over all tasks.
    pub memory: usize,
    /// Without them it stays on this machine.
    pub keys: Option<ClusterKeys>,
}

/// Runs an executor until `stop` ends. `tell` is told in words where it listens, and when the scheduler comes and goes.
///
/// # Errors
/// If it may not or cannot listen, or its root cannot be used.
pub async fn run_executor(
    options: ClusterExecutorOptions,
    tell: impl Fn(&str),
    stop: impl Future<Output = ()>,
) -> Result<(), ClusterError> {
    let keys = options.keys.as_ref();
    options.scheduler.check(keys)?;
    ClusterAddress::from(options.bind).check(keys)?;
    let store = parts_store(&options.root)
        .map_err(|error| ClusterError::Place { what: options.root.clone(), reason: error.to_string() })?;
    let address = options.bind.to_string();
    let not_there = |reason: String| ClusterError::Listen { address: address.clone(), reason };
    let listener = TcpListener::bind(options.bind).await.map_err(|error| not_there(error.to_string()))?;
    let bound = listener.local_addr().map_err(|error| not_there(error.to_string()))?;
    let work = options.work.to_str().map(str::to_string);
    let work = work.ok_or_else(|| ClusterError::Place {
        what: options.work.display().to_string(),
        reason: "its name is no text".to_string(),
    })?;
    let current = Current::default();
    let results = FlightServiceServer::new(BallistaFlightService::new(work.clone()))
        .max_decoding_message_size(MOST_MESSAGE)
        .max_encoding_message_size(MOST_MESSAGE);
    let mut server = Server::builder();
    if let Some(keys) = keys {
        server = server.tls_config(keys.of_server()).map_err(|error| not_there(told(&error)))?;
    }
    let server = server.add_service(results).add_service(ExecutorGrpcServer::new(current.clone()));
    let incoming = TcpIncoming::from(listener).with_nodelay(Some(true));
    let maker = Maker { store, work, bound, options: &options };
    tell(&format!("listens on {bound}"));
    tokio::select! {
        served = server.serve_with_incoming(incoming) => served.map_err(|error| not_there(told(&error))),
        () = work_on(&maker, &current, &tell) => Ok(()),
        () = stop => {
            leave(&maker, &current).await;
            Ok(())
        }
    }
}

/// Asks for tasks, under a new name each time that the scheduler was away.
async fn work_on(maker: &Maker<'_>, current: &Current, tell: &impl Fn(&str)) {
    let scheduler = &maker.options.scheduler;
    let mut last: Option<String> = None;
    loop {
        let mut client = maker.scheduler(tell).await;
        if let Some(last) = last.take() {
            // What it had is done again at once, and not when it is missed.
            let gone =
                ExecutorStoppedParams { executor_id: last, reason: "it lost its scheduler".to_string() };
            let _ = client.executor_stopped(gone).await;
        }
        clear(&maker.options.work);
        let executor = Arc::new(maker.executor());
        last = Some(executor.metadata.id.clone());
        current.set(Some(executor.clone()));
        let health = ExecutorHealth::new();
        let codec = BallistaCodec::default();
        let polls = poll_loop(client, executor, codec, None, None, health.clone());
        tokio::select! {
            ended = polls => {
                if let Err(error) = ended {
                    tell(&format!("stopped asking {scheduler}: {}", told(&error)));
                }
            }
            () = lost(&health, || tell(&format!("asks {scheduler} for tasks"))) => {
                tell(&format!("{scheduler} does not answer; its tasks are given up"));
            }
        }
        current.set(None);
    }
}

/// Ends when a scheduler that answered does so no more, or one never did.
async fn lost(health: &ExecutorHealth, answered: impl FnOnce()) {
    let first = async {
        while !health.is_ready() {
            tokio::time::sleep(LOOK).await;
        }
    };
    if tokio::time::timeout(FIRST, first).await.is_err() {
        return;
    }
    answered();
    while health.is_ready() {
        tokio::time::sleep(LOOK).await;
    }
}

/// Says that this executor goes.
async fn leave(maker: &Maker<'_>, current: &Current) {
    let Some(executor) = current.get() else { return };
    let Ok(endpoint) = keys::endpoint(&maker.options.scheduler.to_string(), maker.options.keys.as_ref())
    else {
        return;
    };
    let params = ExecutorStoppedParams {
        executor_id: executor.metadata.id.clone(),
        reason: "it was stopped".to_string(),
    };
    let said = async {
        if let Ok(channel) = endpoint.connect().await {
            let _ = SchedulerGrpcClient::new(channel).executor_stopped(params).await;
        }
    };
    let _ = tokio::time::timeout(Duration::from_secs(2), said).await;
}

/// Removes what came of tasks: whoever might ask for it does not know this executor any more.
fn clear(work: &Path) {
    let Ok(entries) = std::fs::read_dir(work) else { return };
    for entry in entries.flatten() {
        let _ = std::fs::remove_dir_all(entry.path());
    }
}

/// What executors are made of.
struct Maker<'o> {
    store: (Url, Arc<dyn ObjectStore>),
    work: String,
    bound: SocketAddr,
    options: &'o ClusterExecutorOptions,
}

impl Maker<'_> {
    /// A connection to the scheduler; it is tried until there is one.
    async fn scheduler(&self, tell: &impl Fn(&str)) -> SchedulerGrpcClient<Channel> {
        let mut pause = LOOK;
        let mut is_told = false;
        loop {
            let endpoint = keys::endpoint(&self.options.scheduler.to_string(), self.options.keys.as_ref());
            let connected = match endpoint {
                Ok(endpoint) => endpoint.connect().await.map_err(|error| told(&error)),
                Err(reason) => Err(reason),
            };
            match connected {
                Ok(channel) => {
                    return SchedulerGrpcClient::new(channel)
                        .max_decoding_message_size(MOST_MESSAGE)
                        .max_encoding_message_size(MOST_MESSAGE);
                }
                Err(reason) if !is_told => {
                    tell(&format!("waits for {}: {reason}", self.options.scheduler));
                    is_told = true;
                }
                Err(_) => {}
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    fn registration(&self) -> ExecutorRegistration {
        let host = ClusterAddress::from(self.bound).host().to_string();
        let port = u32::from(self.bound.port());
        let threads = u32::try_from(self.options.threads.max(1)).unwrap_or(u32::MAX);
        ExecutorRegistration {
            id: new_instance_id(),
            host: Some(self.options.advertise.clone().unwrap_or(host)),
            port,
            // One server has both services.
            grpc_port: port,
            specification: Some(ExecutorSpecification {
                resources: vec![ExecutorResource { resource: Some(Resource::Vcores(threads)) }],
            }),
            os_info: Some(Default::default()),
            ballista_protocol_version: BALLISTA_PROTOCOL_VERSION,
        }
    }

    fn executor(&self) -> Executor {
        let threads = self.options.threads.max(1);
        let (work, registry) = (self.work.clone(), Arc::new(PartsRegistry(self.store.clone())));
        let base: RuntimeProducer = Arc::new(move |_: &SessionConfig| {
            RuntimeEnvBuilder::new()
                .with_object_store_registry(registry.clone())
                .with_temp_file_path(&work)
                .with_max_temp_directory_size(MOST_SPILLED)
                .build_arc()
        });
        let share = self.options.memory / threads;
        let limited: MemoryPoolPolicy = Arc::new(move |base, _: &SessionConfig, vcores| {
            let pool = FairSpillPool::new(share.saturating_mul(vcores.max(1) as usize));
            RuntimeEnvBuilder::from_runtime_env(&base).with_memory_pool(Arc::new(pool)).build_arc()
        });
        let whole: RuntimeProducer = {
            let (base, limited) = (base.clone(), limited.clone());
            Arc::new(move |config: &SessionConfig| limited(base(config)?, config, 1))
        };
        let keys = self.options.keys.clone();
        // Executors fetch from each other.
        let config: ConfigProducer = Arc::new(move || {
            session::settings(threads)
                .with_ballista_use_tls(keys.is_some())
                .with_ballista_override_create_grpc_client_endpoint(connector(keys.clone()))
        });
        Executor::new(
            self.registration(),
            &self.work,
            whole,
            config,
            Arc::new(session::functions()),
            Arc::new(LoggingMetricsCollector::default()),
            threads,
            Arc::new(DefaultExecutionEngine::new()),
        )
        .with_session_runtime_cache(Some(Arc::new(DefaultSessionRuntimeCache::new(base, limited, SESSIONS))))
    }
}

/// The stores that plans may name: one.
#[derive(Debug)]
struct PartsRegistry((Url, Arc<dyn ObjectStore>));

impl ObjectStoreRegistry for PartsRegistry {
    fn register_store(&self, _: &Url, _: Arc<dyn ObjectStore>) -> Option<Arc<dyn ObjectStore>> {
        None
    }

    fn get_store(&self, url: &Url) -> EngineResult<Arc<dyn ObjectStore>> {
        let (own, store) = &self.0;
        match url[..url::Position::BeforePath] == own[..url::Position::BeforePath] {
            true => Ok(store.clone()),
            false => Err(DataFusionError::Execution(format!("this executor reads {own}, and not {url}"))),
        }
    }
}

/// The executor of now, for whom the scheduler has something to say.
#[derive(Clone, Default)]
struct Current(Arc<Mutex<Option<Arc<Executor>>>>);

impl Current {
    fn set(&self, executor: Option<Arc<Executor>>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = executor;
    }

    fn get(&self) -> Option<Arc<Executor>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn asks_for_tasks<T>() -> Result<Response<T>, Status> {
    Err(Status::unimplemented("this executor asks for its tasks"))
}

#[async_trait]
impl ExecutorGrpc for Current {
    async fn launch_task(&self, _: Request<LaunchTaskParams>) -> Result<Response<LaunchTaskResult>, Status> {
        asks_for_tasks()
    }

    async fn launch_multi_task(
        &self,
        _: Request<LaunchMultiTaskParams>,
    ) -> Result<Response<LaunchMultiTaskResult>, Status> {
        asks_for_tasks()
    }

    /// A scheduler that takes this executor for lost learns better when it is asked next.
    async fn stop_executor(
        &self,
        _: Request<StopExecutorParams>,
    ) -> Result<Response<StopExecutorResult>, Status> {
        Ok(Response::new(StopExecutorResult {}))
    }

    async fn cancel_tasks(
        &self,
        request: Request<CancelTasksParams>,
    ) -> Result<Response<CancelTasksResult>, Status> {
        let Some(executor) = self.get() else {
            return Ok(Response::new(CancelTasksResult { cancelled: false }));
        };
        let mut cancelled = true;
        for task in request.into_inner().task_infos {
            let done =
                executor.cancel_task(task.job_id.into(), task.stage_id as usize, task.task_id as usize).await;
            cancelled &= done.unwrap_or(false);
        }
        Ok(Response::new(CancelTasksResult { cancelled }))
    }

    async fn remove_job_data(
        &self,
        _: Request<RemoveJobDataParams>,
    ) -> Result<Response<RemoveJobDataResult>, Status> {
        asks_for_tasks()
    }
}
