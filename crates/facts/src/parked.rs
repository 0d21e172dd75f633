//! Goroutines that wait on no thread, by process and place: counts of a recorder.

use hashbrown::HashMap;
use whyslow_model::event::Tid;
use whyslow_model::{Parked, ParkedAt, ParkedFor};

/// What waits where: for what, in words, the function, its place.
type Place = (ParkedFor, String, String, Option<String>);

/// What of goroutines is known, by process.
#[derive(Debug, Default)]
pub struct ParkedFacts {
    /// By place: goroutines of all counts, and the counts.
    processes: HashMap<Tid, HashMap<Place, (u64, u64)>>,
    /// Places in all.
    places: usize,
}

impl ParkedFacts {
    /// Places told apart; a recorder tells fewer.
    const MOST: usize = 1 << 14;
    /// Counts from which on a mean is told.
    const ENOUGH: u64 = 5;

    pub(crate) fn see(&mut self, parked: Parked) {
        let Parked { pid, waits, call, function, place, goroutines, looks } = parked;
        let key = (waits, call, function, place);
        let is_known = self.processes.get(&pid).is_some_and(|places| places.contains_key(&key));
        if !is_known && self.places >= Self::MOST {
            return;
        }
        self.places += usize::from(!is_known);
        let (sum, counts) = self.processes.entry(pid).or_default().entry(key).or_default();
        *sum = sum.saturating_add(goroutines);
        *counts = counts.saturating_add(looks);
    }

    /// True where goroutines of some process were counted.
    pub fn is_known(&self) -> bool {
        !self.processes.is_empty()
    }

    /// The processes, by number.
    pub fn pids(&self) -> Vec<Tid> {
        let mut pids: Vec<Tid> = self.processes.keys().copied().collect();
        pids.sort_unstable();
        pids
    }

    /// Where goroutines of a process wait, with how many on average: first those that are held up, of these the most; then what may be a
    /// wait for work. Empty where they were counted too seldom.
    pub fn of(&self, pid: Tid) -> Vec<ParkedAt> {
        let Some(places) = self.processes.get(&pid) else { return Vec::new() };
        let enough = places.iter().filter(|(_, (_, looks))| *looks >= Self::ENOUGH);
        let mut all: Vec<ParkedAt> = enough
            .map(|((waits, call, function, place), (goroutines, looks))| ParkedAt {
                waits: *waits,
                call: call.clone(),
                function: function.clone(),
                place: place.as_deref().map(|place| place.rsplit('/').next().unwrap_or(place).to_string()),
                mean: *goroutines as f64 / *looks as f64,
            })
            .collect();
        let rank = |at: &ParkedAt| (!at.waits.is_held_up(), at.waits == ParkedFor::Group);
        all.sort_by(|a, b| {
            let names = |at: &ParkedAt| (at.function.clone(), at.place.clone(), at.waits);
            rank(a).cmp(&rank(b)).then(b.mean.total_cmp(&a.mean)).then_with(|| names(a).cmp(&names(b)))
        });
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parked(waits: ParkedFor, function: &str, goroutines: u64, looks: u64) -> Parked {
        Parked {
            pid: 7,
            waits,
            call: "chan send".to_string(),
            function: function.to_string(),
            place: Some("/srv/order/main.go:42".to_string()),
            goroutines,
            looks,
        }
    }

    #[test]
    fn rows_of_one_place_add_up_and_held_up_ones_come_first() {
        let mut facts = ParkedFacts::default();
        assert!(!facts.is_known());
        facts.see(parked(ParkedFor::Receive, "main.take", 500, 10));
        facts.see(parked(ParkedFor::Group, "main.main", 900, 10));
        facts.see(parked(ParkedFor::Send, "main.send", 50, 6));
        facts.see(parked(ParkedFor::Send, "main.send", 40, 4));
        facts.see(parked(ParkedFor::Lock, "main.seldom", 90, 4));
        let told: Vec<String> = facts.of(7).iter().map(ParkedAt::counted).collect();
        let at = |mean: &str, function: &str| {
            format!("{mean} goroutines wait in chan send at {function} (main.go:42)")
        };
        assert_eq!(told, [at("9", "main.send"), at("50", "main.take"), at("90", "main.main")]);
        assert!(facts.of(8).is_empty());
        // What a damaged recording tells.
        facts.see(parked(ParkedFor::Send, "main.send", u64::MAX, u64::MAX));
        assert!(facts.of(7).iter().all(|at| at.mean.is_finite()));
    }
}
