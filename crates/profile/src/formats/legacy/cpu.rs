//! The binary CPU profile of gperftools (docs/cpuprofile-fileformat.html there): words of 4 or 8 bytes of either order. A head of 0, 3, kind, period in µs, 0;
//! then a sample each: how often, how many frames, the frames; then 0, 1, 0 and the memory map as text. The kind is 1 for Java, whose functions stand in the place of the map.

use super::super::error::FilePlace;
use super::*;

pub(in crate::formats) static CPU: ProfileFormat = ProfileFormat {
    name: "gperftools CPU profile",
    made_by: "CPUPROFILE=FILE with libprofiler, Go before 1.9",
    sniff: |head| Words::of(head).is_some(),
    read,
};

/// How words are written.
#[derive(Clone, Copy)]
struct Words {
    size: usize,
    is_big: bool,
    is_java: bool,
    period_us: u64,
}

impl Words {
    fn of(head: &[u8]) -> Option<Words> {
        [(4, false), (4, true), (8, false), (8, true)].into_iter().find_map(|(size, is_big)| {
            let mut words = Words { size, is_big, is_java: false, period_us: 0 };
            let mut all = head.chunks_exact(size).map(|word| words.word(word));
            let head = [all.next()?, all.next()?, all.next()?, all.next()?, all.next()?];
            let [0, 3, kind @ (0 | 1), period, 0] = head else { return None };
            (words.is_java, words.period_us) = (kind == 1, period);
            (period > 0).then_some(words)
        })
    }

    fn word(&self, bytes: &[u8]) -> u64 {
        let join = |value: u64, byte: &u8| value << 8 | u64::from(*byte);
        if self.is_big { bytes.iter().fold(0, join) } else { bytes.iter().rev().fold(0, join) }
    }

    /// The next `count` words that are ahead, at most 64 MiB of them.
    fn ahead<'b>(&self, bytes: &'b mut Bytes<'_>, count: u64) -> Result<Option<&'b [u8]>, ReadError> {
        let size = count.saturating_mul(self.size as u64);
        let there = bytes.want(size)?;
        Ok(bytes.ahead().get(..there.min(size as usize)).filter(|ahead| ahead.len() as u64 == size))
    }
}

fn read(bytes: &mut Bytes<'_>) -> Result<Loaded, ReadError> {
    let words = Words::of(bytes.ahead()).ok_or_else(|| ReadError::malformed("no head of a CPU profile"))?;
    bytes.take(5 * words.size);
    let mut legacy = Legacy::counting(&[("samples", "count"), ("cpu", "nanoseconds")])?;
    let period = i64::try_from(words.period_us).unwrap_or(i64::MAX).saturating_mul(1000);
    legacy.period("cpu", "nanoseconds", period)?;
    legacy.drop_frames(drop_frames::CPU, "")?;
    let is_ended = samples(bytes, &words, period, &mut legacy)?;
    let mut line = String::new();
    if words.is_java {
        java::locations(bytes, &mut line, &mut legacy)?;
    } else {
        legacy.without_handler_frames();
        legacy.without_repeated_leaf();
        while bytes.line(&mut line)? {
            legacy.maps.line(&line);
        }
    }
    let mut loaded = legacy.finish(CPU.name, bytes)?;
    if !is_ended {
        loaded.notes.cut_after = loaded.notes.cut_after.or(Some(bytes.offset()));
    }
    Ok(loaded)
}

/// False where the file ends before the samples do: those before the end are whole.
fn samples(
    bytes: &mut Bytes<'_>,
    words: &Words,
    period: i64,
    legacy: &mut Legacy,
) -> Result<bool, ReadError> {
    loop {
        let at = FilePlace::Byte(bytes.offset());
        let Some(head) = words.ahead(bytes, 2)? else { return Ok(false) };
        let (count, depth) = (words.word(&head[..words.size]), words.word(&head[words.size..]));
        bytes.take(2 * words.size);
        let Some(frames) = words.ahead(bytes, depth).map_err(|error| error.at(at))? else { return Ok(false) };
        let before = legacy.addresses.len();
        let frames = frames.chunks_exact(words.size).enumerate().map(|(index, frame)| {
            let address = words.word(frame);
            // All but the leaf point behind a call.
            if index > 0 && !words.is_java { address.wrapping_sub(1) } else { address }
        });
        legacy.addresses.extend(frames);
        bytes.take(depth as usize * words.size);
        if (count, depth) == (0, 1) && legacy.addresses[before..] == [0] {
            legacy.addresses.truncate(before);
            return Ok(true);
        }
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        legacy.sample(&[count, count.saturating_mul(period)], LabelSetId(0))?;
    }
}

impl Legacy {
    /// Keeps the addresses for which `keep` says so: it gets the stack and an index in it.
    fn retain(&mut self, keep: impl Fn(&[u64], usize) -> bool) {
        let mut kept = Vec::with_capacity(self.addresses.len());
        let mut start = 0;
        for sample in &mut self.samples {
            let stack = &self.addresses[start..sample.end];
            start = sample.end;
            kept.extend((0..stack.len()).filter(|index| keep(stack, *index)).map(|index| stack[index]));
            sample.end = kept.len();
        }
        self.addresses = kept;
    }

    /// A second frame that nearly all samples share is the signal handler's. pprof takes out two at most, and lets one sample in 32 differ.
    fn without_handler_frames(&mut self) {
        for _ in 0..2 {
            let mut seconds: HashMap<u64, usize> = HashMap::new();
            let mut start = 0;
            for sample in &self.samples {
                if let Some(second) = self.addresses[start..sample.end].get(1) {
                    *seconds.entry(*second).or_default() += 1;
                }
                start = sample.end;
            }
            let most = self.samples.len() - self.samples.len() / 32;
            let Some((handler, _)) =
                seconds.into_iter().filter(|(_, count)| *count >= most).max_by_key(|(_, count)| *count)
            else {
                return;
            };
            self.retain(|stack, index| index != 1 || stack[1] != handler);
        }
    }

    /// The leaf comes from the signal's context and again from unwinding, then moved back by one.
    pub(super) fn without_repeated_leaf(&mut self) {
        self.retain(|stack, index| index != 1 || stack[0] != stack[1].wrapping_add(1));
    }
}
