//! Frames out of a copy of their list, made as the recorder's kernel side makes it.

use whyslow_unwind::runtimes::{Callers, FrameList, LanguageRuntime, ListedFrames};
use whyslow_unwind::{Frames, LanguageFrame, Process};

/// The frames of a thread, at most [`FrameList::MOST`], and whether the list was copied to its end; `None` where it has no list.
pub(crate) fn listed(
    runtime: &mut dyn LanguageRuntime,
    process: &Process,
    tid: u32,
) -> Option<(Vec<LanguageFrame>, bool)> {
    let list = runtime.frame_list(process, tid)?;
    let pointer = |at: u64| process.u64(at).expect("a pointer");
    let (mut first, mut holder, mut most) = (pointer(list.head), 0, usize::MAX);
    if let Some(through) = list.through {
        holder = first;
        first = pointer(holder + u64::from(through));
    }
    if let (Some(index), Callers::Step(step)) = (list.index, list.callers) {
        let last = process.u32(holder + u64::from(index)).expect("an index") as i32;
        first = first.wrapping_sub_signed(i64::from(last) * i64::from(step));
        most = (last + 1) as usize;
    }
    let beside = list.beside.map_or(0, |beside| pointer(list.head.wrapping_add_signed(i64::from(beside))));
    let (mut copied, mut count, mut at) = (Vec::new(), 0, first);
    while at != 0 && count < most.min(FrameList::MOST) {
        let mut bytes = [0; FrameList::BYTES];
        if process.read(at, &mut bytes[..list.bytes as usize]).is_err() {
            break;
        }
        copied.extend_from_slice(&bytes);
        count += 1;
        at = match list.callers {
            Callers::Pointer(next) => pointer(at + u64::from(next)),
            Callers::Step(step) => at.wrapping_add_signed(step.into()),
        };
    }
    let whole = at == 0 || count == most;
    let (mut frames, mut stack) = (Frames::default(), Vec::new());
    let of = ListedFrames { head: list.head, holder, first, beside, frames: &copied, whole };
    let whole = runtime.listed(process, of, &mut frames, &mut stack).is_ok();
    Some((stack.iter().filter_map(|id| frames.get(*id).cloned()).collect(), whole))
}
