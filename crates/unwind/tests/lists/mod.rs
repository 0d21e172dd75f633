//! Frames out of a copy of their list, made as the recorder's kernel side makes it.

use whyslow_unwind::runtimes::{FrameList, LanguageRuntime, ListedFrames};
use whyslow_unwind::{Frames, LanguageFrame, Process};

/// The frames of a thread, at most [`FrameList::MOST`], and whether the list was copied to its end; `None` where it has no list.
pub(crate) fn listed(
    runtime: &mut dyn LanguageRuntime,
    process: &Process,
    tid: u32,
) -> Option<(Vec<LanguageFrame>, bool)> {
    let list = runtime.frame_list(process, tid)?;
    let pointer = |at: u64| process.u64(at).expect("a pointer");
    let mut at = pointer(list.head);
    if let Some(through) = list.through {
        at = pointer(at + u64::from(through));
    }
    let mut copied = Vec::new();
    while at != 0 && copied.len() < FrameList::MOST * FrameList::BYTES {
        let mut bytes = [0; FrameList::BYTES];
        process.read(at, &mut bytes[..list.bytes as usize]).expect("a frame");
        copied.extend_from_slice(&bytes);
        at = pointer(at + u64::from(list.next));
    }
    let (mut frames, mut stack) = (Frames::default(), Vec::new());
    let of = ListedFrames { head: list.head, frames: &copied, whole: at == 0 };
    assert_eq!(runtime.listed(process, of, &mut frames, &mut stack), Ok(()));
    Some((stack.iter().filter_map(|id| frames.get(*id).cloned()).collect(), at == 0))
}
