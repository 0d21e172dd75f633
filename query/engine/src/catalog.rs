//! The tables of a database: recorded ones, computed ones, views and macros, each of all recordings that are open.

use crate::captures::Opened;
use crate::derivation::Derivation;
use crate::derived::DERIVED;
use crate::infos::{ColumnInfo, TableInfo, TableKind};
use crate::macros::MACROS;
use crate::parts::{LazyTable, Remarks};
use crate::session::{CATALOG, MAIN, RAW};
use crate::views::{VIEWS, is_raw_only};
use datafusion::arrow::datatypes::{DataType, Schema};
use datafusion::catalog::{MemorySchemaProvider, SchemaProvider, TableProvider};
use datafusion::common::{DataFusionError, Result};
use datafusion::datasource::{ViewTable, provider_as_source};
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, cast, ident, lit};
use datafusion::prelude::SessionContext;
use std::sync::Arc;
use whyslow_store::{ColumnSpec, TABLES};

/// The column that says of which recording a row is.
const RECORDING: (&str, &str) = ("recording", "The recording: its file's name.");

/// Registers all tables, and tells what they are.
pub(crate) async fn register(
    context: &SessionContext,
    recordings: &[(Arc<Opened>, Arc<Derivation>)],
    remarks: &Remarks,
) -> Result<Vec<TableInfo>> {
    let catalog =
        context.catalog(CATALOG).ok_or_else(|| DataFusionError::Internal("no catalog".to_string()))?;
    let (main, raw) = (Arc::new(MemorySchemaProvider::new()), Arc::new(MemorySchemaProvider::new()));
    catalog.register_schema(MAIN, main.clone())?;
    catalog.register_schema(RAW, raw.clone())?;
    let (mut infos, mut recorded_infos) = (Vec::new(), Vec::new());
    for table in TABLES {
        let of = |(opened, _): &(Arc<Opened>, Arc<Derivation>)| {
            (
                opened.name.clone(),
                Arc::new(LazyTable::recorded(opened, table, remarks)) as Arc<dyn TableProvider>,
            )
        };
        let view: Arc<dyn TableProvider> = Arc::new(ViewTable::new(of_all(recordings.iter().map(of))?, None));
        raw.register_table(table.name.to_string(), view.clone())?;
        let name = match is_raw_only(table.name) {
            true => format!("{RAW}.{}", table.name),
            false => {
                main.register_table(table.name.to_string(), view.clone())?;
                table.name.to_string()
            }
        };
        let columns = described(&view.schema(), |name| recorded_column(table.columns, name));
        recorded_infos.push(TableInfo {
            name,
            kind: TableKind::Recorded,
            about: table.about.to_string(),
            columns,
        });
    }
    for table in DERIVED {
        let of = |(opened, derivation): &(Arc<Opened>, Arc<Derivation>)| {
            (
                opened.name.clone(),
                Arc::new(LazyTable::derived(derivation, table, remarks)) as Arc<dyn TableProvider>,
            )
        };
        let view = ViewTable::new(of_all(recordings.iter().map(of))?, None);
        let columns = described(&view.schema(), |name| {
            let column = table.columns.iter().find(|column| column.name == name)?;
            Some((column.unit, column.about.to_string()))
        });
        main.register_table(table.name.to_string(), Arc::new(view))?;
        infos.push(TableInfo {
            name: table.name.to_string(),
            kind: TableKind::Computed,
            about: table.about.to_string(),
            columns,
        });
    }
    let mut views = Vec::new();
    for view in VIEWS {
        let table = planned(context, view.sql).await?;
        let columns = described(&table.schema(), |name| {
            let own = view.columns.iter().find(|(known, ..)| *known == name);
            own.map(|(_, unit, about)| (*unit, about.to_string())).or_else(|| below(view.sql, name))
        });
        main.register_table(view.name.to_string(), table)?;
        views.push(TableInfo {
            name: view.name.to_string(),
            kind: TableKind::View,
            about: view.about.to_string(),
            columns,
        });
    }
    views.append(&mut infos);
    for entry in MACROS {
        main.register_table(entry.name.to_string(), planned(context, entry.sql).await?)?;
    }
    views.append(&mut recorded_infos);
    Ok(views)
}

/// A view of a question.
async fn planned(context: &SessionContext, sql: &str) -> Result<Arc<dyn TableProvider>> {
    let plan = context.state().create_logical_plan(sql).await?;
    Ok(Arc::new(ViewTable::new(plan, Some(sql.to_string()))))
}

/// The rows of one table of all recordings, each with the name of its recording.
fn of_all(tables: impl Iterator<Item = (String, Arc<dyn TableProvider>)>) -> Result<LogicalPlan> {
    let mut all: Option<LogicalPlanBuilder> = None;
    for (recording, table) in tables {
        let schema = table.schema();
        let scan = LogicalPlanBuilder::scan("one", provider_as_source(table), None)?;
        let named = cast(lit(recording), DataType::Utf8View).alias(RECORDING.0);
        let columns = schema.fields().iter().map(|field| ident(field.name()));
        let one = scan.project([named].into_iter().chain(columns).collect::<Vec<Expr>>())?;
        all = Some(match all {
            Some(all) => all.union(one.build()?)?,
            None => one,
        });
    }
    all.ok_or_else(|| DataFusionError::Internal("no recordings".to_string()))?.build()
}

fn described(schema: &Schema, about: impl Fn(&str) -> Option<(&'static str, String)>) -> Vec<ColumnInfo> {
    let column = |field: &Arc<datafusion::arrow::datatypes::Field>| {
        let known = if field.name() == RECORDING.0 {
            Some(("", RECORDING.1.to_string()))
        } else {
            about(field.name())
        };
        let (unit, about) = known.unwrap_or_default();
        ColumnInfo { name: field.name().clone(), type_name: type_name(field.data_type()), unit, about }
    };
    schema.fields().iter().map(column).collect()
}

fn recorded_column(columns: &[ColumnSpec], name: &str) -> Option<(&'static str, String)> {
    let column = columns.iter().find(|column| column.name == name)?;
    Some((column.kind.unit(), column.about.to_string()))
}

/// A column of the tables that a view is made of.
fn below(sql: &str, name: &str) -> Option<(&'static str, String)> {
    let tables = TABLES
        .iter()
        .filter(|table| sql.split_whitespace().any(|word| word.strip_prefix("raw.") == Some(table.name)));
    tables.into_iter().find_map(|table| recorded_column(table.columns, name))
}

fn type_name(of: &DataType) -> &'static str {
    match of {
        DataType::Int64 => "int64",
        DataType::Int32 => "int32",
        DataType::UInt64 => "uint64",
        DataType::UInt32 => "uint32",
        DataType::Float64 => "double",
        DataType::Boolean => "bool",
        DataType::Timestamp(..) => "timestamp",
        _ => "string",
    }
}
