//! Small parts, such as agents write each minute. To open a file and to fit filters to it takes an engine longer than to decode all of such a part:
//! they are decoded here, and the rows of many make one batch.

use crate::footers::{FoundPart, all_of};
use crate::hours::date_and_hour;
use bytes::Bytes;
use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, RecordBatch, RecordBatchOptions, StringArray, UInt8Array,
    new_null_array,
};
use datafusion::arrow::compute::{cast, concat_batches};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::catalog::Session;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Column, DFSchema, DataFusionError, Result, ScalarValue};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::{Expr, utils::conjunction};
use datafusion::parquet::arrow::ProjectionMask;
use datafusion::parquet::arrow::arrow_reader::{
    ArrowPredicateFn, ArrowReaderOptions, ParquetRecordBatchReaderBuilder, RowFilter,
};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::streaming::{PartitionStream, StreamingTableExec};
use datafusion::physical_plan::{ExecutionPlan, PhysicalExpr};
use futures::{StreamExt, TryStreamExt};
use object_store::ObjectStore;
use std::sync::Arc;
use whyslow_parts::{PartHour, PartName};

/// Parts whose rows make a batch: between two batches a question that was given up stops.
const PARTS_A_BATCH: usize = 128;
/// Reads under way at once, of parts that were not kept.
const READS: usize = 16;

/// Parts that one thread reads.
#[derive(Clone, Debug)]
struct SmallParts {
    /// The columns that are wanted, as the engine has them.
    schema: SchemaRef,
    /// Those that parts have: without dictionaries, which would be others in each part.
    plain: SchemaRef,
    test: Option<RowTest>,
    parts: Arc<Vec<FoundPart>>,
    store: Arc<dyn ObjectStore>,
}

/// The filters of a question, as far as they are about columns of parts. Rows that they leave out are decoded in these columns alone.
#[derive(Clone, Debug)]
pub(crate) struct RowTest {
    /// The columns that they are about.
    columns: SchemaRef,
    expression: Arc<dyn PhysicalExpr>,
}

impl RowTest {
    /// `None` where no filter is about columns of parts alone, or the engine cannot ask them there: rows are asked again by the engine.
    pub(crate) fn new(state: &dyn Session, filters: &[Expr], plain: &Schema) -> Option<RowTest> {
        let is_of_parts = |filter: &&Expr| {
            let columns = filter.column_refs();
            !columns.is_empty() && columns.iter().all(|column| plain.field_with_name(&column.name).is_ok())
        };
        let filter = conjunction(filters.iter().filter(is_of_parts).cloned())?;
        let names: Vec<String> = filter.column_refs().iter().map(|column| column.name.clone()).collect();
        let fields = plain.fields().iter().filter(|field| names.contains(field.name())).cloned();
        let columns = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        // Parts have no dictionaries here, and so the values have none.
        let unpacked = unqualified(filter).ok()?.transform(|expression| {
            Ok(match expression {
                Expr::Literal(ScalarValue::Dictionary(_, value), metadata) => {
                    Transformed::yes(Expr::Literal(*value, metadata))
                }
                other => Transformed::no(other),
            })
        });
        let schema = DFSchema::try_from(columns.clone()).ok()?;
        let expression = state.create_physical_expr(unpacked.ok()?.data, &schema).ok()?;
        Some(RowTest { columns, expression })
    }

    /// Which rows pass. All do where it cannot be told: the engine asks them again.
    fn passed(&self, rows: &RecordBatch) -> BooleanArray {
        let asked = of_part(&self.columns, rows).and_then(|rows| {
            let answer = self.expression.evaluate(&rows)?.into_array(rows.num_rows())?;
            Ok(answer.as_boolean_opt().cloned())
        });
        asked.ok().flatten().unwrap_or_else(|| BooleanArray::from(vec![true; rows.num_rows()]))
    }
}

/// A filter whose columns name no table.
pub(crate) fn unqualified(filter: Expr) -> Result<Expr> {
    let plain = filter.transform(|expression| {
        Ok(match expression {
            Expr::Column(column) => Transformed::yes(Expr::Column(Column::from_name(column.name))),
            other => Transformed::no(other),
        })
    })?;
    Ok(plain.data)
}

/// The columns of a schema as a part has them; one that it does not have is unknown.
fn of_part(schema: &SchemaRef, part: &RecordBatch) -> Result<RecordBatch> {
    let column = |field: &Arc<Field>| -> Result<ArrayRef> {
        Ok(match part.column_by_name(field.name()) {
            Some(column) if column.data_type() == field.data_type() => column.clone(),
            Some(column) => cast(column, field.data_type())?,
            None => new_null_array(field.data_type(), part.num_rows()),
        })
    };
    let columns: Result<Vec<ArrayRef>> = schema.fields().iter().map(column).collect();
    let options = RecordBatchOptions::new().with_row_count(Some(part.num_rows()));
    Ok(RecordBatch::try_new_with_options(schema.clone(), columns?, &options)?)
}

/// The columns of parts among those of a schema, without dictionaries.
pub(crate) fn plain_columns(schema: &Schema, folders: &[Field; 2]) -> SchemaRef {
    let is_of_folder = |field: &Field| folders.iter().any(|folder| folder.name() == field.name());
    let plain = schema.fields().iter().filter(|field| !is_of_folder(field)).map(|field| {
        let values = match field.data_type() {
            DataType::Dictionary(_, values) => (**values).clone(),
            other => other.clone(),
        };
        Field::new(field.name(), values, true)
    });
    Arc::new(Schema::new(plain.collect::<Vec<Field>>()))
}

/// What reads these parts on so many threads. `schema` has the columns that are wanted, `plain` those of parts among them.
pub(crate) fn small_parts(
    parts: Vec<FoundPart>,
    schema: SchemaRef,
    plain: &SchemaRef,
    test: Option<&RowTest>,
    store: &Arc<dyn ObjectStore>,
    threads: usize,
) -> Result<Arc<dyn ExecutionPlan>> {
    let each = parts.len().div_ceil(threads.max(1)).max(1);
    let mut streams: Vec<Arc<dyn PartitionStream>> = Vec::new();
    let mut parts = parts.into_iter().peekable();
    while parts.peek().is_some() {
        let own = Arc::new(parts.by_ref().take(each).collect());
        let (schema, plain, store) = (schema.clone(), plain.clone(), store.clone());
        streams.push(Arc::new(SmallParts { schema, plain, test: test.cloned(), parts: own, store }));
    }
    Ok(Arc::new(StreamingTableExec::try_new(schema, streams, None, [], false, None)?))
}

impl PartitionStream for SmallParts {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, _: Arc<TaskContext>) -> SendableRecordBatchStream {
        let own = self.clone();
        let batches = futures::stream::iter(runs(&self.parts)).then(move |(from, until)| {
            let own = own.clone();
            async move { own.batch(from, until).await }
        });
        Box::pin(RecordBatchStreamAdapter::new(self.schema.clone(), batches))
    }
}

/// Parts of one hour each that make a batch: the first one, and the one after the last.
fn runs(parts: &[FoundPart]) -> Vec<(usize, usize)> {
    let mut runs = Vec::new();
    let mut from = 0;
    for until in 1..=parts.len() {
        let same = parts.get(until).is_some_and(|part| part.name.hour == parts[from].name.hour);
        if !same || until - from == PARTS_A_BATCH {
            runs.push((from, until));
            from = until;
        }
    }
    runs
}

impl SmallParts {
    async fn batch(&self, from: usize, until: usize) -> Result<RecordBatch> {
        let parts = &self.parts[from..until];
        let all: Vec<Bytes> = futures::stream::iter(parts.to_vec())
            .map(|part| {
                let store = self.store.clone();
                async move {
                    match &part.footer.whole {
                        Some(whole) => Ok(whole.clone()),
                        None => all_of(&store, &part.object).await,
                    }
                }
            })
            .buffered(READS)
            .try_collect()
            .await?;
        let mut batches = Vec::with_capacity(parts.len());
        for (part, whole) in parts.iter().zip(all) {
            self.decode(&part.name, whole, &mut batches)?;
        }
        let rows = concat_batches(&self.plain, &batches)?;
        let hour = parts.first().map(|part| part.name.hour);
        self.wanted(&rows, hour.unwrap_or(PartHour::FIRST))
    }

    /// The rows of a part, by the columns that are wanted of it; a column that it does not have is unknown.
    fn decode(&self, name: &PartName, whole: Bytes, to: &mut Vec<RecordBatch>) -> Result<()> {
        let damaged = |reason: String| DataFusionError::External(format!("Parquet: {name}: {reason}").into());
        // What a stranger's part says of its types beside those of Parquet does not count.
        let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
        let builder = ParquetRecordBatchReaderBuilder::try_new_with_options(whole, options)?;
        let fields = builder.schema().fields().clone();
        let mask = |wanted: &Schema| {
            let columns = fields.iter().enumerate();
            let there = columns.filter(|(_, field)| wanted.field_with_name(field.name()).is_ok());
            ProjectionMask::roots(builder.parquet_schema(), there.map(|(at, _)| at))
        };
        let rows = mask(&self.plain);
        // A column that the part does not have is unknown, and no filter can be asked in the decoder about it.
        let has_all =
            |test: &&RowTest| test.columns.fields().iter().all(|field| fields.find(field.name()).is_some());
        let test = self.test.as_ref().filter(has_all).cloned().map(|test| (mask(&test.columns), test));
        let mut builder = builder.with_projection(rows);
        if let Some((columns, test)) = test {
            let predicate = ArrowPredicateFn::new(columns, move |rows| Ok(test.passed(&rows)));
            builder = builder.with_row_filter(RowFilter::new(vec![Box::new(predicate)]));
        }
        for batch in builder.build()? {
            let batch = of_part(&self.plain, &batch?).map_err(|error| damaged(error.to_string()))?;
            to.push(batch);
        }
        Ok(())
    }

    /// The columns as the engine has them, and those that come of folders.
    fn wanted(&self, rows: &RecordBatch, hour: PartHour) -> Result<RecordBatch> {
        let (date, hour) = date_and_hour(hour);
        let count = rows.num_rows();
        let column = |field: &Arc<Field>| -> Result<ArrayRef> {
            Ok(match rows.column_by_name(field.name()) {
                Some(column) if column.data_type() == field.data_type() => column.clone(),
                Some(column) => cast(column, field.data_type())?,
                None if *field.data_type() == DataType::UInt8 => {
                    Arc::new(UInt8Array::from_value(hour, count))
                }
                None => Arc::new(StringArray::from_iter_values(std::iter::repeat_n(&date, count))),
            })
        };
        let columns: Result<Vec<ArrayRef>> = self.schema.fields().iter().map(column).collect();
        let options = RecordBatchOptions::new().with_row_count(Some(count));
        Ok(RecordBatch::try_new_with_options(self.schema.clone(), columns?, &options)?)
    }
}
