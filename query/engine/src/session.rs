//! The engine: its limits, and which statements it takes.

use crate::error::QueryError;
use crate::options::DatabaseOptions;
use datafusion::common::{DataFusionError, Result, SchemaError};
use datafusion::execution::memory_pool::FairSpillPool;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::prelude::{SessionConfig, SessionContext};
use std::sync::Arc;

/// The catalog and the schema in which names stand that have none.
pub(crate) const CATALOG: &str = "whyslow";
pub(crate) const MAIN: &str = "main";
/// Tables as they lie in the recording.
pub(crate) const RAW: &str = "raw";
/// Bytes that sorts and groups may put aside in the temporary folder.
const MOST_SPILLED: u64 = 4 << 30;

/// An engine without tables.
pub(crate) fn context(options: &DatabaseOptions) -> Result<SessionContext> {
    let mut config = SessionConfig::new()
        .with_default_catalog_and_schema(CATALOG, MAIN)
        .with_information_schema(true)
        .with_collect_statistics(true);
    if let Some(threads) = options.threads {
        config = config.with_target_partitions(threads.max(1));
    }
    let parquet = &mut config.options_mut().execution.parquet;
    // Columns of rows that a filter leaves out are not decoded.
    parquet.pushdown_filters = true;
    parquet.reorder_filters = true;
    let runtime = RuntimeEnvBuilder::new()
        .with_memory_pool(Arc::new(FairSpillPool::new(options.memory)))
        .with_max_temp_directory_size(MOST_SPILLED)
        .build_arc()?;
    Ok(SessionContext::new_with_config_rt(config, runtime))
}

/// What is wrong, in our words; `known` are the names of tables.
pub(crate) fn explained(error: DataFusionError, known: &[String]) -> QueryError {
    let text = first_line(&error.strip_backtrace());
    match error.find_root() {
        DataFusionError::ResourcesExhausted(why) => QueryError::TooLarge(first_line(why)),
        DataFusionError::SchemaError(of, _) => QueryError::Question(of_schema(of, &text)),
        DataFusionError::SQL(parser, _) => QueryError::Question(format!(
            "this is no SQL: {}",
            parser.to_string().trim_start_matches("sql parser error: ")
        )),
        DataFusionError::Plan(why) => QueryError::Question(of_plan(why, known)),
        DataFusionError::NotImplemented(why) => {
            QueryError::Question(format!("not possible here: {}", first_line(why)))
        }
        DataFusionError::Execution(why) => QueryError::Question(first_line(why)),
        DataFusionError::Internal(_) => QueryError::Failed(text),
        // What an engine of several machines says is for people already.
        DataFusionError::External(why) => QueryError::Question(why.to_string()),
        DataFusionError::ArrowError(why, _) => QueryError::Question(why.to_string()),
        _ => QueryError::Question(text),
    }
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().trim().to_string()
}

/// A column that is not there: those that are near, else all.
fn of_schema(error: &SchemaError, text: &str) -> String {
    let SchemaError::FieldNotFound { field, valid_fields } = error else { return text.to_string() };
    let names: Vec<String> = valid_fields.iter().map(|column| column.name().to_string()).collect();
    let wanted = field.name();
    match near(wanted, names.iter().map(String::as_str)) {
        found if !found.is_empty() => {
            format!("there is no column {wanted}\nnext: write {}", found.join(" or "))
        }
        _ => format!("there is no column {wanted}\nnext: choose one of {}", names.join(", ")),
    }
}

/// A table that is not there; other mistakes in the engine's words.
fn of_plan(why: &str, known: &[String]) -> String {
    let why = first_line(why);
    let missing = why.strip_prefix("table '").and_then(|rest| rest.strip_suffix("' not found"));
    let Some(missing) = missing else { return why };
    let plain = missing
        .strip_prefix(&format!("{CATALOG}.{MAIN}."))
        .or_else(|| missing.strip_prefix(&format!("{CATALOG}.")));
    let plain = plain.unwrap_or(missing);
    match near(plain, known.iter().map(String::as_str)) {
        found if !found.is_empty() => {
            format!("there is no table {plain}\nnext: ask for {}", found.join(" or "))
        }
        _ => {
            let own: Vec<&str> =
                known.iter().map(String::as_str).filter(|name| !name.contains('.')).collect();
            format!(
                "there is no table {plain}; files are not opened by name\nnext: choose one of {}",
                own.join(", ")
            )
        }
    }
}

/// Names that are written like `wanted`, the nearest first.
pub(crate) fn near<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    /// From here on a name is taken for what was meant.
    const ALIKE: f64 = 0.8;
    /// Names told.
    const MOST: usize = 3;
    let wanted = wanted.to_lowercase();
    let mut found: Vec<(f64, &str)> = names
        .map(|name| (strsim::jaro_winkler(&wanted, &name.to_lowercase()), name))
        .filter(|(likeness, _)| *likeness >= ALIKE)
        .collect();
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    found.dedup_by(|a, b| a.1 == b.1);
    found.into_iter().take(MOST).map(|(_, name)| name).collect()
}
