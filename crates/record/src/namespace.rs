//! Whether we are in the host's own PID namespace: the kernel's programs know processes by the host's numbers alone.

#[cfg(feature = "bpf")]
use crate::error::RecordError;

/// The link that names a process's PID namespace.
pub(crate) const PID_NAMESPACE: &str = "/proc/self/ns/pid";
/// That of the host: `PROC_PID_INIT_INO` of `include/linux/proc_ns.h`.
pub(crate) const FIRST_PID_NAMESPACE: &str = "pid:[4026531836]";

/// Refuses a PID namespace of our own: what is recorded there would be of nobody, or of another process with the same number. Where no
/// /proc tells, there is no such namespace to be known of.
///
/// # Errors
/// [`RecordError::PidNamespace`].
#[cfg(feature = "bpf")]
pub(crate) fn must_be_the_hosts() -> Result<(), RecordError> {
    match std::fs::read_link(PID_NAMESPACE) {
        Ok(space) if space.as_os_str() != FIRST_PID_NAMESPACE => Err(RecordError::PidNamespace),
        _ => Ok(()),
    }
}
