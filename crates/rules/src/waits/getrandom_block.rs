//! # getrandom-block
//!
//! ## What it is
//! A program asks the kernel for random numbers and waits, because the kernel has not gathered enough entropy yet, or because the source is slow.
//!
//! ## Why it is slow
//! getrandom without GRND_NONBLOCK, and reads of /dev/random, wait until the kernel's generator is seeded: in a virtual machine without a hardware
//! source that may take a minute after the boot. Kernels before 5.6 let readers of /dev/random wait again and again.
//!
//! ## Example
//! ```text
//! getrandom("\x5b\x1e\x8a"..., 16, 0) = 16 <23.180000>
//! ```
//!
//! ## What to do instead
//! Give the machine a source: virtio-rng in the hypervisor, `random.trust_cpu=on`, jitterentropy or rng-tools, a seed kept over reboots
//! (systemd-random-seed). In the program read /dev/urandom or use getrandom with GRND_INSECURE for what is no key; Java:
//! `-Djava.security.egd=file:/dev/./urandom`.
//!
//! ## When it is wrong
//! A call takes some microseconds once the generator is seeded. One long call in a program that is short of CPU is its wait for a CPU: it takes a small part
//! of the time, and is a notice.

use crate::engine::{Findings, Need, Rule, Subjects};
use crate::gate::gated;
use crate::{callers, guards};
use whyslow_facts::Facts;
use whyslow_facts::folds::entropy::{Drawn, Entropy};
use whyslow_model::{Measurement, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "getrandom-block",
    group: "waits",
    summary: "the program waits for random numbers",
    source: include_str!("getrandom_block.rs"),
    needs: &[Need::Durations, Need::AnyOf(&["getrandom", "read"])],
    check,
};

/// A single wait below is one for a CPU, or a disk behind the device.
const LONG_ALONE_NS: u64 = 100_000_000;

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let mut rows: Vec<&Drawn> = facts.entropy.rows.iter().filter(|row| is_blocked(row)).collect();
    rows.sort_by_key(|row| std::cmp::Reverse((row.waits.total_ns, row.tid)));
    for row in rows {
        report(facts, out, row);
    }
}

#[gated]
fn is_blocked(row: &Drawn) -> bool {
    row.waits.count > 1 || row.waits.total_ns >= LONG_ALONE_NS
}

fn report(facts: &Facts, out: &mut Findings<'_>, row: &Drawn) {
    let waits = &row.waits;
    let tid = Some(row.tid).filter(|_| !row.shared);
    let share = guards::share_of_ns(facts, tid, waits.total(), waits.count);
    let count = Measurement::count("waits", waits.count);
    let took = Measurement::time("time", waits.total());
    let longest = Measurement::time("longest", waits.max()).at_least(Entropy::LONG.or_zero() as f64);
    let call = if &*row.source == "getrandom" { "getrandom" } else { "read" };
    let site = callers::of_calls(facts, row.tid, &[call]);
    let subject = Subjects::thread(facts, row.tid);
    let who = subject.comm.clone().unwrap_or_else(|| "the program".to_string());
    let times = if waits.count == 1 { "time" } else { "times" };
    let pid = subject.pid.map_or("PID".to_string(), |pid| pid.to_string());
    let device = (&*row.source != "getrandom").then(|| row.source.to_string());
    out.report(
        share,
        format!(
            "{who} waits {count} {times} for random numbers ({}): {took} in all, {longest} the longest{}",
            row.source,
            callers::words(site.as_ref())
        ),
    )
    .subject(Subject {
        path: device,
        syscall: Some(call.to_string()),
        function: callers::function(site.as_ref()),
        ..subject
    })
    .cause("Once its generator is seeded the kernel answers within microseconds: it is not seeded yet, or the source behind it is slow.")
    .measured(count)
    .measured(took)
    .measured(longest)
    .measured(Measurement::bytes("bytes", waits.bytes))
    .fix("give the machine a source: virtio-rng (qemu -device virtio-rng-pci), random.trust_cpu=on and random.trust_bootloader=on on the kernel's command line, rng-tools or jitterentropy-rngd; systemd-random-seed keeps a seed over reboots")
    .fix("Java: -Djava.security.egd=file:/dev/./urandom, or securerandom.source=file:/dev/urandom in java.security; others: read /dev/urandom, or getrandom with GRND_INSECURE for what is no key")
    .fix("a newer kernel: from 5.6 on /dev/random no longer waits once the generator was seeded")
    .verify(format!("dmesg | grep 'crng init done';  cat /proc/sys/kernel/random/entropy_avail;  strace -f -T -e trace=getrandom -p {pid}"))
    .saving(waits.total())
    .evidence_all(row.lines.iter())
    .file();
}
