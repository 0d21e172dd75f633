//! Recordings of several hosts as one input: the first one's target, and who is behind its waits on the others.

use super::{FactsReader, read_recording, recording_id, remark};
use crate::global::Global;
use crate::progress::Bar;
use anyhow::{anyhow, bail};
use std::path::{Path, PathBuf};
use whyslow_diagnose::{NoSuchParty, OfHosts, Parties};
use whyslow_facts::Facts;
use whyslow_hosts::{OfHost, ReadError, Reader, Skew, in_order, skews};
use whyslow_model::event::Tid;
use whyslow_model::ids::MAX_HOSTS;
use whyslow_model::{CaptureNote, Event, Nanos, NoteKind, Sink, visible};
use whyslow_read::Input;

/// Calls of one exchange may be so far apart beyond what the clocks are known to differ by, ns: they are read at either end of a call, and a
/// message takes some microseconds through each kernel.
const SLACK_NS: u64 = 50_000;

/// The hosts, by number, and which recording is of which.
pub(super) struct Hosts {
    names: Vec<String>,
    of: Vec<u16>,
}

/// The hosts of these recordings, where they are several: told apart by their boot and their name, which a container or a network namespace may
/// have of its own.
pub(super) fn several(recordings: &[PathBuf]) -> Option<Hosts> {
    let mut known: Vec<(String, Option<String>)> = Vec::new();
    let mut of = Vec::new();
    for path in recordings {
        let host = whyslow_store::read_meta(path).ok().and_then(|meta| meta.host).unwrap_or_default();
        // Without a name nothing tells that it is another one.
        let identity = host.name.map(|name| (name, host.boot_id));
        let at = match identity {
            None => 0,
            Some(identity) => known.iter().position(|one| *one == identity).unwrap_or_else(|| {
                known.push(identity);
                known.len() - 1
            }),
        };
        of.push(u16::try_from(at).unwrap_or(0));
    }
    let names = known.into_iter().map(|(name, _)| visible::line(&name).into_owned()).collect::<Vec<String>>();
    (names.len() > 1).then_some(Hosts { names, of })
}

/// For commands that show what all of a host's processes did.
///
/// # Errors
/// If the recordings are of several hosts.
pub(super) fn refuse(recordings: &[PathBuf]) -> anyhow::Result<()> {
    match several(recordings) {
        Some(hosts) => bail!(
            "the recordings are of {} hosts ({}), and this command shows one\nnext: name the recordings of one host; `whyslow diagnose` and `whyslow report` follow waits from host to host",
            hosts.names.len(),
            hosts.names.join(", ")
        ),
        None => Ok(()),
    }
}

/// Reads them three times: to compare the clocks, to see who waits for whom, and with the first host's target apart from the others.
///
/// # Errors
/// If one of them cannot be read, or `asked` is no process of the first host's recording.
pub(super) fn read_target<R: FactsReader>(
    recordings: &[PathBuf],
    captures: &[Input],
    hosts: &Hosts,
    asked: Option<Tid>,
    global: &Global,
) -> anyhow::Result<R> {
    if !captures.is_empty() {
        bail!(
            "recordings of {} hosts cannot be joined with captures\nnext: leave the captures out",
            hosts.names.len()
        );
    }
    if hosts.names.len() > MAX_HOSTS {
        bail!(
            "the recordings are of {} hosts, and {MAX_HOSTS} can be joined\nnext: name those that talk to each other",
            hosts.names.len()
        );
    }
    let mut facts = Facts::default();
    facts.keep_turns();
    for (number, path) in recordings.iter().enumerate() {
        let mut sink = OfHost::new(hosts.of[number], 0, &mut facts);
        read_recording(path, recording_id(number), &Bar::default(), &mut sink)?;
    }
    let clocks = skews(&facts, hosts.names.len());
    drop(facts);
    let within = clocks.iter().flatten().map(|skew| skew.within_ns).max().unwrap_or(0);
    let within = within.saturating_add(SLACK_NS);

    let mut all = Facts::default();
    all.tolerate_clocks(within);
    read_in_order(recordings, hosts, &clocks, &mut all)?;
    all.finish();
    let first = recording_id(hosts.of.iter().position(|host| *host == 0).unwrap_or(0));
    let of = OfHosts { names: &hosts.names, first };
    let parties = Parties::of_hosts(&all, of, asked).map_err(|NoSuchParty { known }| {
        let asked = asked.map_or("a target".to_string(), |pid| format!("process {pid}"));
        anyhow!(
            "the recording of {} has no calls of {asked}\nnext: name one that it has: {}",
            hosts.names[0],
            visible::line(&known.join(", "))
        )
    })?;
    drop(all);

    let mut reader = R::with(Facts::of_target_beside(&parties.apart));
    reader.facts().tolerate_clocks(within);
    read_in_order(recordings, hosts, &clocks, &mut reader)?;
    let facts = reader.facts();
    facts.capture.notes.extend(parties.notes);
    for (name, clock) in hosts.names.iter().zip(&clocks).skip(1) {
        let text = clock_words(&hosts.names[0], name, *clock);
        facts.push(Event::Note(CaptureNote {
            kind: NoteKind::Assumed,
            source: first,
            line: None,
            text,
            tid: None,
        }));
    }
    facts.finish();
    remark(facts, global);
    Ok(reader)
}

/// Reads all of them at once, so that events come in the order of time.
fn read_in_order(
    recordings: &[PathBuf],
    hosts: &Hosts,
    clocks: &[Option<Skew>],
    sink: &mut (dyn Sink + Send),
) -> anyhow::Result<()> {
    let readers = recordings.iter().enumerate().map(|(number, path)| {
        let host = hosts.of[number];
        let shift = clocks.get(usize::from(host)).copied().flatten().map_or(0, |skew| skew.shift_ns);
        let reader: Reader<'_> =
            Box::new(move |sink: &mut dyn Sink| read_one(path, number, (host, shift), sink));
        reader
    });
    let ended = in_order(readers.collect(), sink);
    for (path, end) in recordings.iter().zip(ended) {
        end.map_err(|error| anyhow!("{}: {error}", visible::path(path)))?;
    }
    Ok(())
}

fn read_one(
    path: &Path,
    number: usize,
    (host, shift): (u16, i64),
    sink: &mut dyn Sink,
) -> Result<(), ReadError> {
    let mut sink = OfHost::new(host, shift, sink);
    read_recording(path, recording_id(number), &Bar::default(), &mut sink)
        .map_err(|error| error.to_string().into())
}

/// What is known of two clocks.
fn clock_words(first: &str, name: &str, clock: Option<Skew>) -> String {
    let Some(clock) = clock else {
        return format!(
            "{name}: no exchange with {first} was recorded at both ends, so that its clock cannot be compared; it is taken for the same"
        );
    };
    let amount = Nanos::new(clock.shift_ns.unsigned_abs());
    let which = match clock.shift_ns {
        0 => format!("the clocks of {name} and {first} agree"),
        1.. => format!("the clock of {name} is {amount} behind that of {first}"),
        _ => format!("the clock of {name} is {amount} ahead of that of {first}"),
    };
    let within = Nanos::new(clock.within_ns);
    let open =
        if clock.is_ambiguous { "; other differences fit nearly as well, this one is the least" } else { "" };
    format!(
        "{which}, within {within}, by {} exchanges that both recorded{open}; times are told by that of {first}",
        clock.exchanges
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_of_two_clocks_is_told_with_how_well() {
        let skew = Skew { shift_ns: -1_500_000, within_ns: 40_000, exchanges: 12, is_ambiguous: false };
        assert_eq!(
            clock_words("web", "db", Some(skew)),
            "the clock of db is 1.50 ms ahead of that of web, within 40.0 us, by 12 exchanges that both recorded; times are told by that of web"
        );
        assert!(clock_words("web", "db", None).contains("cannot be compared"));
    }
}
