//! Processes by a name: the best fit counts, and what fits must be one service.

use super::super::program::{Fit, Program};
use super::super::services::{self, Service};
use super::*;

impl Search<'_> {
    pub(super) fn named(&mut self, name: &str) -> Result<(), TargetError> {
        let root = self.root;
        let again = self.again;
        let above = services::ancestors(root);
        let host = self.host()?;
        let programs: Vec<(Tid, Program)> = host
            .candidates
            .iter()
            .map(|candidate| (candidate.pid, Program::of(root, candidate.pid, &candidate.stat.comm)))
            .collect();
        let mut fits: Vec<(Fit, Tid)> = programs
            .iter()
            // The shell and the wrappers that started us have the name in their arguments, because we have.
            .filter(|(pid, _)| !above.contains(pid))
            .filter_map(|(pid, program)| Some((program.fit(name)?, *pid)))
            .collect();
        if again {
            fits.retain(|(fit, _)| *fit == Fit::Whole);
        }
        let Some(best) = fits.iter().map(|(fit, _)| *fit).min() else {
            let names = programs.iter().flat_map(|(_, program)| program.names()).map(str::to_string);
            return Err(TargetError::NoName { name: name.to_string(), near: near(name, names.collect()) });
        };
        let found: Vec<Tid> = fits.iter().filter(|(fit, _)| *fit == best).map(|(_, pid)| *pid).collect();
        let services = services::of(root, &host.candidates, &found, |_| None);
        let what = match best {
            Fit::Whole => format!("of the name {name:?}"),
            Fit::Stem | Fit::Part => format!("whose names hold {name:?}"),
            Fit::CommandLine => format!("with {name:?} in their command lines"),
        };
        if !again && best != Fit::Whole {
            let exactly =
                programs.iter().find(|(pid, _)| found.contains(pid)).map(|(_, program)| program.shown());
            let exactly = exactly.unwrap_or_default();
            self.resolved.remarks.push(format!("no process is named {name:?}: {exactly} is taken for it"));
        }
        self.one_service(&what, found, &services)?;
        // The kernel cuts a name at 15 bytes (TASK_COMM_LEN).
        let mut comm = [0; 16];
        for (kept, byte) in comm.iter_mut().take(15).zip(name.bytes()) {
            *kept = byte;
        }
        self.resolved.later.comms.push(comm);
        Ok(())
    }

    /// Chooses all that was found where it is one service; else that is an error with a list.
    pub(super) fn one_service(
        &mut self,
        what: &str,
        found: Vec<Tid>,
        services: &[Service],
    ) -> Result<(), TargetError> {
        let root = self.root;
        if services.len() > 1 && !self.again {
            return Err(TargetError::Several {
                what: what.to_string(),
                count: services.len(),
                list: services::listed(root, &self.host()?.candidates, services),
                choice: services::choice(services),
            });
        }
        if found.len() > 1 {
            let pids: Vec<String> = found.iter().take(LISTED).map(Tid::to_string).collect();
            let more = match found.len().saturating_sub(LISTED) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            self.resolved.remarks.push(format!(
                "{} processes {what}, of one service: all are recorded ({}{more})",
                found.len(),
                pids.join(", ")
            ));
        }
        self.choose(found);
        Ok(())
    }
}

/// Numbers of processes in a remark.
const LISTED: usize = 8;
