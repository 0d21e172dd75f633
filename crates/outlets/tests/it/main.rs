//! The outlets together: from rows that are handed over to what receivers get; and the files for Prometheus and Grafana beside them.

mod files;
mod flow;
mod receiver;
