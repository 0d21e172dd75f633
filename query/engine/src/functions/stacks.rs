//! Searching stacks, which are texts: frames from the outermost to the innermost, separated by semicolons.

use datafusion::arrow::array::{Array, AsArray, BooleanBuilder, Int64Builder, StringViewBuilder};
use datafusion::arrow::datatypes::{DataType, Int64Type};
use datafusion::common::{DataFusionError, Result};
use datafusion::logical_expr::{ColumnarValue, ScalarUDF, Volatility, create_udf};
use regex::{Regex, RegexBuilder};
use std::sync::Arc;

/// Between two frames.
const APART: char = ';';
/// Bytes of a compiled pattern at most.
const LARGEST_PATTERN: usize = 1 << 20;

pub(super) fn all() -> Vec<ScalarUDF> {
    vec![
        create_udf(
            "frames_match",
            vec![DataType::Utf8View, DataType::Utf8View],
            DataType::Boolean,
            Volatility::Immutable,
            Arc::new(frames_match),
        ),
        create_udf(
            "frame",
            vec![DataType::Utf8View, DataType::Int64],
            DataType::Utf8View,
            Volatility::Immutable,
            Arc::new(frame),
        ),
        create_udf(
            "depth",
            vec![DataType::Utf8View],
            DataType::Int64,
            Volatility::Immutable,
            Arc::new(depth),
        ),
    ]
}

fn frames_match(args: &[ColumnarValue]) -> Result<ColumnarValue> {
    let scalar = args.iter().all(|arg| matches!(arg, ColumnarValue::Scalar(_)));
    let arrays = ColumnarValue::values_to_arrays(args)?;
    let (stacks, patterns) = (arrays[0].as_string_view(), arrays[1].as_string_view());
    let mut out = BooleanBuilder::with_capacity(stacks.len());
    let mut compiled: Option<(&str, Regex)> = None;
    for (stack, pattern) in stacks.iter().zip(patterns) {
        let (Some(stack), Some(pattern)) = (stack, pattern) else {
            out.append_null();
            continue;
        };
        if compiled.as_ref().is_none_or(|(known, _)| *known != pattern) {
            compiled = Some((pattern, compile(pattern)?));
        }
        let matches = |regex: &Regex| stack.split(APART).any(|frame| regex.is_match(frame));
        out.append_value(compiled.as_ref().is_some_and(|(_, regex)| matches(regex)));
    }
    super::given(Arc::new(out.finish()), scalar)
}

fn compile(pattern: &str) -> Result<Regex> {
    RegexBuilder::new(pattern).size_limit(LARGEST_PATTERN).build().map_err(|error| {
        DataFusionError::Plan(format!("frames_match(stack, pattern) takes a regular expression: {error}"))
    })
}

fn frame(args: &[ColumnarValue]) -> Result<ColumnarValue> {
    let scalar = args.iter().all(|arg| matches!(arg, ColumnarValue::Scalar(_)));
    let arrays = ColumnarValue::values_to_arrays(args)?;
    let (stacks, numbers) = (arrays[0].as_string_view(), arrays[1].as_primitive::<Int64Type>());
    let mut out = StringViewBuilder::with_capacity(stacks.len());
    for (stack, number) in stacks.iter().zip(numbers) {
        out.append_option(stack.zip(number).and_then(|(stack, number)| nth(stack, number)));
    }
    super::given(Arc::new(out.finish()), scalar)
}

/// Frame `number` from the innermost; below zero from the outermost.
fn nth(stack: &str, number: i64) -> Option<&str> {
    let place = usize::try_from(if number < 0 { -(number + 1) } else { number }).ok()?;
    let frame = if number < 0 { stack.split(APART).nth(place) } else { stack.rsplit(APART).nth(place) };
    frame.filter(|frame| !frame.is_empty())
}

fn depth(args: &[ColumnarValue]) -> Result<ColumnarValue> {
    let scalar = args.iter().all(|arg| matches!(arg, ColumnarValue::Scalar(_)));
    let arrays = ColumnarValue::values_to_arrays(args)?;
    let stacks = arrays[0].as_string_view();
    let mut out = Int64Builder::with_capacity(stacks.len());
    for stack in stacks {
        out.append_option(stack.map(|stack| match stack.is_empty() {
            true => 0,
            false => stack.matches(APART).count() as i64 + 1,
        }));
    }
    super::given(Arc::new(out.finish()), scalar)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_counted_from_both_ends() {
        let stack = "main;serve;write";
        assert_eq!([0, 1, 2, 3].map(|n| nth(stack, n)), [Some("write"), Some("serve"), Some("main"), None]);
        assert_eq!([-1, -3, -4].map(|n| nth(stack, n)), [Some("main"), Some("write"), None]);
        assert_eq!((nth(stack, i64::MIN), nth("", 0)), (None, None));
    }

    #[test]
    fn a_pattern_that_would_take_much_is_refused() {
        assert!(compile("(?:a{1000}){1000}").is_err());
        assert!(compile("^serve$").is_ok());
    }
}
