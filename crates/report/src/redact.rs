//! Replaces secrets in everything that is reported. What a secret is, `whyslow_privacy` knows.

use crate::walk;
use std::borrow::Cow;
use whyslow_model::{Diagnosis, Diff, Table};

pub use whyslow_privacy::{REDACTED, redact};

pub(crate) fn redact_in_place(text: &mut String) {
    if let Cow::Owned(redacted) = redact(text) {
        *text = redacted;
    }
}

/// Replaces the secrets in every text of a diagnosis.
pub fn redact_diagnosis(diagnosis: &mut Diagnosis) {
    walk::diagnosis(diagnosis, &mut |text, _| redact_in_place(text));
}

/// Replaces the secrets in every text of a table.
pub fn redact_table(table: &mut Table) {
    walk::table(table, &mut |text, _| redact_in_place(text));
}

/// Replaces the secrets in every text of a comparison.
pub fn redact_diff(diff: &mut Diff) {
    walk::diff(diff, &mut |text, _| redact_in_place(text));
}
