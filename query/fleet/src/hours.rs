//! Hours of the store, and the names of their folders.

use crate::span::HOUR;
use whyslow_parts::PartHour;

/// The names of the folders of an hour.
pub(crate) fn date_and_hour(hour: PartHour) -> (String, u8) {
    let folder = hour.folder();
    let date = folder.strip_prefix("date=").and_then(|date| date.get(..10)).unwrap_or_default();
    let number = hour.begin().0.div_euclid(HOUR).rem_euclid(24);
    (date.to_string(), u8::try_from(number).unwrap_or_default())
}
