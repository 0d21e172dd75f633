//! What all processes of a cluster know alike: functions, limits of messages, settings of plans.

use ballista_core::config::BallistaConfig;
use ballista_core::extension::SessionConfigExt;
use ballista_core::registry::BallistaFunctionRegistry;
use ballista_core::utils::default_session_builder;
use datafusion::common::Result;
use datafusion::execution::object_store::ObjectStoreRegistry;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::execution::{SessionState, SessionStateBuilder};
use datafusion::prelude::{SessionConfig, SessionContext};
use object_store::ObjectStore;
use object_store::memory::InMemory;
use std::sync::Arc;
use url::Url;
use whyslow_query_engine::harmless;

/// Bytes of one message: a plan names each file, which takes 200 bytes, and 100,000 of them are to fit.
pub(crate) const MOST_MESSAGE: usize = 64 << 20;

/// The functions of SQL and ours, as executors look them up.
pub(crate) fn functions() -> BallistaFunctionRegistry {
    let context = SessionContext::new();
    harmless(&context);
    BallistaFunctionRegistry::from(&context.state())
}

/// A session of the scheduler, which decodes plans with our functions in them.
pub(crate) fn of_scheduler(config: SessionConfig) -> Result<SessionState> {
    let runtime = RuntimeEnvBuilder::new().with_object_store_registry(Arc::new(EmptyStores));
    let state = SessionStateBuilder::new_from_existing(default_session_builder(config)?)
        .with_runtime_env(runtime.build_arc()?)
        .build();
    let context = SessionContext::new_with_state(state);
    harmless(&context);
    Ok(context.state())
}

/// Stores of the scheduler: a plan that names a bucket is decoded with a store, and the scheduler reads from none.
#[derive(Debug)]
struct EmptyStores;

impl ObjectStoreRegistry for EmptyStores {
    fn register_store(&self, _: &Url, _: Arc<dyn ObjectStore>) -> Option<Arc<dyn ObjectStore>> {
        None
    }

    fn get_store(&self, _: &Url) -> Result<Arc<dyn ObjectStore>> {
        Ok(Arc::new(InMemory::new()))
    }
}

/// Settings that plans are made with, and that tasks run with.
pub(crate) fn settings(partitions: usize) -> SessionConfig {
    let mut config = SessionConfig::new_with_ballista()
        .with_target_partitions(partitions.max(1))
        .with_ballista_grpc_client_max_message_size(MOST_MESSAGE);
    let parquet = &mut config.options_mut().execution.parquet;
    // As in one process: columns of rows that a filter leaves out are not decoded, and nothing is looked for that parts do not have.
    parquet.pushdown_filters = true;
    parquet.reorder_filters = true;
    parquet.bloom_filter_on_read = false;
    debug_assert!(config.options().extensions.get::<BallistaConfig>().is_some());
    config
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_functions_are_known_to_all_and_dangerous_ones_to_none() {
        let executors = functions();
        let scheduler = of_scheduler(settings(2)).unwrap();
        for name in ["human", "class_of", "frames_match"] {
            assert!(executors.scalar_functions.contains_key(name), "{name}");
            assert!(scheduler.scalar_functions().contains_key(name), "{name}");
        }
        assert!(executors.aggregate_functions.contains_key("p99"));
        assert!(scheduler.aggregate_functions().contains_key("p99"));
        for name in ["repeat", "lpad", "generate_series"] {
            assert!(!executors.scalar_functions.contains_key(name), "{name}");
            assert!(!scheduler.scalar_functions().contains_key(name), "{name}");
        }
    }
}
