//! The formats that pprof had before protocol buffers, as gperftools, Go's `?debug=1` and old Java agents still write them: stacks of
//! addresses with counts, sometimes with a memory map behind. What pprof does to them (addresses moved back onto the call, samples scaled) is done here too.

mod contention;
mod count;
mod cpu;
mod drop_frames;
mod heap;
mod java;
mod maps;
mod scan;
#[cfg(test)]
mod tests;
mod threads;

pub(super) use contention::CONTENTION;
pub(super) use count::GO_COUNT;
pub(super) use cpu::CPU;
pub(super) use heap::HEAP;
pub(super) use java::JAVA;
pub(super) use threads::THREADS;

use super::bytes::Bytes;
use super::error::ReadError;
use super::notes::Notes;
use super::stacks::Stacks;
use super::{Loaded, ProfileFormat, head_lines};
use hashbrown::HashMap;
use maps::Maps;
use scan::Scan;
use whyslow_model::profile::{Label, LabelSetId, LabelValue, LocationId, SourceLine, StringId, TooLarge};

/// Bytes that a function of an address takes: an entry of a table half empty, and its lines.
const SYMBOL: usize = 2 * size_of::<(u64, Vec<SourceLine>)>() + size_of::<SourceLine>();
/// Bytes that a different address takes while it becomes a location.
const ADDRESS: usize = 2 * size_of::<(u64, LocationId)>() + size_of::<(u64, Option<usize>)>();

/// A sample: where its addresses end, its values, its labels.
struct RawSample {
    end: usize,
    values: [i64; 4],
    labels: LabelSetId,
}

/// A file half read: stacks of addresses, the leaf first.
struct Legacy {
    stacks: Stacks,
    addresses: Vec<u64>,
    samples: Vec<RawSample>,
    /// Functions by address, where the file has them, the innermost first.
    symbols: HashMap<u64, Vec<SourceLine>>,
    /// The symbols of one stack: an inlined function has its caller's address.
    block: Vec<(u64, SourceLine)>,
    maps: Maps,
    notes: Notes,
}

impl Legacy {
    fn counting(types: &[(&str, &str)]) -> Result<Legacy, TooLarge> {
        Ok(Legacy {
            stacks: Stacks::counting(types)?,
            addresses: Vec::new(),
            samples: Vec::new(),
            symbols: HashMap::new(),
            block: Vec::new(),
            maps: Maps::default(),
            notes: Notes::default(),
        })
    }

    fn period(&mut self, kind: &str, unit: &str, period: i64) -> Result<(), TooLarge> {
        let period_type = self.stacks.value_type(kind, unit)?;
        let profile = self.stacks.builder.profile();
        (profile.period_type, profile.period) = (Some(period_type), Some(period));
        Ok(())
    }

    fn drop_frames(&mut self, drop: &str, keep: &str) -> Result<(), TooLarge> {
        let (drop, keep) = (self.stacks.builder.string(drop)?, self.stacks.builder.string(keep)?);
        let profile = self.stacks.builder.profile();
        (profile.drop_frames, profile.keep_frames) = (drop, keep);
        Ok(())
    }

    /// Ends a sample whose addresses were pushed since the last.
    fn sample(&mut self, values: &[i64], labels: LabelSetId) -> Result<(), TooLarge> {
        let before = self.samples.last().map_or(0, |sample| sample.end);
        let addresses = self.addresses.len().saturating_sub(before) * size_of::<u64>();
        // There is a second copy, and a count of each, while some are taken out.
        self.stacks.builder.spend(size_of::<RawSample>() + 2 * (addresses + size_of::<(u64, usize)>()))?;
        let mut four = [0; 4];
        four[..values.len()].copy_from_slice(values);
        self.samples.push(RawSample { end: self.addresses.len(), values: four, labels });
        Ok(())
    }

    /// The label by which pprof keeps the size of an allocation.
    fn size_label(&mut self, bytes: i64) -> Result<LabelSetId, TooLarge> {
        let key = self.stacks.builder.string("bytes")?;
        if bytes == 0 {
            return Ok(LabelSetId(0));
        }
        self.stacks.builder.label_set(&[Label { key, value: LabelValue::Number(bytes, StringId(0)) }])
    }

    /// Pushes the addresses of a stack. They point behind the call: one less is on it.
    fn push_calls(&mut self, addresses: &str) -> bool {
        let before = self.addresses.len();
        for word in addresses.split_whitespace() {
            match scan::hex(word) {
                Some(address) => self.addresses.push(address.wrapping_sub(1)),
                None => {
                    self.addresses.truncate(before);
                    return false;
                }
            }
        }
        true
    }

    /// `#  0x106cd1e  time.Sleep+0xbe  /usr/local/go/src/runtime/time.go:188`: Go names the frames below each stack.
    fn symbol(&mut self, comment: &str) -> Result<(), TooLarge> {
        let mut words =
            comment.trim_start_matches('#').split('\t').map(str::trim).filter(|word| !word.is_empty());
        let Some(address) = words.next().and_then(scan::hex) else { return Ok(()) };
        let Some(function) = words.next() else { return Ok(()) };
        let function = function.rsplit_once("+0x").map_or(function, |(name, _)| name);
        let (file, line) = words.next().and_then(|place| place.rsplit_once(':')).unwrap_or(("", ""));
        let line = self.stacks.line(function, file, line.parse().unwrap_or(0))?;
        self.stacks.builder.spend(SYMBOL)?;
        self.block.push((address, line));
        Ok(())
    }

    /// A stack's symbols are complete.
    fn end_block(&mut self) {
        let block = std::mem::take(&mut self.block);
        for stretch in block.chunk_by(|one, next| one.0 == next.0) {
            self.symbols
                .entry(stretch[0].0)
                .or_insert_with(|| stretch.iter().map(|(_, line)| *line).collect());
        }
    }

    /// Reads lines up to the memory map, and the map.
    fn rest(&mut self, bytes: &mut Bytes<'_>, line: &mut String) -> Result<(), ReadError> {
        while !maps::begins(line) {
            if !bytes.line(line)? {
                return Ok(());
            }
        }
        while bytes.line(line)? {
            self.maps.line(line);
        }
        Ok(())
    }

    fn finish(mut self, format: &'static str, bytes: &Bytes<'_>) -> Result<Loaded, ReadError> {
        self.end_block();
        self.maps.tidy();
        let mut first_use: Vec<u64> = Vec::new();
        let mut known: HashMap<u64, LocationId> = HashMap::new();
        for address in &self.addresses {
            if known.insert(*address, LocationId(0)).is_none() {
                self.stacks.builder.spend(ADDRESS)?;
                first_use.push(*address);
            }
        }
        let owners: Vec<Option<usize>> = first_use.iter().map(|address| self.maps.owner(*address)).collect();
        let ids = self.maps.add_to(&mut self.stacks.builder)?;
        for (address, owner) in first_use.iter().zip(owners) {
            let lines = self.symbols.get(address).map_or(&[][..], Vec::as_slice);
            let mapping = owner.and_then(|owner| ids.get(owner).copied());
            known.insert(*address, self.stacks.location(mapping, *address, lines)?);
        }
        let width = self.stacks.builder.profile().sample_types.len();
        let mut start = 0;
        let mut stack = Vec::new();
        for sample in &self.samples {
            stack.clear();
            stack.extend(self.addresses[start..sample.end].iter().filter_map(|address| known.get(address)));
            start = sample.end;
            let stack = self.stacks.builder.stack(&stack)?;
            self.stacks.builder.sample(stack, sample.labels, &sample.values[..width])?;
        }
        Ok(Loaded::stacks(format, self.stacks.builder.finish()).with_notes(self.notes.end(bytes)))
    }
}

fn is_space_or_comment(line: &str) -> bool {
    let line = line.trim_start();
    line.is_empty() || line.starts_with('#')
}
