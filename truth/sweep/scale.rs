//! Thresholds that can be scaled at run time: part of the copy that `truth/run sweep` builds, and of nothing that is delivered.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use whyslow_model::Nanos;

thread_local! {
    /// The threshold that is scaled, and by what.
    static SCALED: Cell<(usize, f64)> = const { Cell::new((usize::MAX, 1.0)) };
    /// The thresholds that were asked for.
    static ASKED: RefCell<BTreeSet<usize>> = const { RefCell::new(BTreeSet::new()) };
}

/// Scales one threshold from now on; the others are as they are written.
pub fn scale(number: usize, factor: f64) {
    SCALED.set((number, factor));
}

/// The thresholds that were asked for since the last time.
pub fn asked() -> BTreeSet<usize> {
    ASKED.take()
}

fn factor(number: usize) -> f64 {
    ASKED.with_borrow_mut(|asked| asked.insert(number));
    let (scaled, factor) = SCALED.get();
    if scaled == number { factor } else { 1.0 }
}

pub fn f64(number: usize, value: f64) -> f64 {
    value * factor(number)
}

pub fn u64(number: usize, value: u64) -> u64 {
    (value as f64 * factor(number)).round() as u64
}

pub fn u32(number: usize, value: u32) -> u32 {
    (f64::from(value) * factor(number)).round() as u32
}

pub fn u16(number: usize, value: u16) -> u16 {
    (f64::from(value) * factor(number)).round() as u16
}

pub fn i64(number: usize, value: i64) -> i64 {
    (value as f64 * factor(number)).round() as i64
}

pub fn usize(number: usize, value: usize) -> usize {
    (value as f64 * factor(number)).round() as usize
}

pub fn nanos(number: usize, value: Nanos) -> Nanos {
    Nanos::new((value.or_zero() as f64 * factor(number)).round() as u64)
}
