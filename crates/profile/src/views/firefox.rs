//! `firefox`: the processed format of <https://profiler.firefox.com>. A profile has no order in time: its samples stand one
//! behind the other. Its weights are numbers of any size; the crate writes whole ones, so that ours are put in their place.

use super::calls::Rows;
use super::report::PreparedProfile;
use super::{Needs, ProfileView, ViewError};
use crate::units;
use fxprof_processed_profile::{
    CategoryHandle, CpuDelta, Frame, FrameFlags, FrameInfo, Profile, SamplingInterval, Timestamp, WeightType,
};
use std::io::Write;
use std::time::{Duration, SystemTime};

/// The view.
pub(super) static VIEW: ProfileView = ProfileView {
    name: "firefox",
    about: "JSON for profiler.firefox.com",
    needs: Needs { everything: true, escapes: true, ..Needs::NOTHING },
    write,
};

/// Where the weights of the only thread stand in the text. In a name the quotes would have backslashes before them.
const WEIGHTS: &str = "\"weight\":[";

fn write(report: &PreparedProfile<'_>, out: &mut dyn Write) -> Result<(), ViewError> {
    let rows = Rows::new(report);
    let begun = report.profile.time_ns.and_then(|time| u64::try_from(time).ok()).unwrap_or(0);
    let begun = SystemTime::UNIX_EPOCH + Duration::from_nanos(begun);
    let start = Timestamp::from_nanos_since_reference(0);
    let mut profile = Profile::new("whyslow", begun.into(), SamplingInterval::from_millis(1));
    let process = profile.add_process(&report.sample_type, 0, start);
    let thread = profile.add_thread(process, 0, start, true);
    profile.set_thread_name(thread, &report.sample_type);
    // The format knows milliseconds, bytes and counts.
    let (per_weight, weight_type) = match units::scale(1, &report.sample_unit, "ms") {
        (ms, unit) if unit == "ms" => (1.0 / ms, WeightType::TracingMs),
        _ if report.sample_unit == "bytes" => (1.0, WeightType::Bytes),
        _ => (1.0, WeightType::Samples),
    };
    profile.set_thread_samples_weight_type(thread, weight_type);
    let mut handles = vec![None; rows.graph.nodes.len()];
    let (mut at, mut weights) = (0_u64, Vec::new());
    for row in rows.rows.iter().filter(|row| row.more > row.less) {
        let mut stack = None;
        for node in rows.frames(row.stack) {
            let frame = *handles[node as usize].get_or_insert_with(|| {
                let name = profile.intern_string(&rows.graph.node(node).info.printable());
                let frame = Frame::Label(name);
                let category_pair = CategoryHandle::OTHER.into();
                profile.intern_frame(thread, FrameInfo { frame, category_pair, flags: FrameFlags::empty() })
            });
            stack = Some(profile.intern_stack(thread, stack, frame));
        }
        let time = Timestamp::from_nanos_since_reference(at);
        profile.add_sample(thread, time, stack, CpuDelta::ZERO, 1);
        weights.push((row.more - row.less) as f64 / per_weight);
        at += 1_000_000;
    }
    let text = serde_json::to_string(&profile).map_err(std::io::Error::from)?;
    let places = text.split_once(WEIGHTS).and_then(|(head, rest)| Some((head, rest.split_once(']')?.1)));
    let Some((head, tail)) = places.filter(|_| !weights.is_empty()) else {
        return Ok(writeln!(out, "{text}")?);
    };
    let weights = serde_json::to_string(&weights).map_err(std::io::Error::from)?;
    write!(out, "{head}\"weight\":{weights}{tail}")?;
    writeln!(out)?;
    Ok(())
}
