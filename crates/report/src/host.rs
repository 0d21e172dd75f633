//! The walk over the host in lines that every format shows alike.

use whyslow_model::walk::{Amount, HostResource, State, Taker, Walk};

/// Processes, threads and calls shown unless all are asked for.
pub(crate) const MOST: usize = 3;

/// One line about a resource: its state, and the rest of the line.
pub(crate) struct ResourceLine<'a> {
    pub(crate) resource: &'a HostResource,
    pub(crate) word: &'static str,
    pub(crate) text: String,
}

/// The resources that are known one by one, those that are unknown and have something to say too; the others in the
/// order of the walk behind them.
pub(crate) fn resources(walk: &Walk) -> Vec<ResourceLine<'_>> {
    let line = |resource: &'_ HostResource| {
        let supply = match resource.supply.is_empty() {
            true => String::new(),
            false => format!("; `{}` tells", resource.supply.replace('`', "'")),
        };
        format!("{}: {}{supply}", resource.name, resource.reason)
    };
    let word = |state: State| match state {
        State::Saturated => "saturated",
        State::Not => "ok",
        State::Unknown => "unknown",
    };
    walk.resources
        .iter()
        .map(|resource| ResourceLine { resource, word: word(resource.state), text: line(resource) })
        .collect()
}

/// The host in a line: `CPU saturated (0.1 % idle); ok: memory, disk vda; unknown: network`.
pub(crate) fn in_a_line(walk: &Walk) -> String {
    let of = |state: State| walk.resources.iter().filter(move |one| one.state == state);
    let main = |one: &HostResource| one.reason.split(';').next().unwrap_or_default().to_string();
    let mut parts: Vec<String> =
        of(State::Saturated).map(|one| format!("{} saturated ({})", one.name, main(one))).collect();
    for (word, state) in [("ok", State::Not), ("unknown", State::Unknown)] {
        let names: Vec<&str> = of(state).map(|one| one.name.as_str()).collect();
        if !names.is_empty() {
            parts.push(format!("{word}: {}", names.join(", ")));
        }
    }
    parts.join("; ")
}

/// A heading and the lines under it: processes, threads, calls.
pub(crate) fn takers(walk: &Walk, most: usize) -> Vec<(&'static str, Vec<(String, &Taker)>)> {
    let groups = [("Processes", &walk.processes), ("Threads", &walk.threads), ("Calls", &walk.calls)];
    groups
        .into_iter()
        .filter(|(_, takers)| !takers.is_empty())
        .map(|(heading, takers)| {
            // Who suffers is shown, however far behind.
            let shown =
                takers.iter().enumerate().filter(|(at, taker)| *at < most || taker.victim_of.is_some());
            (heading, shown.map(|(_, one)| (taker(one), one)).collect())
        })
        .collect()
}

fn taker(taker: &Taker) -> String {
    let number = taker.tid.or(taker.pid).map(|number| format!(" ({number})"));
    let name = taker.comm.clone().unwrap_or_else(|| "?".to_string());
    let amounts = |amounts: &[Amount]| amounts.iter().map(|amount| amount.text.clone()).collect::<Vec<_>>();
    let mut parts = amounts(&taker.takes);
    parts.extend(amounts(&taker.waits));
    if let Some(full) = &taker.victim_of {
        parts.push(format!("starved: {full} taken by other processes"));
    }
    format!("{name}{}: {}", number.unwrap_or_default(), parts.join(", "))
}
