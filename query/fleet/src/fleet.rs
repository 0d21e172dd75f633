//! A fleet that is open for questions: the engine, the tables, and what was read.

use crate::error::FleetError;
use crate::footers::KnownFooters;
use crate::listing::FleetListing;
use crate::rows::Rows;
use crate::span::{FleetSpan, HOUR};
use crate::store::{self, FleetRoot};
use crate::table::{PartsReader, PartsTable, STORE, folder_columns};
use datafusion::common::{DataFusionError, Result as EngineResult, ScalarValue};
use datafusion::datasource::{ViewTable, provider_as_source};
use datafusion::execution::memory_pool::FairSpillPool;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::logical_expr::{LogicalPlanBuilder, col, lit};
use datafusion::prelude::{SessionConfig, SessionContext};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::OnceCell;
use url::Url;
use whyslow_parts::{PART_TABLES, PartTable};
use whyslow_query_engine::{QueryAnswer, QueryError, QueryLimits, answer_on, harmless};

/// Bytes that sorts and groups may put aside in the temporary folder.
const MOST_SPILLED: u64 = 4 << 30;
/// How often a question is asked again because a part was gone or could not be decoded.
const ASKED_AGAIN: usize = 2;

/// What questions are about, and what they may take.
#[derive(Clone, Debug)]
pub struct FleetOptions {
    /// From when until when.
    pub span: FleetSpan,
    /// The hosts; all where none are named.
    pub hosts: Option<BTreeSet<String>>,
    /// Bytes that sorts, groups and joins may hold in memory.
    pub memory: usize,
    /// Threads of the engine; one a CPU where none are said.
    pub threads: Option<usize>,
    /// A question that takes longer is given up.
    pub time: Duration,
}

/// What was read of the store.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
pub struct FleetUsage {
    /// Bytes that were read.
    pub bytes_read: u64,
    /// Bytes of the parts that lie in the hours and tables of the questions.
    pub bytes_there: u64,
    /// Those parts.
    pub parts: u64,
    /// Reads asked for.
    pub reads: u64,
    /// Listings asked for.
    pub listings: u64,
}

/// A place of parts, for many fleets one after another: what was read of the ends of parts is kept for the next one.
pub struct FleetStore {
    root: FleetRoot,
    known: Arc<KnownFooters>,
}

impl FleetStore {
    /// Opens a directory or an address. Nothing is listed yet.
    ///
    /// # Errors
    /// If the place cannot be used.
    pub fn open(root: &str) -> Result<FleetStore, FleetError> {
        Ok(FleetStore { root: store::open(root)?, known: Arc::default() })
    }

    /// A fleet of it with an engine of its own. It lists anew, and then takes the store as it was.
    ///
    /// # Errors
    /// If the engine cannot be made.
    pub fn fleet(&self, options: FleetOptions) -> Result<Fleet, FleetError> {
        let root = self.root.uncounted();
        let context = context(&options).map_err(failed)?;
        let store_url = Url::parse(STORE).map_err(|error| QueryError::Failed(error.to_string()))?;
        context.runtime_env().register_object_store(&store_url, root.store.clone());
        Fleet::with(context, FleetListing::new(root, self.known.clone()), options, PartsReader::Here)
    }
}

/// Parts of many hosts, open for questions. Several may be asked at once: they share what was listed.
pub struct Fleet {
    pub(crate) context: SessionContext,
    pub(crate) options: FleetOptions,
    pub(crate) told: OnceCell<BTreeMap<String, i64>>,
    listing: Arc<FleetListing>,
    reads: PartsReader,
}

impl Fleet {
    /// Opens a directory or an address with an engine of its own. Nothing is listed yet.
    ///
    /// # Errors
    /// If the place cannot be used.
    pub fn open(root: &str, options: FleetOptions) -> Result<Fleet, FleetError> {
        FleetStore::open(root)?.fleet(options)
    }

    /// Opens it for an engine that someone gives, such as one of many machines, which reads the same address by itself. A plan names
    /// each file that is to be read; what the engine reads is not counted.
    ///
    /// # Errors
    /// If the place cannot be used.
    pub fn open_on(context: SessionContext, root: &str, options: FleetOptions) -> Result<Fleet, FleetError> {
        let listing = FleetListing::new(store::open(root)?, Arc::default());
        Fleet::with(context, listing, options, PartsReader::Elsewhere)
    }

    fn with(
        context: SessionContext,
        listing: FleetListing,
        options: FleetOptions,
        reads: PartsReader,
    ) -> Result<Fleet, FleetError> {
        let listing = Arc::new(listing);
        for table in PART_TABLES {
            let parts = PartsTable::new(table, &listing, options.span, options.hosts.clone(), reads);
            let view = within(table, parts, &options).map_err(failed)?;
            // An engine that was asked about another span has one already.
            let _ = context.deregister_table(table.name);
            context.register_table(table.name, Arc::new(view)).map_err(failed)?;
        }
        Ok(Fleet { context, options, told: OnceCell::new(), listing, reads })
    }

    /// Answers one question in SQL.
    ///
    /// # Errors
    /// What is wrong with the question, or which limit it met.
    pub async fn ask(&self, sql: &str, limits: QueryLimits) -> Result<QueryAnswer, FleetError> {
        let known: Vec<String> = PART_TABLES.iter().map(|table| table.name.to_string()).collect();
        self.answered(sql, &[], limits, &known).await
    }

    /// Asks; and again where a part was gone meanwhile, or cannot be decoded: that costs itself, and not the answer.
    async fn answered(
        &self,
        sql: &str,
        values: &[(&str, ScalarValue)],
        limits: QueryLimits,
        known: &[String],
    ) -> Result<QueryAnswer, FleetError> {
        let mut left = ASKED_AGAIN;
        loop {
            let answer = answer_on(&self.context, sql, values, limits, known).await;
            let is_wrong = match &answer {
                Ok(_) => false,
                Err(error) => self.is_of_a_part(error).await?,
            };
            if !is_wrong || left == 0 || self.listing.examine().await == 0 {
                return Ok(answer?);
            }
            left -= 1;
        }
    }

    /// Whether it can come of a part that is gone or cannot be decoded.
    async fn is_of_a_part(&self, error: &QueryError) -> Result<bool, FleetError> {
        let text = match error {
            QueryError::Failed(text) | QueryError::Question(text) => text,
            _ => return Ok(false),
        };
        Ok(match self.reads {
            PartsReader::Here => {
                matches!(error, QueryError::Failed(_))
                    || text.contains("arquet")
                    || self.listing.misses_some()
            }
            // Another engine has its own troubles too. What is gone it names in its own words.
            PartsReader::Elsewhere => text.contains("arquet") || self.listing.has_lost_some().await?,
        })
    }

    /// Rows of a question of ours.
    pub(crate) async fn rows(&self, sql: &str, values: &[(&str, ScalarValue)]) -> Result<Rows, FleetError> {
        let limits = QueryLimits { rows: usize::MAX, time: self.options.time, ..QueryLimits::default() };
        let answer = self.answered(sql, values, limits, &[]).await?;
        if answer.truncated {
            return Err(QueryError::TooLarge("the answer of a step".to_string()).into());
        }
        Ok(Rows::new(&answer).map_err(failed)?)
    }

    /// The hosts whose agents send each minute, as far as was listed of their parts of the last two hours.
    pub(crate) fn sends_minutes(&self) -> BTreeSet<String> {
        self.listing.sends_minutes("agents", self.options.span.until - 2 * HOUR)
    }

    /// What was read so far.
    pub fn usage(&self) -> FleetUsage {
        let ([listings, reads, bytes_read], (parts, bytes_there)) =
            (self.listing.taken(), self.listing.given());
        FleetUsage { bytes_read, bytes_there, parts, reads, listings }
    }

    /// Whether an engine reads that is not ours: what it reads is not counted.
    pub fn is_given(&self) -> bool {
        self.reads == PartsReader::Elsewhere
    }

    /// What was passed over, and why.
    pub fn remarks(&self) -> Vec<String> {
        self.listing.remarks()
    }
}

fn failed(error: DataFusionError) -> QueryError {
    QueryError::Failed(store::first_line(&error.strip_backtrace()))
}

fn context(options: &FleetOptions) -> EngineResult<SessionContext> {
    let mut config = SessionConfig::new().with_information_schema(true);
    if let Some(threads) = options.threads {
        config = config.with_target_partitions(threads.max(1));
    }
    let parquet = &mut config.options_mut().execution.parquet;
    // Columns of rows that a filter leaves out are not decoded.
    parquet.pushdown_filters = true;
    parquet.reorder_filters = true;
    // Ours have none: to look for one would be a read a part.
    parquet.bloom_filter_on_read = false;
    let runtime = RuntimeEnvBuilder::new()
        .with_memory_pool(Arc::new(FairSpillPool::new(options.memory)))
        .with_max_temp_directory_size(MOST_SPILLED)
        .build_arc()?;
    let context = SessionContext::new_with_config_rt(config, runtime);
    harmless(&context);
    Ok(context)
}

/// The rows of the span: an hour's part has those before and after it too.
fn within(table: &PartTable, parts: PartsTable, options: &FleetOptions) -> EngineResult<ViewTable> {
    let mut columns: Vec<_> = table.columns.iter().map(|column| col(column.name)).collect();
    columns.extend(folder_columns().iter().map(|column| col(column.name().as_str())));
    let mut plan = LogicalPlanBuilder::scan(table.name, provider_as_source(Arc::new(parts)), None)?
        .filter(col("start").gt_eq(lit(moment(options.span.from))))?
        .filter(col("start").lt(lit(moment(options.span.until))))?;
    if let Some(hosts) = &options.hosts {
        plan =
            plan.filter(col("host").in_list(hosts.iter().map(|host| lit(host.as_str())).collect(), false))?;
    }
    Ok(ViewTable::new(plan.project(columns)?.build()?, None))
}

/// A time as a value of the engine.
pub(crate) fn moment(micros: i64) -> ScalarValue {
    ScalarValue::TimestampMicrosecond(Some(micros), Some("UTC".into()))
}
