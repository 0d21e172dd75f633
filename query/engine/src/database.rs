//! A database: recordings and captures that are open for questions.

use crate::answer::{QueryAnswer, QueryLimits};
use crate::captures;
use crate::catalog;
use crate::derivation::Derivation;
use crate::error::QueryError;
use crate::functions::{self, FUNCTIONS, Names};
use crate::infos::{FunctionInfo, MacroInfo, TableInfo};
use crate::macros::MACROS;
use crate::options::DatabaseOptions;
use crate::parts::Remarks;
use crate::session;
use datafusion::common::runtime::SpawnedTask;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{DataFusionError, ScalarValue};
use datafusion::execution::context::SQLOptions;
use datafusion::physical_plan::coop::CooperativeExec;
use datafusion::physical_plan::{ExecutionPlan, execute_stream};
use datafusion::prelude::SessionContext;
use futures::StreamExt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// One or more recordings or captures, open for reading. It may be asked from several tasks at once.
pub struct Database {
    context: SessionContext,
    tables: Vec<TableInfo>,
    remarks: Remarks,
}

impl Database {
    /// Opens recordings, captures, and directories of them. Nothing is computed yet; captures are converted.
    ///
    /// # Errors
    /// [`QueryError::Nothing`] where none of them could be used.
    pub async fn open(paths: &[PathBuf], options: DatabaseOptions) -> Result<Database, QueryError> {
        let (paths, show_secrets) = (paths.to_vec(), options.show_secrets);
        let opened = tokio::task::spawn_blocking(move || captures::open(&paths, show_secrets));
        let (opened, remarks) = opened.await.map_err(|error| QueryError::Failed(error.to_string()))??;
        let opened: Vec<Arc<captures::Opened>> = opened.into_iter().map(Arc::new).collect();
        let remarks: Remarks = Arc::new(Mutex::new(remarks));
        let failed = |error| session::explained(error, &[]);
        let context = session::context(&options).map_err(failed)?;
        functions::register(&context, Arc::new(Names::new(&opened)));
        let with_derivation = |one: &Arc<captures::Opened>| {
            (one.clone(), Arc::new(Derivation::new(one.clone(), show_secrets, options.cache.clone())))
        };
        let recordings: Vec<_> = opened.iter().map(with_derivation).collect();
        let tables = catalog::register(&context, &recordings, &remarks).await.map_err(failed)?;
        Ok(Database { context, tables, remarks })
    }

    /// Answers one question. Dropping the future stops the work.
    ///
    /// # Errors
    /// What is wrong with the question, or which limit it met.
    pub async fn query(&self, sql: &str, limits: QueryLimits) -> Result<QueryAnswer, QueryError> {
        answer_on(&self.context, sql, &[], limits, &self.names()).await
    }

    /// All tables, those of facts too.
    pub fn tables(&self) -> Vec<TableInfo> {
        self.tables.clone()
    }

    /// The functions of ours.
    pub fn functions(&self) -> &'static [FunctionInfo] {
        FUNCTIONS
    }

    /// The usual questions that have names.
    pub fn macros(&self) -> &'static [MacroInfo] {
        MACROS
    }

    /// The names of SQL's own functions and ours.
    pub fn function_names(&self) -> Vec<String> {
        let state = self.context.state();
        let (scalar, aggregate) = (state.scalar_functions(), state.aggregate_functions());
        let mut names: Vec<String> =
            scalar.keys().chain(aggregate.keys()).chain(state.window_functions().keys()).cloned().collect();
        names.sort();
        names.dedup();
        names
    }

    /// What is to be told of the inputs so far: what was passed over.
    pub fn remarks(&self) -> Vec<String> {
        self.remarks.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The names of tables and macros.
    fn names(&self) -> Vec<String> {
        let macros = MACROS.iter().map(|entry| entry.name.to_string());
        self.tables.iter().map(|table| table.name.clone()).chain(macros).collect()
    }
}

/// Answers one question by an engine that has its tables already; `values` stand in it as `$name`, and `known` are the names of tables that
/// may be told. Dropping the future stops the work.
///
/// # Errors
/// What is wrong with the question, or which limit it met.
pub async fn answer_on(
    context: &SessionContext,
    sql: &str,
    values: &[(&str, ScalarValue)],
    limits: QueryLimits,
    known: &[String],
) -> Result<QueryAnswer, QueryError> {
    let (context, sql, known) = (context.clone(), sql.to_string(), known.to_vec());
    let values: Vec<(String, ScalarValue)> =
        values.iter().map(|(name, value)| (name.to_string(), value.clone())).collect();
    // A task of its own: a decoder that panics on a stranger's file costs the question alone.
    let task = SpawnedTask::spawn(async move { answer(&context, &sql, values, limits, &known).await });
    match tokio::time::timeout(limits.time, task.join()).await {
        Ok(Ok(answer)) => answer,
        Ok(Err(_)) => Err(QueryError::Failed("a part of the recording is not what it says".to_string())),
        Err(_) => Err(QueryError::TooLong(limits.time)),
    }
}

/// Joins make many rows of few and go on for as long as there are some: between two batches they are to ask whether the question was given
/// up. What reads does so by itself.
fn yielding(plan: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>, DataFusionError> {
    let wrapped = plan.transform_up(|node| {
        let multiplies = node.name().ends_with("JoinExec") || node.name() == "UnnestExec";
        Ok(match multiplies {
            true => Transformed::yes(Arc::new(CooperativeExec::new(node)) as Arc<dyn ExecutionPlan>),
            false => Transformed::no(node),
        })
    });
    Ok(wrapped?.data)
}

async fn answer(
    context: &SessionContext,
    sql: &str,
    values: Vec<(String, ScalarValue)>,
    limits: QueryLimits,
    known: &[String],
) -> Result<QueryAnswer, QueryError> {
    let begun = Instant::now();
    let failed = |error| session::explained(error, known);
    let mut plan = context.state().create_logical_plan(sql).await.map_err(failed)?;
    if !values.is_empty() {
        plan = plan.with_param_values(values).map_err(failed)?;
    }
    let only_questions =
        SQLOptions::new().with_allow_ddl(false).with_allow_dml(false).with_allow_statements(false);
    only_questions.verify_plan(&plan).map_err(|error| {
        let why = error.strip_backtrace();
        QueryError::NotAQuestion(why.trim_start_matches("Error during planning: ").to_string())
    })?;
    let frame = context.execute_logical_plan(plan).await.map_err(failed)?;
    let plan = frame.create_physical_plan().await.and_then(yielding).map_err(failed)?;
    let mut rows = execute_stream(plan, context.task_ctx()).map_err(failed)?;
    let schema = rows.schema();
    let (mut batches, mut taken, mut bytes, mut truncated) = (Vec::new(), 0, 0, false);
    while let Some(batch) = rows.next().await {
        let batch = batch.map_err(failed)?;
        if batch.num_rows() == 0 {
            continue;
        }
        let left = limits.rows - taken;
        if left == 0 || bytes > limits.bytes {
            truncated = true;
            break;
        }
        truncated = batch.num_rows() > left;
        let batch = if truncated { batch.slice(0, left) } else { batch };
        taken += batch.num_rows();
        bytes += batch.get_array_memory_size();
        batches.push(batch);
        if truncated {
            break;
        }
    }
    Ok(QueryAnswer { schema, batches, truncated, elapsed: begun.elapsed() })
}
