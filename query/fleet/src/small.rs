//! Small parts, such as agents write each minute. To open a file and to fit filters to it takes an engine longer than to decode all of such a part:
//! they are decoded here, and the rows of many make one batch.

use crate::footers::{FoundPart, all_of};
use crate::hours::date_and_hour;
use bytes::Bytes;
use datafusion::arrow::array::{
    Array, ArrayRef, RecordBatch, RecordBatchOptions, StringArray, UInt8Array, new_null_array,
};
use datafusion::arrow::compute::{cast, concat_batches};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::common::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::parquet::arrow::ProjectionMask;
use datafusion::parquet::arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::streaming::{PartitionStream, StreamingTableExec};
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
    parts: Arc<Vec<FoundPart>>,
    store: Arc<dyn ObjectStore>,
}

/// What reads these parts on so many threads. `schema` has the columns that are wanted; of folders these are `date` and `hour`.
pub(crate) fn small_parts(
    parts: Vec<FoundPart>,
    schema: SchemaRef,
    folders: &[Field; 2],
    store: &Arc<dyn ObjectStore>,
    threads: usize,
) -> Result<Arc<dyn ExecutionPlan>> {
    let is_of_folder = |field: &Field| folders.iter().any(|folder| folder.name() == field.name());
    let plain = schema.fields().iter().filter(|field| !is_of_folder(field)).map(|field| {
        let values = match field.data_type() {
            DataType::Dictionary(_, values) => (**values).clone(),
            other => other.clone(),
        };
        Field::new(field.name(), values, true)
    });
    let plain = Arc::new(Schema::new(plain.collect::<Vec<Field>>()));
    let each = parts.len().div_ceil(threads.max(1)).max(1);
    let mut streams: Vec<Arc<dyn PartitionStream>> = Vec::new();
    let mut parts = parts.into_iter().peekable();
    while parts.peek().is_some() {
        let own = Arc::new(parts.by_ref().take(each).collect());
        let (schema, plain, store) = (schema.clone(), plain.clone(), store.clone());
        streams.push(Arc::new(SmallParts { schema, plain, parts: own, store }));
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
        let columns = builder.schema().fields().iter().enumerate();
        let there = columns.filter(|(_, field)| self.plain.field_with_name(field.name()).is_ok());
        let there: Vec<usize> = there.map(|(at, _)| at).collect();
        let mask = ProjectionMask::roots(builder.parquet_schema(), there);
        for batch in builder.with_projection(mask).build()? {
            let batch = batch?;
            let column = |field: &Arc<Field>| -> Result<ArrayRef> {
                Ok(match batch.column_by_name(field.name()) {
                    Some(column) if column.data_type() == field.data_type() => column.clone(),
                    Some(column) => cast(column, field.data_type())?,
                    None => new_null_array(field.data_type(), batch.num_rows()),
                })
            };
            let columns: Result<Vec<ArrayRef>> = self.plain.fields().iter().map(column).collect();
            let rows = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
            let batch = RecordBatch::try_new_with_options(self.plain.clone(), columns?, &rows);
            to.push(batch.map_err(|error| damaged(error.to_string()))?);
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
