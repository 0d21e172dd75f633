//! Raw calls to the text that strace prints.

pub mod arg;
pub mod table;
