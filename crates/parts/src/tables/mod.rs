//! The tables: a file each, and a line in [`PART_TABLES`].

use crate::column::{PartColumn, PartKind};
use crate::table::PartTable;

pub(crate) const HOST: PartColumn = always("host", PartKind::Word, "", "The host.");
pub(crate) const START: PartColumn = always("start", PartKind::Time, "", "The begin of the minute.");
pub(crate) const SECONDS: PartColumn =
    always("seconds", PartKind::F64, "s", "How much of the minute was observed.");

const fn always(name: &'static str, kind: PartKind, unit: &'static str, about: &'static str) -> PartColumn {
    PartColumn { name, kind, unit, unknown: false, since: 0, about }
}

/// A table and the struct of its rows. A field's type says whether it may be unknown; its kind, how it is stored.
macro_rules! part_table {
    (
        $name:literal: $about:literal, $row:ident, sorted by $sorted:expr, over hosts: $over_hosts:literal;
        $($field:ident: $type:ty, $kind:ident $($unit:literal)? $(since $since:literal)?, $doc:literal;)+
    ) => {
        #[doc = $about]
        #[derive(Clone, PartialEq, Debug, Default)]
        pub struct $row {
            $(#[doc = $doc] pub $field: $type,)+
        }

        pub(crate) static TABLE: crate::table::PartTable = crate::table::PartTable {
            name: $name,
            about: $about,
            columns: &[
                crate::tables::HOST,
                crate::tables::START,
                crate::tables::SECONDS,
                $(crate::column::PartColumn {
                    name: stringify!($field),
                    kind: crate::column::PartKind::$kind,
                    unit: concat!($($unit)?),
                    unknown: <$type as crate::value::PartValue>::UNKNOWN,
                    since: 0 $(+ $since)?,
                    about: $doc,
                },)+
            ],
            sorted_by: &$sorted,
            over_hosts: $over_hosts,
        };

        impl crate::row::PartRow for $row {
            fn table() -> &'static crate::table::PartTable {
                &TABLE
            }

            fn put(&self, to: &mut crate::row::Put<'_>) {
                $(to.value(&self.$field);)+
            }

            fn take(from: &mut crate::row::Taken<'_>) -> Option<$row> {
                Some($row { $($field: from.value()?,)+ })
            }
        }
    };
}

mod accounts;
mod agents;
mod calls;
mod findings;
mod hosts;
mod requests;
mod stacks;
mod uses;

pub use accounts::AccountRow;
pub use agents::AgentRow;
pub use calls::CallRow;
pub use findings::FindingRow;
pub use hosts::HostRow;
pub use requests::RequestRow;
pub use stacks::StackRow;
pub use uses::UseRow;

/// All tables, in the order of the documents.
pub static PART_TABLES: &[&PartTable] = &[
    &accounts::TABLE,
    &calls::TABLE,
    &uses::TABLE,
    &requests::TABLE,
    &stacks::TABLE,
    &hosts::TABLE,
    &findings::TABLE,
    &agents::TABLE,
];

/// The table of that name.
pub fn part_table(name: &str) -> Option<&'static PartTable> {
    PART_TABLES.iter().find(|table| table.name == name).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn each_table_says_what_it_has() {
        let mut names = BTreeSet::new();
        for table in PART_TABLES {
            assert!(names.insert(table.name), "{} twice", table.name);
            assert!(table.about.ends_with('.'));
            let columns: BTreeSet<_> = table.columns.iter().map(|column| column.name).collect();
            assert_eq!(columns.len(), table.columns.len(), "{}", table.name);
            for column in table.columns {
                assert!(column.about.ends_with('.'), "{}.{}", table.name, column.name);
                assert!(
                    column.unknown || column.since == 0,
                    "{}.{}: old parts have it not",
                    table.name,
                    column.name
                );
                assert_eq!(
                    column.name.ends_with("ns"),
                    column.unit == "ns",
                    "{}.{}",
                    table.name,
                    column.name
                );
            }
            // So that the parts of many hosts are those of single hosts one after the other.
            assert_eq!(table.sorted_by[0], "host");
            assert!(table.sorted_by.contains(&"start"));
            assert!(table.sorted_by.iter().all(|name| columns.contains(name)));
        }
    }
}
