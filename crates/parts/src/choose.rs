//! Which parts of a listing are read.
//!
//! Rows are written once, by a run of an agent, and joined later: the joined part is there before its sources are removed,
//! and a source may come again, when an upload is repeated whose answer was lost. So a listing may have the same rows
//! in several parts. A part *claims* minutes of runs on hosts; one is read if no other claims all that it claims and more, or the
//! same at a higher level. Joining takes parts that are read, and claims what they claim: of any listing, each
//! minute of a run that is claimed by some part is read from exactly one.

use crate::minutes::PartMinutes;
use crate::name::{PartHost, PartHour, PartName};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// Of which minutes of which runs on which hosts a part has the rows.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Claims(BTreeMap<(String, String), PartMinutes>);

impl Claims {
    /// What the name of a part says; `None` for parts of many hosts, which say it themselves.
    pub fn of(name: &PartName) -> Option<Claims> {
        let PartHost::One(host) = &name.host else { return None };
        Some(Claims(BTreeMap::from([((host.clone(), name.id.clone()), name.minutes)])))
    }

    /// Adds those of another part.
    pub fn add(&mut self, other: &Claims) {
        for (run, minutes) in &other.0 {
            let own = self.0.entry(run.clone()).or_default();
            *own = own.with(*minutes);
        }
    }

    /// Whether they have all of `other`.
    pub fn have_all(&self, other: &Claims) -> bool {
        other.0.iter().all(|(run, minutes)| self.0.get(run).is_some_and(|own| own.has_all(*minutes)))
    }

    /// Whether they have some of `other`.
    pub fn have_any(&self, other: &Claims) -> bool {
        other.0.iter().any(|(run, minutes)| self.0.get(run).is_some_and(|own| own.has_any(*minutes)))
    }

    /// The minutes over all runs and hosts.
    pub fn minutes(&self) -> PartMinutes {
        self.0.values().fold(PartMinutes::default(), |all, minutes| all.with(*minutes))
    }

    /// The hosts, in order.
    pub fn hosts(&self) -> BTreeSet<&str> {
        self.0.keys().map(|(host, _)| host.as_str()).collect()
    }

    /// As a part of many hosts keeps them: a line each of minutes, run and host.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        for ((host, id), minutes) in &self.0 {
            let _ = writeln!(text, "{minutes} {id} {}", crate::name::escape_host(host));
        }
        text
    }

    /// What [`Claims::to_text`] wrote.
    pub fn parse(text: &str) -> Option<Claims> {
        let mut claims = Claims::default();
        for line in text.lines() {
            let mut words = line.split(' ');
            let (minutes, id, host) = (words.next()?, words.next()?, words.next()?);
            let host = crate::name::unescape_host(host)?;
            claims.0.insert((host, id.to_string()), minutes.parse().ok()?);
            if words.next().is_some() {
                return None;
            }
        }
        (!claims.0.is_empty()).then_some(claims)
    }
}

/// What of a listing is read.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Choice {
    /// The parts to read, in order.
    pub read: Vec<PartName>,
    /// The parts whose rows are all in another one, with that one: they may be removed.
    pub covered: Vec<(PartName, PartName)>,
    /// Pairs that share some rows, of which neither has all of the other's: both are read. Nothing here makes such parts.
    pub overlapping: Vec<(PartName, PartName)>,
}

/// The parts of many hosts whose [`Claims`] have to be read (see [`crate::about`]) before [`choose`] can tell: those beside which
/// there are other parts of the same table and hour.
pub fn doubtful<'a>(listing: impl IntoIterator<Item = &'a PartName>) -> Vec<&'a PartName> {
    let mut hours: BTreeMap<(&str, PartHour), BTreeSet<&PartName>> = BTreeMap::new();
    for name in listing {
        hours.entry((name.table, name.hour)).or_default().insert(name);
    }
    let in_company = hours.into_values().filter(|parts| parts.len() > 1).flatten();
    in_company.filter(|name| name.host == PartHost::Many).collect()
}

/// Which parts of a listing are read. `many` has the claims of the parts of many hosts, at least of the [`doubtful`] ones: one
/// without claims is read, and covers nothing.
pub fn choose<'a>(
    listing: impl IntoIterator<Item = &'a PartName>,
    many: &BTreeMap<PartName, Claims>,
) -> Choice {
    let mut hours: BTreeMap<(&str, PartHour), BTreeSet<&PartName>> = BTreeMap::new();
    for name in listing {
        hours.entry((name.table, name.hour)).or_default().insert(name);
    }
    let mut choice = Choice::default();
    for parts in hours.into_values() {
        choose_of_hour(&parts, many, &mut choice);
    }
    choice.read.sort();
    choice
}

fn choose_of_hour(parts: &BTreeSet<&PartName>, many: &BTreeMap<PartName, Claims>, choice: &mut Choice) {
    // Those with more minutes first: who covers a part comes before it.
    let mut by_run: BTreeMap<(&str, &str), Vec<&PartName>> = BTreeMap::new();
    let mut joined: Vec<(&PartName, &Claims)> = Vec::new();
    for part in parts {
        match &part.host {
            PartHost::One(host) => by_run.entry((host, &part.id)).or_default().push(part),
            PartHost::Many => match many.get(*part) {
                Some(claims) => joined.push((part, claims)),
                None => choice.read.push((*part).clone()),
            },
        }
    }
    let mut read_joined: Vec<(&PartName, &Claims)> = Vec::new();
    joined.sort_by_key(|(part, claims)| {
        (std::cmp::Reverse((claims.0.values().map(|minutes| minutes.len()).sum::<u32>(), part.level)), *part)
    });
    for (part, claims) in joined {
        if let Some((by, _)) = read_joined.iter().find(|(_, own)| own.have_all(claims)) {
            choice.covered.push((part.clone(), (*by).clone()));
            continue;
        }
        let shared = read_joined.iter().filter(|(_, own)| own.have_any(claims));
        choice.overlapping.extend(shared.map(|(by, _)| (part.clone(), (*by).clone())));
        read_joined.push((part, claims));
    }
    choice.read.extend(read_joined.iter().map(|(part, _)| (*part).clone()));
    for ((host, id), mut parts) in by_run {
        parts.sort_by_key(|part| (std::cmp::Reverse((part.minutes.len(), part.level)), *part));
        let run = (host.to_string(), id.to_string());
        let others = read_joined.iter().filter_map(|(part, claims)| Some((*part, *claims.0.get(&run)?)));
        let mut read: Vec<(&PartName, PartMinutes)> = others.collect();
        let joined = read.len();
        for part in parts {
            if let Some((by, _)) = read.iter().find(|(_, minutes)| minutes.has_all(part.minutes)) {
                choice.covered.push((part.clone(), (*by).clone()));
                continue;
            }
            let shared = read.iter().filter(|(_, minutes)| minutes.has_any(part.minutes));
            choice.overlapping.extend(shared.map(|(by, _)| (part.clone(), (*by).clone())));
            read.push((part, part.minutes));
        }
        choice.read.extend(read[joined..].iter().map(|(part, _)| (*part).clone()));
    }
}
