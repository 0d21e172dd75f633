//! Recordings of several hosts: the target is that of the first one's.

use super::{Look, NoSuchParty, Parties, Party};
use whyslow_facts::Facts;
use whyslow_model::SourceId;
use whyslow_model::event::Tid;
use whyslow_model::ids::host_of_tid;

/// Recordings of several hosts: the target is on the first one.
#[derive(Clone, Copy, Debug)]
pub struct OfHosts<'a> {
    /// The names of the hosts, by their numbers ([`whyslow_model::ids::host_of_tid`]).
    pub names: &'a [String],
    /// The recording of the first one: it is about its target.
    pub first: SourceId,
}

impl Parties {
    /// The same of recordings of several hosts: the target is that of the first host's recording, or the process there that was asked for.
    ///
    /// # Errors
    /// If the process that was asked for is not in the first host's recording.
    pub fn of_hosts(facts: &Facts, hosts: OfHosts<'_>, asked: Option<Tid>) -> Result<Parties, NoSuchParty> {
        let mut look = Look::of(facts);
        for party in &mut look.parties {
            let host = usize::from(host_of_tid(party.pid));
            party.host = hosts.names.get(host).filter(|_| host > 0).cloned();
        }
        // Whom the recorder took in is not what the recording is about.
        let is_own = |party: &Party| !party.pids.iter().any(|pid| facts.followed.of(*pid).is_some());
        let of = |is_target: &dyn Fn(&Party) -> bool| -> Vec<usize> {
            (0..look.parties.len()).filter(|at| is_target(&look.parties[*at])).collect()
        };
        let target = match asked {
            Some(pid) => {
                of(&|party| party.host.is_none() && (party.pids.contains(&pid) || party.tids.contains(&pid)))
            }
            None => {
                let named = of(&|party| party.sources.contains(&hosts.first) && is_own(party));
                // A process of which no call was recorded is of no source.
                if named.is_empty() { of(&|party| party.host.is_none() && is_own(party)) } else { named }
            }
        };
        if target.is_empty() {
            let known = look.parties.iter().filter(|party| party.host.is_none()).map(Party::words);
            return Err(NoSuchParty { known: known.collect() });
        }
        let mut parties = look.set_apart(&target, asked.is_some(), Vec::new());
        // Its recorder tells itself whom it took in on the target's host, and by which of their threads is not known of all.
        parties.apart.on_the_way.clear();
        for row in &mut parties.apart.followed {
            if let Some(name) =
                hosts.names.get(usize::from(host_of_tid(row.pid))).filter(|_| host_of_tid(row.pid) > 0)
            {
                row.comm = format!("{} on {name}", row.comm);
            }
        }
        Ok(parties)
    }
}
