//! Interrupts and soft interrupts by line and CPU (/proc/interrupts, /proc/softirqs).

use crate::{cpu, text};
use std::collections::BTreeMap;

/// Counts so far.
pub struct Interrupts {
    /// The CPUs, in the order of the columns.
    pub cpus: Vec<u32>,
    /// What each line counted, a CPU each, by name.
    pub lines: BTreeMap<Box<str>, Vec<u64>>,
}

/// Most interrupt lines told apart.
const MOST_LINES: usize = 8192;

/// A head with the CPUs, then `NAME: count… description`.
pub fn parse(text: &[u8]) -> Interrupts {
    let mut lines = text::lines(text);
    let cpus: Vec<u32> = lines.next().map_or(Vec::new(), |head| {
        let number = |word: &[u8]| u32::try_from(text::number(word.strip_prefix(b"CPU")?)?).ok();
        text::words(head).filter_map(number).take(cpu::MOST_CPUS).collect()
    });
    let mut found: BTreeMap<Box<str>, Vec<u64>> = BTreeMap::new();
    for line in lines {
        let Some(colon) = line.iter().position(|byte| *byte == b':') else { continue };
        let (label, rest) = (line[..colon].trim_ascii(), &line[colon + 1..]);
        let mut words = text::words(rest).peekable();
        let mut counts = Vec::with_capacity(cpus.len());
        while counts.len() < cpus.len() {
            let Some(count) = words.peek().copied().and_then(text::number) else { break };
            counts.push(count);
            words.next();
        }
        // `ERR` and `MIS` have one figure for all.
        if counts.is_empty() || counts.len() < cpus.len() || found.len() >= MOST_LINES {
            continue;
        }
        let name = name_of(label, words);
        match found.get_mut(&name) {
            // Lines of one name are one: queues of a device without a number.
            Some(known) => {
                known.iter_mut().zip(counts).for_each(|(sum, count)| *sum = sum.saturating_add(count))
            }
            None => drop(found.insert(name, counts)),
        }
    }
    Interrupts { cpus, lines: found }
}

/// What a line is called: of `36: … PCI-MSIX-0000:00:02.0 1-edge virtio1-req.0` the device, of `LOC: … Local timer
/// interrupts` and `NET_RX:` the label.
fn name_of<'a>(label: &[u8], description: impl Iterator<Item = &'a [u8]>) -> Box<str> {
    let mut name: Vec<u8> = label.to_vec();
    if text::number(label).is_some() {
        // Devices that share the line are joined by commas.
        let mut joined = false;
        name.clear();
        for word in description {
            if !joined {
                name.clear();
            }
            name.extend_from_slice(word);
            joined = word.ends_with(b",");
        }
        if name.is_empty() {
            name = [b"irq ", label].concat();
        }
    }
    whyslow_model::text::bounded(name.get(..MOST_NAME).unwrap_or(&name)).into()
}

/// Bytes of a line's name.
const MOST_NAME: usize = 128;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interrupt_is_named_by_its_device() {
        let name =
            |label: &str, words: &str| name_of(label.as_bytes(), text::words(words.as_bytes())).to_string();
        assert_eq!(name("36", "PCI-MSIX-0000:00:02.0   1-edge      virtio1-req.0"), "virtio1-req.0");
        assert_eq!(name("16", "IO-APIC 16-fasteoi uhci_hcd:usb1, i801_smbus"), "uhci_hcd:usb1,i801_smbus");
        assert_eq!(name("LOC", "Local timer interrupts"), "LOC");
        assert_eq!(name("7", ""), "irq 7");
    }
}
