//! Who asks: an engine that plans here, and has its plans answered by a cluster.

use crate::address::ClusterAddress;
use crate::engine::ClusterPlanner;
use crate::error::ClusterError;
use crate::jobs::ClusterJobs;
use crate::keys::ClusterKeys;
use crate::session;
use ballista_core::optimizer::ballista_default_optimizer_rules;
use datafusion::execution::SessionStateBuilder;
use datafusion::prelude::SessionContext;
use std::sync::Arc;
use std::time::Duration;
use whyslow_query_engine::harmless;

/// What a cluster is asked with.
#[derive(Clone, Debug)]
pub struct ClusterOptions {
    /// Its scheduler.
    pub scheduler: ClusterAddress,
    /// Without them it is on this machine.
    pub keys: Option<ClusterKeys>,
    /// Into how many pieces what is to be read is cut: as many as the executors have threads, or some times that.
    pub pieces: usize,
}

/// A cluster that is asked.
pub struct Cluster {
    jobs: Arc<ClusterJobs>,
    context: SessionContext,
}

impl Cluster {
    /// Reaches the scheduler.
    ///
    /// # Errors
    /// If nobody answers, or may not be asked without keys.
    pub async fn connect(options: ClusterOptions) -> Result<Cluster, ClusterError> {
        options.scheduler.check(options.keys.as_ref())?;
        let jobs = Arc::new(ClusterJobs::new(options.scheduler, options.keys));
        jobs.reach().await?;
        let state = SessionStateBuilder::new()
            .with_default_features()
            .with_config(session::settings(options.pieces))
            .with_optimizer_rules(ballista_default_optimizer_rules())
            .with_query_planner(Arc::new(ClusterPlanner::new(jobs.clone())))
            .build();
        let context = SessionContext::new_with_state(state);
        harmless(&context);
        Ok(Cluster { jobs, context })
    }

    /// The engine, for `Fleet::open_on`.
    pub fn engine(&self) -> SessionContext {
        self.context.clone()
    }

    /// Waits until questions that were given up are cancelled there, for no longer than `time`.
    pub async fn close(&self, time: Duration) {
        self.jobs.close(time).await;
    }
}
