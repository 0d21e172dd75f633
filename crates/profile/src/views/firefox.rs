//! `firefox`: the processed format of <https://profiler.firefox.com>. A profile has no order in time: its samples stand one
//! behind the other.

use super::calls::Rows;
use super::report::Report;
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
    needs: Needs { everything: true, ..Needs::NOTHING },
    write,
};

/// A weight has 32 bits: larger ones become several samples, at most so many.
const MOST_PARTS: f64 = 4096.0;

fn write(report: &Report<'_>, out: &mut dyn Write) -> Result<(), ViewError> {
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
    let (mut at, mut rest) = (0_u64, 0.0);
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
        // Weights are whole: what is cut off goes to the next, so that the sum stays.
        let mut weight = (row.more - row.less) as f64 / per_weight + rest;
        rest = weight.fract();
        weight = weight.trunc();
        if weight > f64::from(i32::MAX) * MOST_PARTS {
            return Err(ViewError::TooLarge("Firefox's format"));
        }
        while weight >= 1.0 {
            let part = weight.min(f64::from(i32::MAX));
            let time = Timestamp::from_nanos_since_reference(at);
            profile.add_sample(thread, time, stack, CpuDelta::ZERO, part as i32);
            at += 1_000_000;
            weight -= part;
        }
    }
    serde_json::to_writer(&mut *out, &profile).map_err(std::io::Error::from)?;
    writeln!(out)?;
    Ok(())
}
