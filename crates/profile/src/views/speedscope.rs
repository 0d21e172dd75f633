//! `speedscope`: the file format of <https://www.speedscope.app> (its `file-format-schema.json`).

use super::calls::Rows;
use super::report::PreparedProfile;
use super::{Needs, ProfileView, ViewError};
use serde::Serialize;
use std::io::Write;

/// The view.
pub(super) static VIEW: ProfileView = ProfileView {
    name: "speedscope",
    about: "JSON for speedscope.app",
    needs: Needs { everything: true, escapes: true, ..Needs::NOTHING },
    write,
};

#[derive(Serialize)]
struct File {
    #[serde(rename = "$schema")]
    schema: &'static str,
    exporter: &'static str,
    name: String,
    shared: Shared,
    profiles: [Sampled; 1],
}

#[derive(Serialize)]
struct Shared {
    frames: Vec<Frame>,
}

#[derive(Serialize)]
struct Frame {
    name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    file: String,
    #[serde(skip_serializing_if = "is_unknown")]
    line: i64,
}

fn is_unknown(line: &i64) -> bool {
    *line == 0
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Sampled {
    r#type: &'static str,
    name: String,
    unit: &'static str,
    start_value: i64,
    end_value: i64,
    samples: Vec<Vec<u32>>,
    weights: Vec<i64>,
}

fn write(report: &PreparedProfile<'_>, out: &mut dyn Write) -> Result<(), ViewError> {
    let rows = Rows::new(report);
    let info = rows.graph.nodes.iter().map(|node| &node.info);
    let frames = info.map(|info| Frame {
        name: if info.name.is_empty() { info.printable() } else { info.name.clone() },
        file: info.file.clone(),
        line: info.line,
    });
    // A weight below 0 means nothing there.
    let kept: Vec<_> = rows.rows.iter().filter(|row| row.more > row.less).collect();
    let weights: Vec<i64> = kept.iter().map(|row| row.more - row.less).collect();
    let file = File {
        schema: "https://www.speedscope.app/file-format-schema.json",
        exporter: concat!("whyslow@", env!("CARGO_PKG_VERSION")),
        name: report.sample_type.clone(),
        shared: Shared { frames: frames.collect() },
        profiles: [Sampled {
            r#type: "sampled",
            name: report.sample_type.clone(),
            unit: match report.sample_unit.as_str() {
                "nanoseconds" => "nanoseconds",
                "microseconds" => "microseconds",
                "milliseconds" => "milliseconds",
                "seconds" => "seconds",
                "bytes" => "bytes",
                _ => "none",
            },
            start_value: 0,
            end_value: weights.iter().fold(0, |sum: i64, weight| sum.saturating_add(*weight)),
            samples: kept.iter().map(|row| rows.frames(row.stack).collect()).collect(),
            weights,
        }],
    };
    serde_json::to_writer(&mut *out, &file).map_err(std::io::Error::from)?;
    writeln!(out)?;
    Ok(())
}
