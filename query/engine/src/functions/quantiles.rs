//! Percentiles of whole numbers in one pass: exact while there are few, of a histogram beyond. It has 64 slots to each power of two, so
//! that a value is known within a 128th; unlike a digest, its answer does not depend on the order of the rows.

use datafusion::arrow::array::{Array, ArrayRef, AsArray, ListArray};
use datafusion::arrow::datatypes::{DataType, Field, FieldRef, Int64Type};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::{Accumulator, AggregateUDF, AggregateUDFImpl, Signature, Volatility};
use std::sync::Arc;

/// Values that are kept one by one.
const MOST_EXACT: usize = 512;
/// Slots to a power of two, as a power of two.
const FINE: u32 = 6;

pub(super) fn all() -> Vec<AggregateUDF> {
    [("p50", 500), ("p90", 900), ("p95", 950), ("p99", 990), ("p999", 999)]
        .map(|(name, thousandth)| {
            AggregateUDF::new_from_impl(Quantile {
                name,
                thousandth,
                signature: Signature::exact(vec![DataType::Int64], Volatility::Immutable),
            })
        })
        .into()
}

/// The aggregate.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Quantile {
    name: &'static str,
    thousandth: u64,
    signature: Signature,
}

impl AggregateUDFImpl for Quantile {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Int64)
    }

    fn accumulator(&self, _: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        Ok(Box::new(Spread { thousandth: self.thousandth, ..Spread::default() }))
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        let item = Arc::new(Field::new_list_field(DataType::Int64, true));
        let field = |part: &str| {
            Arc::new(Field::new(format!("{}[{part}]", args.name), DataType::List(item.clone()), true))
        };
        Ok(vec![field("values"), field("slots"), field("counts")])
    }
}

/// Values so far.
#[derive(Debug, Default)]
struct Spread {
    thousandth: u64,
    /// While there are few.
    exact: Vec<i64>,
    /// Else how many there are of each slot: those from zero up, and those below it by their amount.
    above: Vec<u64>,
    below: Vec<u64>,
}

/// The slot of an amount.
fn slot(amount: u64) -> usize {
    if amount < 1 << FINE {
        return amount as usize;
    }
    let power = 63 - amount.leading_zeros();
    let within = (amount >> (power - FINE)) & ((1 << FINE) - 1);
    (((power - FINE + 1) as usize) << FINE) + within as usize
}

/// The middle of a slot.
fn amount(slot: usize) -> u64 {
    let (power, within) = (slot >> FINE, (slot & ((1 << FINE) - 1)) as u64);
    if power == 0 {
        return within;
    }
    let width = 1u64 << (power - 1);
    ((1 << FINE) + within) * width + width / 2
}

impl Spread {
    fn is_exact(&self) -> bool {
        self.above.is_empty() && self.below.is_empty()
    }

    #[inline]
    fn add(&mut self, value: i64) {
        if self.is_exact() {
            self.exact.push(value);
            if self.exact.len() > MOST_EXACT {
                self.spread();
            }
        } else {
            self.count(value < 0, slot(value.unsigned_abs()), 1);
        }
    }

    fn spread(&mut self) {
        // A slot that is there says that values are spread.
        self.above.push(0);
        for value in std::mem::take(&mut self.exact) {
            self.count(value < 0, slot(value.unsigned_abs()), 1);
        }
    }

    #[inline]
    fn count(&mut self, is_below: bool, slot: usize, times: u64) {
        let slots = if is_below { &mut self.below } else { &mut self.above };
        if slots.len() <= slot {
            slots.resize(slot + 1, 0);
        }
        slots[slot] += times;
    }

    /// The value that so many of a thousand do not exceed.
    fn quantile(&mut self) -> Option<i64> {
        let rank =
            |count: u64| ((u128::from(count) * u128::from(self.thousandth)).div_ceil(1000).max(1) - 1) as u64;
        if self.is_exact() {
            let at = rank(self.exact.len() as u64) as usize;
            if self.exact.is_empty() {
                return None;
            }
            return Some(*self.exact.select_nth_unstable(at).1);
        }
        let count: u64 = self.above.iter().chain(&self.below).sum();
        let mut left = rank(count);
        let below = self
            .below
            .iter()
            .enumerate()
            .rev()
            .map(|(at, times)| (-(amount(at).min(i64::MAX as u64) as i64), *times));
        let above =
            self.above.iter().enumerate().map(|(at, times)| (amount(at).min(i64::MAX as u64) as i64, *times));
        for (value, times) in below.chain(above) {
            if left < times {
                return Some(value);
            }
            left -= times;
        }
        None
    }
}

impl Accumulator for Spread {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        values[0].as_primitive::<Int64Type>().iter().flatten().for_each(|value| self.add(value));
        Ok(())
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        Ok(ScalarValue::Int64(self.quantile()))
    }

    fn size(&self) -> usize {
        size_of::<Self>() + (self.exact.capacity() + self.above.capacity() + self.below.capacity()) * 8
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let of = |slots: &[u64], sign: i64| -> Vec<(i64, i64)> {
            let used = slots.iter().enumerate().filter(|(_, times)| **times > 0);
            // Slots below zero have numbers below zero.
            used.map(|(at, times)| (if sign < 0 { -(at as i64) - 1 } else { at as i64 }, *times as i64))
                .collect()
        };
        let slots: Vec<(i64, i64)> = of(&self.above, 1).into_iter().chain(of(&self.below, -1)).collect();
        let list = |values: Vec<i64>| {
            let list =
                ListArray::from_iter_primitive::<Int64Type, _, _>([Some(values.into_iter().map(Some))]);
            ScalarValue::List(Arc::new(list))
        };
        let (places, times) = slots.into_iter().unzip();
        Ok(vec![list(self.exact.clone()), list(places), list(times)])
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let lists = [0, 1, 2].map(|at| states[at].as_list::<i32>());
        for row in 0..lists[0].len() {
            let [values, places, times] = lists.map(|list| list.value(row));
            values.as_primitive::<Int64Type>().iter().flatten().for_each(|value| self.add(value));
            if !places.is_empty() && self.is_exact() {
                self.spread();
            }
            let pairs = places
                .as_primitive::<Int64Type>()
                .values()
                .iter()
                .zip(times.as_primitive::<Int64Type>().values());
            for (place, times) in pairs {
                let is_below = *place < 0;
                let at = if is_below { -(place + 1) } else { *place };
                self.count(is_below, at as usize, *times as u64);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_hold_what_they_are_for() {
        for value in (0..70).chain([127, 128, 1000, 123_456, u64::from(u32::MAX), 1 << 62, u64::MAX >> 1]) {
            let back = amount(slot(value));
            assert!(back.abs_diff(value) <= value / 128, "{value}: {back}");
        }
    }

    #[test]
    fn few_are_exact_and_many_within_a_128th() {
        let mut few = Spread { thousandth: 990, ..Spread::default() };
        (1..=100).rev().for_each(|value| few.add(value));
        assert_eq!(few.quantile(), Some(99));
        let mut many = Spread { thousandth: 500, ..Spread::default() };
        (-10_000..30_000).for_each(|value| many.add(value));
        let median = many.quantile().unwrap();
        assert!((median - 9_999).abs() <= 9_999 / 128 + 1, "{median}");
        assert_eq!(Spread::default().quantile(), None);
    }

    #[test]
    fn parts_come_to_the_whole() {
        let mut whole = Spread { thousandth: 950, ..Spread::default() };
        let mut parts = [
            Spread { thousandth: 950, ..Spread::default() },
            Spread { thousandth: 950, ..Spread::default() },
        ];
        for value in 0..5_000 {
            whole.add(value * 31 % 4_999 - 100);
            parts[usize::from(value % 10 == 0)].add(value * 31 % 4_999 - 100);
        }
        let mut merged = Spread { thousandth: 950, ..Spread::default() };
        for part in &mut parts {
            let state: Vec<ArrayRef> =
                part.state().unwrap().iter().map(|value| value.to_array().unwrap()).collect();
            merged.merge_batch(&state).unwrap();
        }
        assert_eq!(merged.quantile(), whole.quantile());
    }
}
