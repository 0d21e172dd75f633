//! Capabilities (capabilities(7)): which are held, and giving up all but some.

pub use rustix::thread::CapabilitySet as Capabilities;

use rustix::io;
use rustix::thread::{self, CapabilitySets};

/// Those by which files of others are read and written: what root reads must not depend on being confined. The others go.
pub(super) const READER: Capabilities = Capabilities::DAC_OVERRIDE
    .union(Capabilities::DAC_READ_SEARCH)
    .union(Capabilities::CHOWN)
    .union(Capabilities::FOWNER)
    // Some files of /proc/PID ask for it.
    .union(Capabilities::SYS_PTRACE);

/// The highest number that a kernel may know.
const LAST: u32 = 63;

/// Those that the calling thread has in effect.
///
/// # Errors
/// If the kernel does not tell.
pub fn held() -> io::Result<Capabilities> {
    thread::capabilities(None).map(|sets| sets.effective)
}

/// The calling thread, and those that it starts later, keep `kept` of the capabilities that they hold, and no program that they run
/// gains any: `no_new_privs` is set.
///
/// # Errors
/// If the kernel refuses; the thread may have given up some then.
pub fn keep(kept: Capabilities) -> io::Result<()> {
    let before = thread::capabilities(None)?;
    // Takes CAP_SETPCAP; who has it not has nothing that a program could gain by the bounding set once no_new_privs is set.
    if before.effective.contains(Capabilities::SETPCAP) {
        for number in (0..=LAST).filter(|number| !kept.contains(Capabilities::from_bits_retain(1 << number)))
        {
            let one = Capabilities::from_bits_retain(1 << number);
            // What the kernel does not know is not there.
            if thread::capability_is_in_bounding_set(one).unwrap_or(false) {
                thread::remove_capability_from_bounding_set(one)?;
            }
        }
    }
    // A kernel without an ambient set has none in it.
    let _ = thread::clear_ambient_capability_set();
    let permitted = before.permitted & kept;
    let inheritable = Capabilities::empty();
    thread::set_capabilities(
        None,
        CapabilitySets { effective: before.effective & kept, permitted, inheritable },
    )?;
    thread::set_no_new_privs(true)
}
