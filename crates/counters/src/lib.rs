//! What the kernel's files of counters say: /proc, /sys and control groups as text, to figures. The sampler reads them
//! live, the readers of captures find them dumped: here stands once which line is which metric.
//!
//! A file becomes [`Figures`] of a thing: levels, and what was counted so far. [`Figures::rates`] says what two looks
//! come to. Nothing here can fail on any bytes: what is damaged or missing is unknown.

pub mod cpu;
pub mod disks;
mod figures;
pub mod groups;
pub mod interrupts;
pub mod locks;
pub mod memory;
pub mod network;
pub mod pressure;
mod span;
pub mod tasks;
pub mod text;

pub use figures::{Figures, Told};
pub use span::Span;
