//! Times in the units that people ask for.

use datafusion::arrow::array::{ArrayRef, AsArray, Float64Array, Int64Array, StringViewBuilder};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Float64Type, Int64Type, TimeUnit};
use datafusion::common::Result;
use datafusion::logical_expr::{ColumnarValue, ScalarUDF, Volatility, create_udf};
use std::sync::Arc;
use whyslow_model::Nanos;

pub(super) fn all() -> Vec<ScalarUDF> {
    vec![
        scaled("us", 1e3),
        scaled("ms", 1e6),
        scaled("seconds", 1e9),
        of_whole("human", DataType::Utf8View, |numbers| {
            let mut out = StringViewBuilder::with_capacity(numbers.len());
            for number in numbers {
                match number {
                    Some(ns) if ns < 0 => out.append_value(format!("-{}", Nanos::new(ns.unsigned_abs()))),
                    Some(ns) => out.append_value(Nanos::new(ns.unsigned_abs()).to_string()),
                    None => out.append_null(),
                }
            }
            Ok(Arc::new(out.finish()))
        }),
        of_whole("at", DataType::Timestamp(TimeUnit::Nanosecond, None), |numbers| {
            Ok(cast(numbers, &DataType::Timestamp(TimeUnit::Nanosecond, None))?)
        }),
    ]
}

/// A function of one whole number.
fn of_whole(
    name: &str,
    gives: DataType,
    work: impl Fn(&Int64Array) -> Result<ArrayRef> + Send + Sync + 'static,
) -> ScalarUDF {
    let work = move |args: &[ColumnarValue]| {
        let arrays = ColumnarValue::values_to_arrays(args)?;
        let scalar = args.iter().all(|arg| matches!(arg, ColumnarValue::Scalar(_)));
        super::given(work(arrays[0].as_primitive::<Int64Type>())?, scalar)
    };
    create_udf(name, vec![DataType::Int64], gives, Volatility::Immutable, Arc::new(work))
}

/// Nanoseconds in another unit.
fn scaled(name: &str, by: f64) -> ScalarUDF {
    let work = move |args: &[ColumnarValue]| {
        let arrays = ColumnarValue::values_to_arrays(args)?;
        let scalar = args.iter().all(|arg| matches!(arg, ColumnarValue::Scalar(_)));
        let numbers = arrays[0].as_primitive::<Float64Type>();
        let scaled: Float64Array = numbers.unary(|ns| ns / by);
        super::given(Arc::new(scaled), scalar)
    };
    create_udf(name, vec![DataType::Float64], DataType::Float64, Volatility::Immutable, Arc::new(work))
}
