//! Old parts by new code, newer parts by this code.

use crate::round_trip::{observed, read, written};
use arrow_array::{ArrayRef, RecordBatch, StringArray, UInt32Array};
use arrow_schema::{DataType, Field, Schema};
use bytes::Bytes;
use parquet::arrow::ArrowWriter;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use std::sync::Arc;
use whyslow_parts::{AccountRow, CallRow, MinuteRows, PartError, PartReader, PartRow};

/// A part of `accounts` without some columns, with others, and of the version that is said.
fn other(without: &[&str], with: &[(&str, ArrayRef)], table: &str, version: Option<&str>) -> Bytes {
    let mut rows = MinuteRows::new();
    rows.push(
        &observed("h", 1),
        &AccountRow { version: Some("v1".to_string()), ns: 7, ..AccountRow::default() },
    );
    let batch = rows.finish().unwrap();
    let kept =
        (0..batch.num_columns()).filter(|at| !without.contains(&batch.schema().field(*at).name().as_str()));
    let (mut fields, mut columns) = (Vec::new(), Vec::new());
    for at in kept {
        fields.push(batch.schema().field(at).clone());
        columns.push(batch.column(at).clone());
    }
    for (name, column) in with {
        fields.push(Field::new(*name, column.data_type().clone(), true));
        columns.push(column.clone());
    }
    let schema = Arc::new(Schema::new(fields));
    let pair = |key: &str, value: &str| KeyValue::new(key.to_string(), value.to_string());
    let mut pairs = vec![pair("whyslow.table", table)];
    pairs.extend(version.map(|version| pair("whyslow.version", version)));
    let properties = WriterProperties::builder().set_key_value_metadata(Some(pairs)).build();
    let mut writer = ArrowWriter::try_new(Vec::new(), schema.clone(), Some(properties)).unwrap();
    writer.write(&RecordBatch::try_new(schema, columns).unwrap()).unwrap();
    writer.into_inner().unwrap().into()
}

#[test]
fn columns_that_an_old_part_has_not_are_unknown() {
    let bytes = other(&["version", "line"], &[], "accounts", Some("1"));
    assert_eq!(PartReader::open(AccountRow::table(), bytes.clone()).unwrap().missing(), ["version", "line"]);
    let rows = read::<AccountRow>(bytes).unwrap();
    assert_eq!((rows[0].1.version.as_deref(), rows[0].1.line.as_deref(), rows[0].1.ns), (None, None, 7));
}

#[test]
fn columns_of_a_newer_minor_version_are_passed_over() {
    let newer: ArrayRef = Arc::new(UInt32Array::from(vec![5]));
    let bytes = other(&[], &[("cores", newer)], "accounts", Some("1.4"));
    let reader = PartReader::open(AccountRow::table(), bytes.clone()).unwrap();
    assert_eq!((reader.strange(), reader.about().version.minor), (&["cores".to_string()][..], 4));
    assert_eq!(read::<AccountRow>(bytes).unwrap()[0].1.ns, 7);
}

#[test]
fn a_newer_major_version_is_refused_with_the_remedy() {
    let error = read::<AccountRow>(other(&[], &[], "accounts", Some("2.0"))).unwrap_err();
    assert_eq!(
        error.to_string(),
        "its format is version 2.0, and this whyslow reads version 1.0: use a newer whyslow"
    );
}

#[test]
fn what_is_of_another_table_or_of_nobody_is_refused() {
    let text = |bytes| read::<AccountRow>(bytes).unwrap_err().to_string();
    assert!(text(other(&[], &[], "calls", Some("1"))).ends_with("it says that it is one of `calls`"));
    assert!(text(other(&[], &[], "accounts", None)).ends_with("it states `` as the version of its format"));
    assert!(
        text(other(&["ns"], &[], "accounts", Some("1"))).ends_with("it has no column `ns` of type uint64")
    );
    let wrong: ArrayRef = Arc::new(StringArray::from(vec!["7"]));
    assert_eq!(*wrong.data_type(), DataType::Utf8);
    assert!(
        text(other(&["ns"], &[("ns", wrong)], "accounts", Some("1")))
            .ends_with("it has no column `ns` of type uint64")
    );
    assert!(matches!(read::<CallRow>(written::<AccountRow>(&[])), Err(PartError::Foreign { .. })));
    assert!(matches!(read::<CallRow>(Bytes::from_static(b"PAR1")), Err(PartError::Damaged(_))));
}
