//! A fleet that is open for questions: the engine, the tables, and what was read.

use crate::error::FleetError;
use crate::listing::{FleetListing, Wanted};
use crate::rows::Rows;
use crate::span::FleetSpan;
use crate::store;
use crate::table::{PartsTable, STORE, folder_columns, part_schema};
use datafusion::catalog::TableProvider;
use datafusion::common::{DataFusionError, Result as EngineResult, ScalarValue};
use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::datasource::listing::{ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl};
use datafusion::datasource::{MemTable, ViewTable, provider_as_source};
use datafusion::execution::memory_pool::FairSpillPool;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::functions::expr_fn::{date_part, to_char};
use datafusion::logical_expr::{LogicalPlanBuilder, cast, col, lit};
use datafusion::prelude::{SessionConfig, SessionContext};
use serde::Serialize;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;
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

/// Parts of many hosts, open for questions.
pub struct Fleet {
    pub(crate) context: SessionContext,
    pub(crate) options: FleetOptions,
    listing: Arc<FleetListing>,
    /// Of an engine that someone gave: the tables that it knows so far.
    given: Option<Mutex<BTreeSet<&'static str>>>,
}

impl Fleet {
    /// Opens a directory or an address with an engine of its own. Nothing is listed yet.
    ///
    /// # Errors
    /// If the place cannot be used.
    pub fn open(root: &str, options: FleetOptions) -> Result<Fleet, FleetError> {
        let root = store::open(root)?;
        let context = context(&options).map_err(failed)?;
        let store_url = Url::parse(STORE).map_err(|error| QueryError::Failed(error.to_string()))?;
        context.runtime_env().register_object_store(&store_url, root.store.clone());
        let listing = Arc::new(FleetListing::new(root));
        for table in PART_TABLES {
            let parts = PartsTable::new(table, &listing, options.span, options.hosts.clone());
            let view = within(table, Arc::new(parts), &options, false).map_err(failed)?;
            context.register_table(table.name, Arc::new(view)).map_err(failed)?;
        }
        Ok(Fleet { context, options, listing, given: None })
    }

    /// Opens it for an engine that someone gives, such as one of many machines, which reads the same address by itself. Its
    /// tables are plain lists of files, which travel in a plan; what it reads is not counted.
    ///
    /// # Errors
    /// If the place cannot be used.
    pub fn open_on(context: SessionContext, root: &str, options: FleetOptions) -> Result<Fleet, FleetError> {
        let listing = Arc::new(FleetListing::new(store::open(root)?));
        Ok(Fleet { context, options, listing, given: Some(Mutex::default()) })
    }

    /// Answers one question in SQL.
    ///
    /// # Errors
    /// What is wrong with the question, or which limit it met.
    pub async fn ask(&self, sql: &str, limits: QueryLimits) -> Result<QueryAnswer, FleetError> {
        let lower = sql.to_lowercase();
        let named: Vec<&str> =
            PART_TABLES.iter().map(|table| table.name).filter(|name| lower.contains(name)).collect();
        let known: Vec<String> = PART_TABLES.iter().map(|table| table.name.to_string()).collect();
        self.answered(&named, sql, &[], limits, &known).await
    }

    /// Asks; and again where a part was gone meanwhile, or cannot be decoded: that costs itself, and not the answer.
    async fn answered(
        &self,
        tables: &[&str],
        sql: &str,
        values: &[(&str, ScalarValue)],
        limits: QueryLimits,
        known: &[String],
    ) -> Result<QueryAnswer, FleetError> {
        let mut left = ASKED_AGAIN;
        loop {
            self.prepare(tables).await?;
            let answer = answer_on(&self.context, sql, values, limits, known).await;
            let is_wrong = match &answer {
                Ok(_) => self.is_given() && self.listing.has_lost_some().await?,
                Err(error) => self.is_of_a_part(error),
            };
            if is_wrong && left > 0 && self.listing.examine().await > 0 {
                left -= 1;
                self.again().await;
            } else if is_wrong && answer.is_ok() {
                let root = self.listing.root.given.clone();
                return Err(FleetError::Store { root, reason: "parts go while they are read".to_string() });
            } else {
                return Ok(answer?);
            }
        }
    }

    /// Whether it can come of a part that is gone or cannot be decoded.
    fn is_of_a_part(&self, error: &QueryError) -> bool {
        match error {
            QueryError::Failed(_) => true,
            QueryError::Question(text) => text.contains("arquet") || self.listing.misses_some(),
            _ => false,
        }
    }

    /// Rows of a question of ours about these tables.
    pub(crate) async fn rows(
        &self,
        tables: &[&str],
        sql: &str,
        values: &[(&str, ScalarValue)],
    ) -> Result<Rows, FleetError> {
        let limits = QueryLimits { rows: usize::MAX, time: self.options.time, ..QueryLimits::default() };
        let answer = self.answered(tables, sql, values, limits, &[]).await?;
        if answer.truncated {
            return Err(QueryError::TooLarge("the answer of a step".to_string()).into());
        }
        Ok(Rows::new(&answer).map_err(failed)?)
    }

    /// What was read so far.
    pub fn usage(&self) -> FleetUsage {
        let ([listings, reads, bytes_read], (parts, bytes_there)) =
            (self.listing.taken(), self.listing.given());
        FleetUsage { bytes_read, bytes_there, parts, reads, listings }
    }

    /// Whether an engine reads that is not ours: what it reads is not counted.
    pub fn is_given(&self) -> bool {
        self.given.is_some()
    }

    /// What was passed over, and why.
    pub fn remarks(&self) -> Vec<String> {
        self.listing.remarks()
    }

    /// Forgets the lists of files.
    async fn again(&self) {
        if let Some(given) = &self.given {
            for table in std::mem::take(&mut *given.lock().await) {
                let _ = self.context.deregister_table(table);
            }
        }
    }

    /// Makes tables known to an engine that someone gave.
    async fn prepare(&self, tables: &[&str]) -> Result<(), FleetError> {
        let Some(given) = &self.given else { return Ok(()) };
        let mut known = given.lock().await;
        for table in PART_TABLES.iter().filter(|table| tables.contains(&table.name)) {
            if known.contains(table.name) {
                continue;
            }
            let wanted =
                Wanted { hours: self.options.span.hours().collect(), hosts: self.options.hosts.clone() };
            let parts = self.listing.parts(table, &wanted).await?;
            let root = &self.listing.root.url;
            let urls = parts.iter().map(|part| ListingTableUrl::parse(format!("{root}{}", part.name)));
            let urls: Vec<ListingTableUrl> = urls.collect::<EngineResult<_>>().map_err(failed)?;
            let plain = plain_table(table, urls).map_err(failed)?;
            let view = within(table, plain, &self.options, true).map_err(failed)?;
            let _ = self.context.deregister_table(table.name);
            self.context.register_table(table.name, Arc::new(view)).map_err(failed)?;
            known.insert(table.name);
        }
        Ok(())
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

/// A table of files that a plan names one by one.
fn plain_table(table: &PartTable, urls: Vec<ListingTableUrl>) -> EngineResult<Arc<dyn TableProvider>> {
    let schema = part_schema(table);
    if urls.is_empty() {
        return Ok(Arc::new(MemTable::try_new(schema, vec![vec![]])?));
    }
    let options = ListingOptions::new(Arc::new(ParquetFormat::default()));
    let config =
        ListingTableConfig::new_with_multi_paths(urls).with_listing_options(options).with_schema(schema);
    Ok(Arc::new(ListingTable::try_new(config)?))
}

/// The rows of the span: an hour's part has those before and after it too.
fn within(
    table: &PartTable,
    parts: Arc<dyn TableProvider>,
    options: &FleetOptions,
    is_plain: bool,
) -> EngineResult<ViewTable> {
    let mut columns: Vec<_> = table.columns.iter().map(|column| col(column.name)).collect();
    let [date, hour] = folder_columns();
    // Where the files are named one by one nothing is taken from their folders.
    columns.extend(match is_plain {
        true => [
            to_char(col("start"), lit("%Y-%m-%d")).alias(date.name()),
            cast(date_part(lit("hour"), col("start")), hour.data_type().clone()).alias(hour.name()),
        ],
        false => [col(date.name().as_str()), col(hour.name().as_str())],
    });
    let mut plan = LogicalPlanBuilder::scan(table.name, provider_as_source(parts), None)?
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
