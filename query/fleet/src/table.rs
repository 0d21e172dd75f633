//! A table over parts: which hours and hosts a question can be about is found out from its filters, and only those are listed and read.

use crate::footers::{FoundPart, PartReaders, is_small};
use crate::hours::date_and_hour;
use crate::listing::{FleetListing, Wanted};
use crate::small::{RowTest, plain_columns, small_parts, unqualified};
use crate::span::{FleetSpan, HOUR};
use datafusion::arrow::array::{Array, ArrayRef, BooleanArray, RecordBatch, StringArray, UInt8Array};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::{DFSchema, DataFusionError, Result, ScalarValue};
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::object_store::ObjectStoreUrl;
use datafusion::datasource::physical_plan::{FileGroup, FileScanConfigBuilder, ParquetSource};
use datafusion::datasource::source::DataSourceExec;
use datafusion::datasource::table_schema::TableSchema;
use datafusion::logical_expr::{BinaryExpr, Expr, Operator, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::empty::EmptyExec;
use datafusion::physical_plan::union::UnionExec;
use std::collections::BTreeSet;
use std::sync::Arc;
use whyslow_parts::{PartColumn, PartHour, PartTable, UtcTime};

/// The address under which the engine knows the store of parts.
pub(crate) const STORE: &str = "whyslow-fleet://parts";
/// Parts that are read at once from a distant store: each waits for its answers.
const REMOTE_READS: usize = 16;
/// So many small parts are decoded here: the engine has its own ways with fewer.
const LEAST_SMALL: usize = 4;

/// The table.
#[derive(Debug)]
pub(crate) struct PartsTable {
    table: &'static PartTable,
    listing: Arc<FleetListing>,
    span: FleetSpan,
    hosts: Option<BTreeSet<String>>,
    schema: TableSchema,
    reads: PartsReader,
}

/// The columns that come of folders.
pub(crate) fn folder_columns() -> [Field; 2] {
    [Field::new("date", DataType::Utf8, false), Field::new("hour", DataType::UInt8, false)]
}

/// The columns of a table's parts, as they are read.
fn part_schema(table: &PartTable, reads: PartsReader) -> SchemaRef {
    let field = |column: &PartColumn| {
        // A stranger's part may leave out what is always there in ours.
        let field = column.field().with_nullable(true);
        match (reads, field.data_type()) {
            // Ballista groups by no dictionaries: tasks would disagree about what a number stands for.
            (PartsReader::Elsewhere, DataType::Dictionary(_, values)) => {
                let values = (**values).clone();
                field.with_data_type(values)
            }
            _ => field,
        }
    };
    Arc::new(Schema::new(table.columns.iter().map(field).collect::<Vec<_>>()))
}

/// Where the columns of parts are read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum PartsReader {
    /// In this process, from the store that it has open.
    Here,
    /// Wherever the plan goes: each file stands in it with its whole address, and nothing else of this process does.
    Elsewhere,
}

impl PartsTable {
    pub(crate) fn new(
        table: &'static PartTable,
        listing: &Arc<FleetListing>,
        span: FleetSpan,
        hosts: Option<BTreeSet<String>>,
        reads: PartsReader,
    ) -> PartsTable {
        let folders = folder_columns().map(Arc::new).to_vec();
        let schema =
            TableSchema::builder(part_schema(table, reads)).with_table_partition_cols(folders).build();
        PartsTable { table, listing: listing.clone(), span, hosts, schema, reads }
    }

    fn wanted(&self, state: &dyn Session, filters: &[Expr]) -> Result<Wanted> {
        let (mut from, mut until) = (self.span.from, self.span.until);
        let mut hosts = self.hosts.clone();
        for filter in filters {
            narrow_span(filter, &mut from, &mut until);
            if let Some(named) = named_hosts(filter) {
                hosts = Some(match hosts {
                    Some(hosts) => hosts.intersection(&named).cloned().collect(),
                    None => named,
                });
            }
        }
        let hours: Vec<i64> = match from < until {
            true => FleetSpan { from, until }.hours().collect(),
            false => Vec::new(),
        };
        Ok(Wanted { hours: self.of_folders(state, filters, hours)?, from, until, hosts })
    }

    /// The hours that filters about `date` and `hour` alone leave.
    fn of_folders(&self, state: &dyn Session, filters: &[Expr], hours: Vec<i64>) -> Result<Vec<i64>> {
        let [date, hour] = folder_columns();
        let about_folders = |filter: &&Expr| {
            let columns = filter.column_refs();
            !columns.is_empty()
                && columns.iter().all(|column| column.name == *date.name() || column.name == *hour.name())
        };
        let filters: Vec<&Expr> = filters.iter().filter(about_folders).collect();
        if filters.is_empty() || hours.is_empty() {
            return Ok(hours);
        }
        let folders: Vec<(String, u8)> = hours.iter().map(|hour| date_and_hour(part_hour(*hour))).collect();
        let dates: ArrayRef = Arc::new(StringArray::from_iter_values(folders.iter().map(|(date, _)| date)));
        let numbers: ArrayRef = Arc::new(UInt8Array::from_iter_values(folders.iter().map(|(_, hour)| *hour)));
        let schema = Arc::new(Schema::new(vec![date, hour]));
        let batch = RecordBatch::try_new(schema.clone(), vec![dates, numbers])?;
        let named = DFSchema::try_from(schema)?;
        let mut kept = vec![true; hours.len()];
        for filter in filters {
            let expression = state.create_physical_expr(unqualified(filter.clone())?, &named)?;
            let answer = expression.evaluate(&batch)?.into_array(batch.num_rows())?;
            if let Some(answer) = answer.as_any().downcast_ref::<BooleanArray>() {
                let is_left = |at: usize| answer.is_valid(at) && answer.value(at);
                kept.iter_mut().enumerate().for_each(|(at, kept)| *kept &= is_left(at));
            }
        }
        Ok(hours.into_iter().zip(kept).filter(|(_, kept)| *kept).map(|(hour, _)| hour).collect())
    }

    fn file(&self, part: &FoundPart) -> PartitionedFile {
        let (date, hour) = date_and_hour(part.name.hour);
        let mut file = PartitionedFile::new_from_meta(part.object.clone());
        file.partition_values = vec![ScalarValue::Utf8(Some(date)), ScalarValue::UInt8(Some(hour))];
        match self.reads {
            PartsReader::Here => {
                file.extensions.insert_arc(part.footer.clone());
            }
            PartsReader::Elsewhere => {
                file.object_meta.location = self.listing.root.whole(&part.object.location);
            }
        }
        file
    }

    /// What reads the columns, and the store that it reads from.
    fn source(&self, state: &dyn Session) -> Result<(ParquetSource, ObjectStoreUrl)> {
        let source = ParquetSource::new(self.schema.clone())
            .with_table_parquet_options(state.default_table_options().parquet);
        let root = &self.listing.root;
        Ok(match self.reads {
            PartsReader::Here => {
                let readers = PartReaders { store: root.store.clone(), is_remote: root.is_remote };
                (source.with_parquet_file_reader_factory(Arc::new(readers)), ObjectStoreUrl::parse(STORE)?)
            }
            PartsReader::Elsewhere => (source, ObjectStoreUrl::parse(root.base())?),
        })
    }
}

/// The hour that is so many after the begin of 1970.
fn part_hour(hour: i64) -> PartHour {
    PartHour::of(UtcTime(hour.saturating_mul(HOUR))).map_or(PartHour::LAST, |(hour, _)| hour)
}

fn micros(value: &ScalarValue) -> Option<i64> {
    match value {
        ScalarValue::TimestampSecond(Some(value), _) => value.checked_mul(1_000_000),
        ScalarValue::TimestampMillisecond(Some(value), _) => value.checked_mul(1_000),
        ScalarValue::TimestampMicrosecond(Some(value), _) => Some(*value),
        ScalarValue::TimestampNanosecond(Some(value), _) => Some(value.div_euclid(1_000)),
        _ => None,
    }
}

/// Narrows the span by what a filter says of `start`. Where it says something else, nothing is lost: rows are asked again.
fn narrow_span(filter: &Expr, from: &mut i64, until: &mut i64) {
    let is_start = |expr: &Expr| matches!(expr, Expr::Column(column) if column.name == "start");
    let time = |expr: &Expr| match expr {
        Expr::Literal(value, _) => micros(value),
        _ => None,
    };
    let mut least = |moment: i64| *from = (*from).max(moment);
    match filter {
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::And, right }) => {
            narrow_span(left, from, until);
            narrow_span(right, from, until);
        }
        Expr::BinaryExpr(BinaryExpr { left, op, right }) => {
            let (op, value) = match (is_start(left), is_start(right)) {
                (true, _) => (Some(*op), right),
                (_, true) => (op.swap(), left),
                _ => return,
            };
            let (Some(op), Some(moment)) = (op, time(value)) else { return };
            // A moment cut to microseconds may lie just before what was asked.
            let is_cut = matches!(&**value, Expr::Literal(ScalarValue::TimestampNanosecond(Some(ns), _), _) if ns.rem_euclid(1_000) != 0);
            match op {
                Operator::Gt | Operator::GtEq => least(moment),
                Operator::Lt => *until = (*until).min(moment.saturating_add(i64::from(is_cut))),
                Operator::LtEq => *until = (*until).min(moment.saturating_add(1)),
                Operator::Eq => {
                    least(moment);
                    *until = (*until).min(moment.saturating_add(1));
                }
                _ => {}
            }
        }
        Expr::Between(between) if !between.negated && is_start(&between.expr) => {
            if let Some(moment) = time(&between.low) {
                least(moment);
            }
            if let Some(moment) = time(&between.high) {
                *until = (*until).min(moment.saturating_add(1));
            }
        }
        _ => {}
    }
}

/// The hosts that a filter names, where it leaves no others.
fn named_hosts(filter: &Expr) -> Option<BTreeSet<String>> {
    let is_host = |expr: &Expr| match expr {
        Expr::Column(column) => column.name == "host",
        Expr::Cast(cast) => matches!(&*cast.expr, Expr::Column(column) if column.name == "host"),
        _ => false,
    };
    let text = |expr: &Expr| match expr {
        Expr::Literal(value, _) => plain_text(value),
        _ => None,
    };
    match filter {
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::Eq, right }) if is_host(left) => {
            Some(BTreeSet::from([text(right)?]))
        }
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::Eq, right }) if is_host(right) => {
            Some(BTreeSet::from([text(left)?]))
        }
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::Or, right }) => {
            let mut hosts = named_hosts(left)?;
            hosts.extend(named_hosts(right)?);
            Some(hosts)
        }
        Expr::InList(list) if !list.negated && is_host(&list.expr) => list.list.iter().map(text).collect(),
        _ => None,
    }
}

fn plain_text(value: &ScalarValue) -> Option<String> {
    match value {
        ScalarValue::Utf8(text) | ScalarValue::LargeUtf8(text) | ScalarValue::Utf8View(text) => text.clone(),
        ScalarValue::Dictionary(_, value) => plain_text(value),
        _ => None,
    }
}

#[async_trait::async_trait]
impl TableProvider for PartsTable {
    fn schema(&self) -> SchemaRef {
        self.schema.table_schema().clone()
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let wanted = self.wanted(state, filters)?;
        let parts = self.listing.parts(self.table, &wanted).await;
        let parts = parts.map_err(|error| DataFusionError::Execution(error.to_string()))?;
        if parts.is_empty() {
            let schema = datafusion::common::project_schema(&self.schema(), projection)?;
            return Ok(Arc::new(EmptyExec::new(schema)));
        }
        let is_here = self.reads == PartsReader::Here;
        let is_remote = self.listing.root.is_remote;
        let (mut small, mut large): (Vec<FoundPart>, Vec<FoundPart>) =
            parts.into_iter().partition(|part| is_here && is_small(&part.object, is_remote));
        if small.len() < LEAST_SMALL {
            large.append(&mut small);
        }
        let threads = state.config().target_partitions();
        let mut plans = Vec::new();
        if !large.is_empty() {
            let at_once = threads.max(if is_remote && is_here { REMOTE_READS } else { 1 });
            let files: Vec<PartitionedFile> = large.iter().map(|part| self.file(part)).collect();
            let (source, store) = self.source(state)?;
            let scan = FileScanConfigBuilder::new(store, Arc::new(source))
                .with_file_groups(FileGroup::new(files).split_files(at_once))
                .with_projection_indices(projection.cloned())?
                .with_limit(limit.filter(|_| filters.is_empty()))
                .build();
            plans.push(DataSourceExec::from_data_source(scan) as Arc<dyn ExecutionPlan>);
        }
        if !small.is_empty() {
            let schema = datafusion::common::project_schema(&self.schema(), projection)?;
            let plain = plain_columns(&schema, &folder_columns());
            let test = RowTest::new(state, filters, &plain);
            let store = &self.listing.root.store;
            plans.push(small_parts(small, schema, &plain, test.as_ref(), store, threads)?);
        }
        match plans.len() {
            1 => Ok(plans.swap_remove(0)),
            _ => UnionExec::try_new(plans),
        }
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        // They leave out what need not be read, and are asked again of the rows that are.
        Ok(vec![TableProviderFilterPushDown::Inexact; filters.len()])
    }
}
