//! The tests that need the kernel, BPF, root or a terminal, or that wait.

mod agent;
#[path = "../common/budget_docs.rs"]
mod budget_docs;
mod budgets;
#[path = "../common/mod.rs"]
mod common;
mod doctor;
mod host_calls;
mod host_live;
mod hosts;
mod live_equal;
mod mcp;
#[allow(dead_code)]
#[path = "../common/mcp_client.rs"]
mod mcp_client;
mod private;
mod pty;
mod recover;
mod rights;
mod ring;
#[path = "../common/secrets.rs"]
mod secrets;
mod stock_kernel;
mod top;
