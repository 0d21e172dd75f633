//! Recordings on disk: events to Parquet tables and back.
