//! A set of inputs as one stream: opened, decompressed, sniffed, snapshots first, traces merged by time.
