//! What a call is.

use datafusion::arrow::array::{Array, AsArray, BooleanBuilder, StringViewBuilder};
use datafusion::arrow::datatypes::DataType;
use datafusion::logical_expr::{ColumnarValue, ScalarUDF, Volatility, create_udf};
use std::sync::Arc;
use whyslow_model::Syscall;
use whyslow_model::syscall::{Class, Waits};

pub(super) fn all() -> Vec<ScalarUDF> {
    let class = |args: &[ColumnarValue]| {
        let (arrays, scalar) = arrays(args)?;
        let mut out = StringViewBuilder::with_capacity(arrays[0].len());
        for name in arrays[0].as_string_view() {
            out.append_option(name.map(class_of));
        }
        super::given(Arc::new(out.finish()), scalar)
    };
    let waits = |args: &[ColumnarValue]| {
        let (arrays, scalar) = arrays(args)?;
        let mut out = BooleanBuilder::with_capacity(arrays[0].len());
        for name in arrays[0].as_string_view() {
            out.append_option(name.map(is_wait));
        }
        super::given(Arc::new(out.finish()), scalar)
    };
    let text = vec![DataType::Utf8View];
    vec![
        create_udf("class_of", text.clone(), DataType::Utf8View, Volatility::Immutable, Arc::new(class)),
        create_udf("is_wait", text, DataType::Boolean, Volatility::Immutable, Arc::new(waits)),
    ]
}

fn arrays(
    args: &[ColumnarValue],
) -> datafusion::common::Result<(Vec<datafusion::arrow::array::ArrayRef>, bool)> {
    let scalar = args.iter().all(|arg| matches!(arg, ColumnarValue::Scalar(_)));
    Ok((ColumnarValue::values_to_arrays(args)?, scalar))
}

fn class_of(name: &str) -> &'static str {
    let class = Syscall::lookup(name.as_bytes()).map_or(Class::Other, |syscall| syscall.info().class);
    match class {
        Class::File => "file",
        Class::Descriptor => "descriptor",
        Class::Network => "network",
        Class::Memory => "memory",
        Class::Process => "process",
        Class::Identity => "identity",
        Class::Signal => "signal",
        Class::Time => "time",
        Class::Wait => "wait",
        Class::Sync => "sync",
        Class::Other => "other",
    }
}

fn is_wait(name: &str) -> bool {
    Syscall::lookup(name.as_bytes()).is_some_and(|syscall| syscall.info().waits == Waits::Always)
}
