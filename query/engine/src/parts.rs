//! Tables that are opened when a question first reads them: parts of recordings are checked then, and facts computed.

use crate::captures::Opened;
use crate::derivation::Derivation;
use crate::derived::{self, Derived};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::{DataFusionError, Result};
use datafusion::datasource::MemTable;
use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::datasource::listing::{ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl};
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;
use std::path::Path;
use std::sync::{Arc, Mutex};
use tokio::sync::OnceCell;
use whyslow_store::{Kind, SoundParts, TableSpec};

/// What is to be told of the inputs, from wherever it was found.
pub(crate) type Remarks = Arc<Mutex<Vec<String>>>;

/// Adds a remark.
pub(crate) fn remark(remarks: &Remarks, text: String) {
    let mut remarks = remarks.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if !remarks.contains(&text) {
        remarks.push(text);
    }
}

/// Where the rows are from.
#[derive(Debug)]
enum Source {
    Recorded(Arc<Opened>, &'static TableSpec),
    Derived(Arc<Derivation>, &'static Derived),
}

/// A table of one recording.
#[derive(Debug)]
pub(crate) struct LazyTable {
    schema: SchemaRef,
    source: Source,
    remarks: Remarks,
    opened: OnceCell<Arc<dyn TableProvider>>,
}

impl LazyTable {
    pub(crate) fn recorded(opened: &Arc<Opened>, table: &'static TableSpec, remarks: &Remarks) -> LazyTable {
        LazyTable {
            schema: schema(table),
            source: Source::Recorded(opened.clone(), table),
            remarks: remarks.clone(),
            opened: OnceCell::new(),
        }
    }

    pub(crate) fn derived(from: &Arc<Derivation>, table: &'static Derived, remarks: &Remarks) -> LazyTable {
        LazyTable {
            schema: derived::schema(table),
            source: Source::Derived(from.clone(), table),
            remarks: remarks.clone(),
            opened: OnceCell::new(),
        }
    }

    async fn open(&self) -> Result<Arc<dyn TableProvider>> {
        match &self.source {
            Source::Derived(from, table) => {
                let batch = from.table(table).await.map_err(DataFusionError::Execution)?;
                let table = MemTable::try_new(self.schema.clone(), vec![vec![batch]])?;
                Ok(Arc::new(table))
            }
            Source::Recorded(opened, table) => {
                let (dir, table) = (opened.tables.clone(), *table);
                let sound = tokio::task::spawn_blocking(move || whyslow_store::sound_parts(&dir, table));
                let sound = sound.await.map_err(|error| DataFusionError::Execution(error.to_string()))?;
                let sound = sound.map_err(|error| DataFusionError::Execution(error.to_string()))?;
                for why in &sound.passed_over {
                    remark(&self.remarks, format!("{}: {why}; it is not used", opened.name));
                }
                self.listing(&sound)
            }
        }
    }

    fn listing(&self, sound: &SoundParts) -> Result<Arc<dyn TableProvider>> {
        if sound.parts.is_empty() {
            return Ok(Arc::new(MemTable::try_new(self.schema.clone(), vec![vec![]])?));
        }
        let urls = sound.parts.iter().map(|part| url(&part.path)).collect::<Result<Vec<_>>>()?;
        let options = ListingOptions::new(Arc::new(ParquetFormat::default()));
        let config = ListingTableConfig::new_with_multi_paths(urls)
            .with_listing_options(options)
            .with_schema(self.schema.clone());
        Ok(Arc::new(ListingTable::try_new(config)?))
    }
}

/// The address of a file: its name is taken as it is, whatever letters it has.
fn url(path: &Path) -> Result<ListingTableUrl> {
    let wrong = || DataFusionError::Execution(format!("{}: no path of a file", path.display()));
    let url = url::Url::from_file_path(path).map_err(|()| wrong())?;
    ListingTableUrl::try_new(url, None)
}

#[async_trait::async_trait]
impl TableProvider for LazyTable {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
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
        let table = self.opened.get_or_try_init(|| self.open()).await?;
        table.scan(state, projection, filters, limit).await
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        // They leave out what need not be read, and are asked again of the rows that are.
        Ok(vec![TableProviderFilterPushDown::Inexact; filters.len()])
    }
}

/// The columns of a recorded table, as they are read: text as views, so that one that many rows share takes its memory once.
pub(crate) fn schema(table: &TableSpec) -> SchemaRef {
    let field = |column: &whyslow_store::ColumnSpec| {
        let of = match column.kind {
            Kind::Seq | Kind::Time | Kind::Duration | Kind::I64 => DataType::Int64,
            Kind::I32 => DataType::Int32,
            Kind::U64 => DataType::UInt64,
            Kind::U32 => DataType::UInt32,
            Kind::F64 => DataType::Float64,
            Kind::Bool => DataType::Boolean,
            Kind::Word | Kind::Text => DataType::Utf8View,
        };
        // A stranger's part may leave out what is always there in ours.
        Field::new(column.name, of, true)
    };
    Arc::new(Schema::new(table.columns.iter().map(field).collect::<Vec<_>>()))
}
