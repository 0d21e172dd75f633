//! Stock Ballista, started as its own programs start it, answers whatever needs none of our functions.

#[path = "../../fleet/examples/synthetic_fleet/generate.rs"]
mod generate;

use ballista_executor::executor_process::{ExecutorProcessConfig, start_executor_process};
use ballista_scheduler::cluster::BallistaCluster;
use ballista_scheduler::config::SchedulerConfig;
use ballista_scheduler::scheduler_process::{create_scheduler, start_grpc_service_with_listener};
use datafusion_proto::protobuf::{LogicalPlanNode, PhysicalPlanNode};
use generate::{FleetPlan, HOUR, generate};
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use whyslow_query_cluster::{Cluster, ClusterOptions, tell_problems};
use whyslow_query_engine::QueryLimits;
use whyslow_query_fleet::{
    Fleet, FleetAnswer, FleetCompare, FleetFindings, FleetHosts, FleetOptions, FleetSpan, FleetWhy,
    GroupColumn, why_span,
};

/// A port that nobody has.
fn free() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

fn options(span: FleetSpan) -> FleetOptions {
    FleetOptions { span, hosts: None, memory: 512 << 20, threads: Some(2), time: Duration::from_secs(120) }
}

#[tokio::test(flavor = "multi_thread")]
async fn stock_ballista_answers_what_needs_none_of_our_functions() {
    tell_problems(false);
    let place = TempDir::new().unwrap();
    let root = place.path().join("fleet");
    let plan = FleetPlan { hosts: 6, hours: 3, until: 498_816 * HOUR, loose: 1, seed: 5 };
    generate(&plan, &root).unwrap();
    let truth = plan.truth();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = listener.local_addr().unwrap();
    // Executors tell it there what became of their tasks.
    let config = Arc::new(SchedulerConfig { bind_port: at.port(), ..SchedulerConfig::default() });
    let state = BallistaCluster::new_from_config(&config).await.unwrap();
    let scheduler = create_scheduler::<LogicalPlanNode, PhysicalPlanNode>(state, config).await.unwrap();
    tokio::spawn(start_grpc_service_with_listener(listener, scheduler));
    let executor = ExecutorProcessConfig {
        port: free(),
        grpc_port: free(),
        scheduler_host: "127.0.0.1".to_string(),
        scheduler_port: at.port(),
        work_dir: Some(place.path().to_str().unwrap().to_string()),
        vcores: 2,
        ..ExecutorProcessConfig::default()
    };
    tokio::spawn(start_executor_process(Arc::new(executor)));
    let asks = ClusterOptions { scheduler: at.to_string().parse().unwrap(), keys: None, pieces: 4 };
    let cluster = Cluster::connect(asks).await.unwrap();
    let root = root.to_str().unwrap();
    let span = FleetSpan { from: truth.from, until: truth.until };
    let here = Fleet::open(root, options(span)).unwrap();
    let there = Fleet::open_on(cluster.engine(), root, options(span)).unwrap();
    let by = [GroupColumn::Rule, GroupColumn::Service];
    let [a, b] = [&here, &there].map(|fleet| FleetFindings::ask(fleet, &by, None, false));
    assert_eq!(a.await.unwrap().text(), b.await.unwrap().text());
    let [a, b] = [&here, &there].map(FleetHosts::ask);
    assert_eq!(a.await.unwrap().text(), b.await.unwrap().text());
    let [a, b] = [&here, &there].map(|fleet| FleetCompare::ask(fleet, "v1.8", "v1.9", None));
    assert_eq!(a.await.unwrap().text(), b.await.unwrap().text());
    let sql = "SELECT p99(CAST(ns AS BIGINT)) AS p99 FROM accounts";
    let answer = there.ask(sql, QueryLimits::default()).await;
    let error = answer.map(drop).expect_err("a function of ours").to_string();
    assert!(error.contains("next: ask without --cluster"), "{error}");
    let at = truth.fault.from + HOUR / 6;
    let here = Fleet::open(root, options(why_span(at))).unwrap();
    let there = Fleet::open_on(cluster.engine(), root, options(why_span(at))).unwrap();
    let [a, b] = [&here, &there].map(|fleet| FleetWhy::ask(fleet, truth.fault.service, at));
    assert_eq!(a.await.unwrap().text(), b.await.unwrap().text());
    cluster.close(Duration::from_secs(2)).await;
}
