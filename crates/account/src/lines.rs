//! Time by line of the program's own code: shared out by samples of what a thread ran, and by the stacks of its waits.
//!
//! What is spent on a CPU goes to the lines as the samples do. Waits, short ones too, are shared out likewise where some stacks reach the
//! program's own code: blocked threads are read at fixed times, so that these stand for the rest. Where there are too few, only as much is
//! given to lines as stacks were recorded for. Waits of threads on whose stacks none of the program's own code stands go to the lines where goroutines
//! wait for the same, by their numbers. Waits for files that are all too short for a stack go where the call works. Calls of which neither samples
//! nor waits have a stack go where the stacks of short ones are. Time without any (queues
//! for a CPU, calls of which no stack was taken) has no line.

use crate::parked;
use crate::parts::Part;
use hashbrown::HashMap;
use whyslow_facts::Facts;
use whyslow_facts::samples::{Site, SiteTime, StackWait};
use whyslow_facts::world::ids::ObjectId;
use whyslow_model::{Known, SampleKind, TimeOf, TimeState};

/// Stacks of waits that have a place in the program's own code, from which on they stand for those that were not read so far.
const ENOUGH_SITES: u64 = 3;

/// The parts, each with the number of its line where one is known, and the lines by their numbers.
pub(crate) fn split<'a>(facts: &'a Facts, whose: TimeOf, parts: &[Part<'a>]) -> (Vec<Part<'a>>, Vec<String>) {
    let mut lines = Lines::default();
    let mut all = Vec::new();
    for (whole, of_kind) in joined(parts) {
        let mut left = whole.ns;
        if let Some(kind) = of_kind {
            let call = whole.call.map(|call| facts.name_of(call));
            let (kind, fits, with_site) = stacks_of(facts, whole, kind, call);
            let sum = |all: &mut dyn Iterator<Item = &SiteTime<'_>>| -> u128 {
                all.map(|time| u128::from(time.weight.ns)).sum()
            };
            let of = match kind {
                SampleKind::OffCpu if with_site >= ENOUGH_SITES && call.is_some() => {
                    sum(&mut fits.iter().filter(|time| time.site.is_some() || time.is_whole))
                }
                SampleKind::OffCpu => sum(&mut fits.iter()).max(u128::from(whole.ns)),
                SampleKind::OnCpu => sum(&mut fits.iter()),
            };
            if kind == SampleKind::OffCpu && with_site == 0 {
                left -= by_goroutines(facts, whose, whole, &mut lines, &mut all);
            }
            for time in fits {
                let Some(site) = time.site else { continue };
                let ns = (u128::from(whole.ns) * u128::from(time.weight.ns) / of.max(1)) as u64;
                let ns = ns.min(left);
                left -= ns;
                if ns > 0 {
                    let known = whole.known.max(Known::InProportion);
                    all.push(Part { ns, known, site: Some(lines.number(site)), ..whole });
                }
            }
        }
        if left > 0 {
            all.push(Part { ns: left, ..whole });
        }
    }
    (all, lines.words)
}

/// The stacks that show where a part is spent, their kind, and how many of them have a place in the program's own code. Waits for files that
/// are all too short for a stack are where the same call works. Where neither tells anything, the stacks of short calls do.
fn stacks_of<'a>(
    facts: &'a Facts,
    whole: Part<'_>,
    kind: SampleKind,
    call: Option<&str>,
) -> (SampleKind, Vec<SiteTime<'a>>, u64) {
    let of = |kind| {
        let mut sites = facts.samples.sites(kind, whole.process, Some(whole.tid));
        sites.retain(|time| is_of(time, kind, whole.state, call));
        if kind == SampleKind::OffCpu {
            only_for(whole.object, &mut sites);
        }
        let with_site = sites.iter().filter(|time| time.site.is_some());
        let with_site: u64 = with_site.map(|time| time.weight.count).sum();
        (kind, sites, with_site)
    };
    let found = of(kind);
    let is_short = found.2 == 0 && call.is_some() && is_short_for_files(whole.state);
    let working = is_short.then(|| of(SampleKind::OnCpu));
    let found = working.filter(|(.., with_site)| *with_site >= ENOUGH_SITES).unwrap_or(found);
    let made = whole.call.filter(|_| found.2 == 0).map(|call| {
        let sites = facts.samples.sites_of_calls(whole.process, whole.tid, call);
        let with_site = sites.iter().filter(|time| time.site.is_some());
        let with_site: u64 = with_site.map(|time| time.weight.count).sum();
        (kind, sites, with_site)
    });
    made.filter(|(.., with_site)| *with_site >= ENOUGH_SITES).unwrap_or(found)
}

/// Leaves the stacks of waits for this thing alone where there are enough of them; else those that are not known to be for another one.
fn only_for(object: ObjectId, sites: &mut Vec<SiteTime<'_>>) {
    let own = |time: &SiteTime<'_>| time.object == object;
    let with_site = sites.iter().filter(|time| own(time) && time.site.is_some());
    let with_site: u64 = with_site.map(|time| time.weight.count).sum();
    match object != ObjectId::NONE && with_site >= ENOUGH_SITES {
        true => sites.retain(own),
        false if sites.iter().any(|time| own(time) || time.object == ObjectId::NONE) => {
            sites.retain(|time| own(time) || time.object == ObjectId::NONE);
        }
        false => {}
    }
}

/// Shares a wait without a line out by where the goroutines of its process wait that it is for, and returns how much of it, ns.
fn by_goroutines<'a>(
    facts: &Facts,
    of: TimeOf,
    whole: Part<'a>,
    lines: &mut Lines<'a>,
    all: &mut Vec<Part<'a>>,
) -> u64 {
    let pid = facts.world.threads.known_process(whole.process).and_then(|process| process.pid);
    let shares = pid.map_or_else(Vec::new, |pid| parked::shares(facts, of, whole.state, pid));
    let mut given = 0;
    for (at, part) in shares {
        let ns = ((whole.ns as f64 * part) as u64).min(whole.ns - given);
        given += ns;
        if ns > 0 {
            let site = Some(lines.number_of(at.site()));
            all.push(Part { ns, known: whole.known.max(Known::InProportion), site, ..whole });
        }
    }
    given
}

/// Parts of one thread that are spent in one way, joined; with the kind of samples that show where.
fn joined<'a>(parts: &[Part<'a>]) -> Vec<(Part<'a>, Option<SampleKind>)> {
    let mut sums: HashMap<_, Part<'a>> = HashMap::new();
    for part in parts {
        let key = (part.process, part.tid, part.state, part.call, part.object);
        let plain =
            Part { call: part.call, object: part.object, ..Part::new(part.process, part.tid, part.state, 0) };
        let sum = sums.entry(key).or_insert(plain);
        sum.ns = sum.ns.saturating_add(part.ns);
        sum.known = sum.known.max(part.known);
    }
    let mut all: Vec<Part<'a>> = sums.into_values().collect();
    all.sort_by_key(|part| (part.process, part.tid, part.state, part.call.map(|call| call.0), part.object));
    all.into_iter().map(|part| (part, part.state.sampled())).collect()
}

/// True for waits that, all too short for a stack, are where the same call works.
pub(crate) fn is_short_for_files(state: TimeState) -> bool {
    matches!(state, TimeState::File | TimeState::KernelWait)
}

/// True for samples of such time: in that call, or in none. Where the kernel's functions tell no call, a wait may be any. A lock or a time is
/// not what a thread waited for work with.
pub(crate) fn is_of(time: &SiteTime<'_>, kind: SampleKind, state: TimeState, call: Option<&str>) -> bool {
    let is_wanted = |time: &SiteTime<'_>| {
        !matches!(state, TimeState::Lock | TimeState::Timer) || time.wait != Some(StackWait::Work)
    };
    match (kind, call) {
        (SampleKind::OffCpu, Some(_)) => (time.call.is_none() || time.call == call) && is_wanted(time),
        (SampleKind::OffCpu, None) => true,
        (_, call) => time.call == call,
    }
}

/// Lines by their numbers.
#[derive(Default)]
struct Lines<'a> {
    numbers: HashMap<Site<'a>, u32>,
    words: Vec<String>,
}

impl<'a> Lines<'a> {
    fn number(&mut self, site: Site<'a>) -> u32 {
        if let Some(number) = self.numbers.get(&site) {
            return *number;
        }
        let number = self.number_of(site.words());
        self.numbers.insert(site, number);
        number
    }

    /// The same of its words.
    fn number_of(&mut self, words: String) -> u32 {
        let known = self.words.iter().position(|known| *known == words);
        known.unwrap_or_else(|| {
            self.words.push(words);
            self.words.len() - 1
        }) as u32
    }
}
