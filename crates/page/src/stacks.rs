//! Stacks of samples as one tree: what ran on CPUs and what waited, side by side on each frame.

use crate::data::PageStacks;
use crate::texts::Texts;
use hashbrown::HashMap;
use whyslow_model::Profile;
use whyslow_model::profile::{LocationId, SourceLine};
use whyslow_profile::Sampled;

/// Languages, in the order of the page's list.
const LANGUAGES: [(&str, u8); 8] = [
    ("[kernel]", 0),
    ("[go]", 2),
    ("[java]", 3),
    ("[python]", 4),
    ("[node]", 5),
    ("[ruby]", 6),
    ("[php]", 7),
    ("[perl]", 8),
];
/// Code of the machine.
const NATIVE: u8 = 1;
/// What is no code: what stands for waits without a stack.
const OTHER: u8 = 9;
/// Stands for what is below a frame and was left out.
const REST: &str = "[left out]";
/// Frames of a stack: deeper ones are joined to the last.
const DEEPEST: usize = 512;

/// A frame: its function, its place, its language.
type Frame = (u32, Option<u32>, u8);

/// A tree, while it grows.
#[derive(Default)]
struct Tree {
    parent: Vec<i32>,
    frames: Vec<Frame>,
    samples: Vec<u64>,
    off_cpu: Vec<u64>,
    below: HashMap<(i32, Frame), u32, foldhash::fast::RandomState>,
}

impl Tree {
    /// Nodes while it grows; past it a frame is left out, and its weight is that of the frame above.
    const MAX: usize = 1 << 18;

    fn node(&mut self, parent: i32, frame: Frame) -> i32 {
        if let Some(known) = self.below.get(&(parent, frame)) {
            return *known as i32;
        }
        if self.frames.len() >= Self::MAX {
            return parent;
        }
        let id = self.frames.len();
        self.parent.push(parent);
        self.frames.push(frame);
        self.samples.push(0);
        self.off_cpu.push(0);
        self.below.insert((parent, frame), id as u32);
        id as i32
    }
}

/// The tree of both profiles; `None` where neither has a sample. Tells how many frames were left out.
pub(crate) fn stacks(
    on_cpu: &Option<Profile>,
    off_cpu: &Option<Profile>,
    most: usize,
    texts: &mut Texts,
) -> Option<(PageStacks, usize)> {
    let mut tree = Tree::default();
    let mut ns_per_sample = None;
    for (profile, is_cpu) in [(on_cpu, true), (off_cpu, false)] {
        let Some(profile) = profile else { continue };
        if is_cpu {
            ns_per_sample = profile.period.and_then(|ns| u64::try_from(ns).ok());
        }
        let mut frames: HashMap<LocationId, Vec<Frame>> = HashMap::new();
        for sample in profile.samples() {
            let mut at = -1;
            for location in sample.stack.iter().rev().take(DEEPEST) {
                let of = frames.entry(*location).or_insert_with(|| frames_of(profile, *location, texts));
                for frame in of.iter() {
                    at = tree.node(at, *frame);
                }
            }
            let Ok(node) = usize::try_from(at) else { continue };
            let value = |index: usize| sample.values.get(index).map_or(0, |value| (*value).max(0) as u64);
            if is_cpu {
                tree.samples[node] = tree.samples[node].saturating_add(value(0));
            } else {
                tree.off_cpu[node] = tree.off_cpu[node].saturating_add(value(1));
            }
        }
    }
    if tree.frames.is_empty() {
        return None;
    }
    let rest = (texts.id(REST), None, OTHER);
    Some(cut(tree, most, rest, ns_per_sample))
}

/// The profile of samples; `None` where there are none, or more than a profile can number.
pub(crate) fn profile_of(sampled: Sampled) -> Option<Profile> {
    if sampled.samples() == 0 { None } else { sampled.finish().ok() }
}

/// The frames of a location, the outermost first.
fn frames_of(profile: &Profile, location: LocationId, texts: &mut Texts) -> Vec<Frame> {
    let of = profile.locations.get(location.0 as usize);
    let mapping = of.and_then(|of| profile.mappings.get(of.mapping?.0 as usize));
    let module = mapping.map_or("", |mapping| profile.str(mapping.file));
    let listed = LANGUAGES.iter().find(|(name, _)| *name == module);
    let language = listed.map_or(if module.is_empty() { OTHER } else { NATIVE }, |(_, language)| *language);
    let lines = profile.lines_of(location);
    if lines.is_empty() {
        let name = module.rsplit('/').next().unwrap_or(module);
        let name = if name.is_empty() { "[unknown]".to_string() } else { format!("{name} (no symbol)") };
        return vec![(texts.id(&name), None, language)];
    }
    lines.iter().rev().map(|line| frame_of(profile, line, language, texts)).collect()
}

fn frame_of(profile: &Profile, line: &SourceLine, language: u8, texts: &mut Texts) -> Frame {
    let function = line.function.and_then(|id| profile.function(id));
    let name = function.map_or("[unknown]", |function| profile.str(function.name));
    let file = function.map_or("", |function| profile.str(function.file));
    let place = match (file, line.line) {
        ("", _) => None,
        (file, 0) => Some(texts.id(file)),
        (file, number) => Some(texts.id(&format!("{file}:{number}"))),
    };
    (texts.id(name), place, language)
}

/// The heaviest nodes. What is left out below a node stands in one child of it: the sums stay.
fn cut(tree: Tree, most: usize, rest: Frame, ns_per_sample: Option<u64>) -> (PageStacks, usize) {
    let Tree { parent, frames, samples, off_cpu, .. } = tree;
    let count = frames.len();
    // Children come behind their parents.
    let (mut all_samples, mut all_off_cpu) = (samples.clone(), off_cpu.clone());
    for node in (0..count).rev() {
        if let Ok(above) = usize::try_from(parent[node]) {
            all_samples[above] = all_samples[above].saturating_add(all_samples[node]);
            all_off_cpu[above] = all_off_cpu[above].saturating_add(all_off_cpu[node]);
        }
    }
    let total = |own: &[u64]| own.iter().copied().fold(0u64, u64::saturating_add).max(1) as f64;
    let (samples_in_all, off_cpu_in_all) = (total(&samples), total(&off_cpu));
    let weight = |node: usize| {
        (all_samples[node] as f64 / samples_in_all).max(all_off_cpu[node] as f64 / off_cpu_in_all)
    };
    let mut stays = vec![true; count];
    if count > most {
        let mut order: Vec<usize> = (0..count).collect();
        // A node weighs no less than its children, and comes before them.
        order.sort_by(|a, b| weight(*b).total_cmp(&weight(*a)).then(a.cmp(b)));
        order[most..].iter().for_each(|node| stays[*node] = false);
        for node in 0..count {
            let above = usize::try_from(parent[node]).ok();
            stays[node] &= above.is_none_or(|above| stays[above]);
        }
    }
    let mut out = PageStacks { ns_per_sample, ..PageStacks::default() };
    let mut number = vec![-1i32; count];
    let mut rests: HashMap<i32, usize> = HashMap::new();
    let mut left_out = 0;
    for node in 0..count {
        let above = usize::try_from(parent[node]).map_or(-1, |above| number[above]);
        if stays[node] {
            number[node] = out.parent.len() as i32;
            push(&mut out, above, frames[node], samples[node], off_cpu[node]);
            continue;
        }
        left_out += 1;
        let is_top = usize::try_from(parent[node]).map_or(true, |above| stays[above]);
        if is_top {
            let next = out.parent.len();
            let at = *rests.entry(above).or_insert(next);
            if at == next {
                push(&mut out, above, rest, 0, 0);
            }
            out.cpu_samples[at] = out.cpu_samples[at].saturating_add(all_samples[node]);
            out.off_cpu_ns[at] = out.off_cpu_ns[at].saturating_add(all_off_cpu[node]);
        }
    }
    (out, left_out)
}

fn push(out: &mut PageStacks, parent: i32, frame: Frame, samples: u64, off_cpu: u64) {
    out.parent.push(parent);
    out.frame.push(frame.0);
    out.place.push(frame.1);
    out.language.push(frame.2);
    out.cpu_samples.push(samples);
    out.off_cpu_ns.push(off_cpu);
}

#[cfg(test)]
mod tests {
    use super::*;
    use whyslow_model::{
        Event, Nanos, SampleKind, SampledStack, Sink, Stack, StackFrame, StackId, Timestamp,
    };

    fn sampled(kind: SampleKind) -> Option<Profile> {
        let mut sampled = Sampled::new(kind);
        for number in 0..50u32 {
            let frame = |name: &str, module: &str, address| StackFrame {
                function: Some(name.to_string()),
                module: Some(module.to_string()),
                place: None,
                address,
            };
            let frames = vec![
                frame(&format!("leaf{number}"), "/bin/x", u64::from(number) + 10),
                frame("main", "[python]", 1),
            ];
            sampled.push(Event::Stack(Stack { id: StackId(number), frames, cut: false }));
            for at in 0..=number {
                sampled.push(Event::Sample(SampledStack {
                    kind,
                    ts: Timestamp::new(u64::from(at)),
                    cpu: 0,
                    pid: 1,
                    tid: 1,
                    weight: Nanos::new(1_000),
                    user: Some(StackId(number)),
                    kernel: None,
                }));
            }
        }
        profile_of(sampled)
    }

    #[test]
    fn what_is_left_out_keeps_its_weight() {
        let (on_cpu, off_cpu) = (sampled(SampleKind::OnCpu), sampled(SampleKind::OffCpu));
        for most in [1, 5, 20, 1_000] {
            let mut texts = Texts::new(false);
            let (stacks, left_out) = stacks(&on_cpu, &off_cpu, most, &mut texts).unwrap();
            assert_eq!(stacks.cpu_samples.iter().sum::<u64>(), 50 * 51 / 2);
            assert_eq!(stacks.off_cpu_ns.iter().sum::<u64>(), 1_000 * 50 * 51 / 2);
            assert_eq!(left_out, 51usize.saturating_sub(most));
            assert!(stacks.parent.iter().enumerate().all(|(at, parent)| *parent < at as i32));
            assert_eq!((stacks.language[0], stacks.ns_per_sample), (4, Some(1_000)));
        }
    }
}
