//! Rules about logging: written twice, to nowhere, or too much.

pub(super) mod duplicate_write;
pub(super) mod log_flood;
pub(super) mod write_to_dev_null;
