//! Functions of ours, beside those of SQL; [`FUNCTIONS`] lists them.

mod names;
mod quantiles;
mod stacks;
mod times;
mod words;

pub(crate) use names::Names;

use crate::infos::FunctionInfo;
use datafusion::arrow::array::ArrayRef;
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::ColumnarValue;
use datafusion::prelude::SessionContext;
use std::sync::Arc;

/// All of them.
pub(crate) static FUNCTIONS: &[FunctionInfo] = &[
    info("us", "us(ns)", "nanoseconds as microseconds"),
    info("ms", "ms(ns)", "nanoseconds as milliseconds"),
    info("seconds", "seconds(ns)", "nanoseconds as seconds"),
    info("human", "human(ns)", "a duration as people read it: 1.20 ms"),
    info("at", "at(ts)", "a moment as a timestamp: 2026-05-01T10:00:00.000123456"),
    info(
        "class_of",
        "class_of(syscall)",
        "what a call deals with: file, descriptor, network, memory, process, identity, signal, time, wait, sync, other",
    ),
    info(
        "is_wait",
        "is_wait(syscall)",
        "true for a call whose purpose is to wait: poll, nanosleep, wait4, accept",
    ),
    info("name_of", "name_of(recording, pid, tid)", "the name of a thread, else of its process"),
    info("frames_match", "frames_match(stack, pattern)", "true where a frame matches the regular expression"),
    info("frame", "frame(stack, n)", "the n-th frame: 0 is the innermost, -1 the outermost"),
    info("depth", "depth(stack)", "how many frames a stack has"),
    info(
        "p50",
        "p50(x)",
        "the median of whole numbers; p50, p90, p95, p99, p999: exact up to 512 values, else within 0.8 %",
    ),
    info("p90", "p90(x)", "nine of ten are no larger"),
    info("p95", "p95(x)", "95 of 100 are no larger"),
    info("p99", "p99(x)", "99 of 100 are no larger"),
    info("p999", "p999(x)", "999 of 1,000 are no larger"),
];

const fn info(name: &'static str, call: &'static str, about: &'static str) -> FunctionInfo {
    FunctionInfo { name, call, about }
}

/// Functions of SQL that make much of little: a question of a stranger must not fill the memory.
const LEFT_OUT: &[&str] = &[
    "repeat",
    "lpad",
    "rpad",
    "array_repeat",
    "list_repeat",
    "array_resize",
    "list_resize",
    "range",
    "generate_series",
    "gen_series",
];

/// Registers ours, and takes off what is not for strangers.
pub(crate) fn register(context: &SessionContext, names: Arc<Names>) {
    harmless(context);
    context.register_udf(names::function(names));
}

/// Registers those of ours that need no recording, and takes off what is not for strangers.
pub fn harmless(context: &SessionContext) {
    for name in LEFT_OUT {
        context.deregister_udf(name);
        context.deregister_udtf(name);
    }
    times::all().into_iter().for_each(|function| context.register_udf(function));
    words::all().into_iter().for_each(|function| context.register_udf(function));
    stacks::all().into_iter().for_each(|function| context.register_udf(function));
    quantiles::all().into_iter().for_each(|function| context.register_udaf(function));
}

/// What a function gives: one value where it was given nothing else.
fn given(array: ArrayRef, scalar: bool) -> Result<ColumnarValue> {
    match scalar {
        true => Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&array, 0)?)),
        false => Ok(ColumnarValue::Array(array)),
    }
}
