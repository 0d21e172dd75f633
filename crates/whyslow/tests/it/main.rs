//! The tests of the commands and of the chain behind them that need no live kernel.

#[path = "../common/budget_docs.rs"]
mod budget_docs;
mod budgets;
mod captures;
mod chains;
mod cli;
#[path = "../common/mod.rs"]
mod common;
mod confined;
#[path = "../common/contradicts.rs"]
mod contradicts;
mod control_bytes;
mod depot;
mod exports;
mod exports_profiles;
mod exports_receivers;
mod exports_spans;
mod go_pprof;
mod hostile;
mod mcp;
#[path = "../common/mcp_client.rs"]
mod mcp_client;
mod page;
mod parties;
mod profile_out;
mod recordings;
mod redact;
mod schemas;
// Plain views are those of the cases.
#[allow(dead_code)]
#[path = "../common/schemas.rs"]
mod schemas_common;
#[path = "../common/secrets.rs"]
mod secrets;
mod seeds;
mod sosreport;
mod strangers;
mod sweep;
mod why_not;
