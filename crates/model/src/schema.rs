//! JSON Schemas of what has a form of its own in JSON. The others derive theirs (feature `schema`).

use crate::demand::DemandKind;
use crate::errno::Errno;
use crate::measurement::{Measurement, MeasurementChange};
use crate::metric::Unit;
use crate::time::{Nanos, Timestamp};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use std::borrow::Cow;

/// Names a schema and says how it is made; within others it stands in place of a reference.
macro_rules! inline {
    ($type:ty, $name:literal, $schema:expr) => {
        impl JsonSchema for $type {
            fn inline_schema() -> bool {
                true
            }
            fn schema_name() -> Cow<'static, str> {
                $name.into()
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                $schema
            }
        }
    };
}

inline!(
    Nanos,
    "Nanos",
    json_schema!({
        "description": "A duration, ns; null where it was not measured.", "type": ["integer", "null"], "minimum": 0,
    })
);
inline!(
    Timestamp,
    "Timestamp",
    json_schema!({
        "description": "A time, ns since the epoch, or since the midnight before a capture that has no dates; null where it is unknown.",
        "type": ["integer", "null"],
        "minimum": 0,
    })
);
inline!(
    Errno,
    "Errno",
    json_schema!({ "description": "The name of an error (ENOENT).", "type": "string", "pattern": "^E[A-Z0-9_?]+$" })
);
inline!(DemandKind, "DemandKind", {
    let words = DemandKind::ALL.map(DemandKind::word);
    json_schema!({ "type": "string", "enum": words })
});

fn units() -> Vec<&'static str> {
    Unit::ALL.iter().map(|unit| unit.name()).collect()
}

impl JsonSchema for Measurement {
    fn schema_name() -> Cow<'static, str> {
        "Measurement".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "One figure of a finding.",
            "type": "object",
            "properties": {
                "name": { "description": "What was measured, by a name that stays.", "type": "string" },
                "value": { "description": "How much, in `unit`; null where it is unknown.", "type": ["number", "null"] },
                "unit": { "description": "Of what: share is 0 to 1.", "type": "string", "enum": units() },
                "at_least": { "description": "The rule reports from this value on; null where it does not.", "type": ["number", "null"] },
                "at_most": { "description": "The rule reports up to this value; null where it does not.", "type": ["number", "null"] },
            },
            "required": ["name", "value", "unit", "at_least", "at_most"],
        })
    }
}

impl JsonSchema for MeasurementChange {
    fn schema_name() -> Cow<'static, str> {
        "MeasurementChange".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "One figure of a finding, in both runs.",
            "type": "object",
            "properties": {
                "name": { "description": "What was measured, by a name that stays.", "type": "string" },
                "before": { "description": "Before, in `unit`; null where it is unknown.", "type": ["number", "null"] },
                "after": { "description": "After, in `unit`; null where it is unknown.", "type": ["number", "null"] },
                "unit": { "description": "Of what: share is 0 to 1.", "type": "string", "enum": units() },
                "at_least": { "description": "The rule reports from this value on; null where it does not.", "type": ["number", "null"] },
                "at_most": { "description": "The rule reports up to this value; null where it does not.", "type": ["number", "null"] },
            },
            "required": ["name", "before", "after", "unit", "at_least", "at_most"],
        })
    }
}
