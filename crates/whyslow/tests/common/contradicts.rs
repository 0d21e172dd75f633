//! No finding contradicts what the host check says of the finding's resource.

use whyslow_model::walk::State;
use whyslow_model::{Diagnosis, Finding, Severity};

/// Rules that say of a resource of the host that work queues for it; of a disk, of the device that the finding is about.
const SATURATED: &[(&str, &str)] = &[
    ("steal-time", "CPU"),
    ("disk-saturated", "disk"),
    ("random-io", "disk"),
    ("small-requests", "disk"),
    ("swapping", "memory"),
    ("direct-reclaim", "memory"),
    ("tcp-retransmit", "network"),
];
/// Rules that say of a resource that it has room.
const HAS_ROOM: &[(&str, &str)] = &[("affinity-pinned", "CPU")];

/// The findings above a notice that say something else of a resource than the host check does.
pub(crate) fn contradictions(diagnosis: &Diagnosis) -> Vec<String> {
    let resources = diagnosis.walk.as_ref().map_or(&[][..], |walk| &walk.resources);
    let mut found = Vec::new();
    for finding in diagnosis.findings.iter().filter(|finding| finding.severity >= Severity::Warning) {
        for (rules, against) in [(SATURATED, State::Not), (HAS_ROOM, State::Saturated)] {
            let Some((_, name)) = rules.iter().find(|(id, _)| *id == finding.id) else { continue };
            let of_host = resources.iter().filter(|one| is_meant(&one.name, name, finding));
            for resource in of_host.filter(|one| one.state == against) {
                found.push(format!(
                    "{} is told ({}), though {} is {}: {}",
                    finding.id,
                    finding.title,
                    resource.name,
                    resource.state.words(),
                    resource.reason
                ));
            }
        }
    }
    found
}

/// Whether the finding is about that resource. One about a control group, a mount or a peer speaks of these alone.
fn is_meant(resource: &str, name: &str, finding: &Finding) -> bool {
    let subject = &finding.subject;
    match name {
        "disk" => {
            let device = subject.device.as_deref().is_some_and(|device| {
                resource
                    .strip_prefix("disk ")
                    .is_some_and(|rest| rest.split([' ', '(', ',']).next() == Some(device))
            });
            device && subject.path.is_none()
        }
        _ => resource == name && subject.path.is_none() && subject.peer.is_none(),
    }
}
