//! Processes by a local port: who listens there, in any network namespace.

use super::super::ports::{self, Holder};
use super::super::services;
use super::*;

/// Docker's forwarder: the port is its own, the service is elsewhere.
const FORWARDER: &str = "docker-proxy";

impl Search<'_> {
    pub(super) fn at_port(&mut self, port: u16) -> Result<(), TargetError> {
        let root = self.root;
        let host = self.host()?;
        let pids: Vec<Tid> = host.candidates.iter().map(|candidate| candidate.pid).collect();
        let mut holders = ports::holders(root, &pids, port);
        if holders.found.is_empty() {
            return Err(TargetError::NoPort { port, unreadable: holders.unreadable });
        }
        // A client's own port may be the same by chance.
        if holders.found.iter().any(|holder| holder.serves) {
            holders.found.retain(|holder| holder.serves);
        }
        let is_forwarder = |pid: Tid| {
            host.candidates
                .iter()
                .any(|candidate| candidate.pid == pid && candidate.stat.comm == FORWARDER.as_bytes())
        };
        let only_forwards = holders.found.iter().all(|holder| is_forwarder(holder.pid));
        if !only_forwards {
            holders.found.retain(|holder| !is_forwarder(holder.pid));
        }
        let mut found: Vec<Tid> = holders.found.iter().map(|holder| holder.pid).collect();
        found.dedup();
        // Workers share the socket, or the port (SO_REUSEPORT): the kernel lets only one user do so.
        let together =
            |pid: Tid| holders.found.iter().find(|holder| holder.pid == pid).map(|holder| holder.place);
        let services = services::of(root, &host.candidates, &found, together);
        let mut owners: Vec<String> = holders.found.iter().map(Holder::socket).collect();
        owners.sort();
        owners.dedup();
        if !self.again {
            self.resolved.remarks.push(format!("port {port} is {}", owners.join(", ")));
            if only_forwards {
                self.resolved.remarks.push(format!(
                    "{FORWARDER} only passes on to a container: choose that one (--container NAME)"
                ));
            }
        }
        self.one_service(&format!("with port {port}"), found, &services)
    }
}
