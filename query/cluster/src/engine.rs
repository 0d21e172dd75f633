//! Plans: made here, and answered there as a whole. What reads no parts is answered here.

use crate::error::ClusterError;
use crate::jobs::ClusterJobs;
use async_trait::async_trait;
use ballista_core::serde::BallistaPhysicalExtensionCodec;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::Session;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::common::{DataFusionError, Result};
use datafusion::datasource::physical_plan::FileScanConfig;
use datafusion::datasource::source::DataSourceExec;
use datafusion::execution::context::QueryPlanner;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::stream::RecordBatchReceiverStream;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, Partitioning, PlanProperties};
use datafusion::physical_planner::{DefaultPhysicalPlanner, PhysicalPlanner};
use datafusion_proto::physical_plan::AsExecutionPlan;
use datafusion_proto::protobuf::PhysicalPlanNode;
use std::fmt;
use std::sync::Arc;

/// Batches that wait to be taken.
const WAITING: usize = 4;

/// Plans as an engine of one process does, and puts what reads parts into one step that the cluster takes.
#[derive(Debug)]
pub(crate) struct ClusterPlanner {
    jobs: Arc<ClusterJobs>,
}

impl ClusterPlanner {
    pub(crate) fn new(jobs: Arc<ClusterJobs>) -> ClusterPlanner {
        ClusterPlanner { jobs }
    }
}

#[async_trait]
impl QueryPlanner for ClusterPlanner {
    async fn create_physical_plan(
        &self,
        plan: &LogicalPlan,
        session: &dyn Session,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let plan = DefaultPhysicalPlanner::default().create_physical_plan(plan, session).await?;
        if !plan.exists(|node| Ok(reads_files(node)))? {
            return Ok(plan);
        }
        if plan.exists(|node| Ok(node.name() == "AnalyzeExec"))? {
            let reason = "EXPLAIN ANALYZE measures the steps of one process".to_string();
            return Err(outside(ClusterError::Plan { reason }));
        }
        Ok(Arc::new(ClusterExec::new(plan, self.jobs.clone())))
    }
}

fn reads_files(node: &Arc<dyn ExecutionPlan>) -> bool {
    let source = node.downcast_ref::<DataSourceExec>();
    source.is_some_and(|source| source.data_source().downcast_ref::<FileScanConfig>().is_some())
}

fn outside(error: ClusterError) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}

/// A plan that the cluster answers.
#[derive(Debug)]
struct ClusterExec {
    plan: Arc<dyn ExecutionPlan>,
    jobs: Arc<ClusterJobs>,
    properties: Arc<PlanProperties>,
}

impl ClusterExec {
    fn new(plan: Arc<dyn ExecutionPlan>, jobs: Arc<ClusterJobs>) -> ClusterExec {
        let properties = PlanProperties::new(
            EquivalenceProperties::new(plan.schema()),
            Partitioning::UnknownPartitioning(1),
            EmissionType::Final,
            Boundedness::Bounded,
        );
        ClusterExec { plan, jobs, properties: Arc::new(properties) }
    }
}

impl DisplayAs for ClusterExec {
    fn fmt_as(&self, _: DisplayFormatType, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "ClusterExec: {}", self.jobs.scheduler())
    }
}

impl ExecutionPlan for ClusterExec {
    fn name(&self) -> &str {
        "ClusterExec"
    }

    fn schema(&self) -> SchemaRef {
        self.plan.schema()
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        Vec::new()
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(self: Arc<Self>, _: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(self)
    }

    fn execute(&self, _: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let unknown =
            |error: DataFusionError| outside(ClusterError::Plan { reason: error.strip_backtrace() });
        let codec = BallistaPhysicalExtensionCodec::default();
        let mut message = Vec::new();
        PhysicalPlanNode::try_from_physical_plan(self.plan.clone(), &codec)
            .and_then(|plan| plan.try_encode(&mut message))
            .map_err(unknown)?;
        let mut answer = RecordBatchReceiverStream::builder(self.schema(), WAITING);
        let (jobs, to) = (self.jobs.clone(), answer.tx());
        answer
            .spawn(async move { jobs.answer(message, context.session_config(), to).await.map_err(outside) });
        Ok(answer.build())
    }
}
