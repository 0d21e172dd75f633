//! The tests of the readers: single lines, whole captures, damage, dumps of counters.

mod captures;
mod common;
mod counters;
mod hostile;
mod inputs;
mod strace_lines;
mod tracers;
