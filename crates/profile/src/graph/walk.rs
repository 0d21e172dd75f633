//! Stacks one after the other, root first. Neighbours share most of their callers: these are walked once for a run of stacks,
//! and what such a run weighs is handed down to them when it ends.

use whyslow_model::profile::{CallStackId, LocationId, Profile};

/// Values of each stack: the sum over its samples.
#[derive(Debug)]
pub(crate) struct Weights {
    /// The sum of the value, and of its divisor.
    sums: Vec<(i64, i64)>,
    /// Whether a sample had a value: a sum of 0 may be one of 5 and -5.
    any: Vec<bool>,
}

impl Weights {
    /// Of the samples' value `index`; with `mean`, divided by the first value.
    pub(crate) fn of(profile: &Profile, index: usize, mean: bool) -> Weights {
        let count = profile.stack_count();
        let mut weights = Weights { sums: vec![(0, 0); count], any: vec![false; count] };
        for sample in profile.samples() {
            let value = sample.values.get(index).copied().unwrap_or(0);
            let divisor = if mean { sample.values.first().copied().unwrap_or(0) } else { 0 };
            if value != 0 || divisor != 0 {
                let id = sample.stack_id.0 as usize;
                weights.any[id] = true;
                let (sum, divisors) = &mut weights.sums[id];
                *sum = sum.saturating_add(value);
                *divisors = divisors.saturating_add(divisor);
            }
        }
        weights
    }
}

/// The stacks that have a value, in the profile's order.
pub(super) struct Walk<'a> {
    profile: &'a Profile,
    weights: &'a Weights,
    next: usize,
    last: &'a [LocationId],
}

/// A stack that is its turn.
pub(super) struct Walked<'a> {
    /// So many of its locations, from the root on, are those of the stack before it.
    pub(super) shared: usize,
    /// The others, leaf first.
    pub(super) rest: &'a [LocationId],
    pub(super) weight: i64,
    pub(super) divisor: i64,
}

impl<'a> Walk<'a> {
    pub(super) fn new(profile: &'a Profile, weights: &'a Weights) -> Walk<'a> {
        Walk { profile, weights, next: 0, last: &[] }
    }
}

impl<'a> Iterator for Walk<'a> {
    type Item = Walked<'a>;

    #[inline]
    fn next(&mut self) -> Option<Walked<'a>> {
        let number = self.next + self.weights.any.get(self.next..)?.iter().position(|any| *any)?;
        self.next = number + 1;
        let (weight, divisor) = self.weights.sums[number];
        let stack = self.profile.stack(CallStackId(number as u32));
        let both = stack.iter().rev().zip(self.last.iter().rev());
        let shared = both.take_while(|(one, other)| one == other).count();
        self.last = stack;
        Some(Walked { shared, rest: &stack[..stack.len() - shared], weight, divisor })
    }
}

/// The way from the root to where the walk is: steps, of which a location may be several or none.
pub(super) struct Path<T> {
    steps: Vec<Step<T>>,
    /// How many steps there are up to each location.
    ends: Vec<u32>,
}

/// A step with the sum of all stacks that have it, as far as these ended.
pub(super) struct Step<T> {
    pub(super) is: T,
    pub(super) weight: i64,
    pub(super) divisor: i64,
}

impl<T> Default for Path<T> {
    fn default() -> Path<T> {
        Path { steps: Vec::new(), ends: Vec::new() }
    }
}

impl<T: Copy> Path<T> {
    /// Goes back until `shared` locations are left: `end` is told each step that is taken back, with its sum.
    #[inline]
    pub(super) fn back_to(&mut self, shared: usize, mut end: impl FnMut(Step<T>)) {
        self.ends.truncate(shared);
        let left = self.ends.last().map_or(0, |end| *end as usize);
        while self.steps.len() > left
            && let Some(step) = self.steps.pop()
        {
            if let Some(caller) = self.steps.last_mut() {
                caller.weight = caller.weight.saturating_add(step.weight);
                caller.divisor = caller.divisor.saturating_add(step.divisor);
            }
            end(step);
        }
    }

    /// Goes a step further.
    #[inline]
    pub(super) fn step(&mut self, is: T) {
        self.steps.push(Step { is, weight: 0, divisor: 0 });
    }

    /// The steps of one more location have been made.
    #[inline]
    pub(super) fn end_location(&mut self) {
        self.ends.push(self.steps.len() as u32);
    }

    /// The last step.
    pub(super) fn last(&self) -> Option<T> {
        self.steps.last().map(|step| step.is)
    }

    /// Gives the last step what the stack that ends there weighs.
    #[inline]
    pub(super) fn leaf(&mut self, weight: i64, divisor: i64) -> Option<T> {
        let leaf = self.steps.last_mut()?;
        leaf.weight = leaf.weight.saturating_add(weight);
        leaf.divisor = leaf.divisor.saturating_add(divisor);
        Some(leaf.is)
    }
}
