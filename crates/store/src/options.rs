//! How a recording is written.

use whyslow_model::Nanos;

/// How to write.
#[derive(Clone, Copy, Debug)]
pub struct WriteOptions {
    /// Bytes of all parts together: beyond it the oldest are removed. `None` for no bound.
    pub max_size: Option<u64>,
    /// Rows of one part at most.
    pub part_rows: u64,
    /// Parts are closed after this much recorded time: what a killed recorder loses at most. `None` where the
    /// events come from a file and could be converted again.
    pub part_time: Option<Nanos>,
}

impl WriteOptions {
    /// For recording: a part is closed every second.
    pub const LIVE: WriteOptions =
        WriteOptions { max_size: None, part_rows: 1 << 20, part_time: Some(Nanos::from_secs(1)) };
    /// For converting a capture.
    pub const CONVERT: WriteOptions = WriteOptions { max_size: None, part_rows: 1 << 20, part_time: None };
}
