//! `errno=EPIPE|ETIMEDOUT`: a call fails with one of these.

use super::{Trigger, TriggerKind};
use whyslow_model::Errno;
use whyslow_record::{Sight, SightsWanted};

pub(crate) static KIND: TriggerKind = TriggerKind {
    name: "errno",
    forms: &["errno=EPIPE|ETIMEDOUT"],
    about: "A call fails with one of these errors.",
    make: |text| {
        let names = text.strip_prefix('=').ok_or("names of errors are missing")?;
        let errors: Result<Vec<Errno>, String> = names
            .split('|')
            .map(|name| match Errno::lookup(name.as_bytes()) {
                Errno::OTHER => Err(format!("{name:?} is the name of no error")),
                error => Ok(error),
            })
            .collect();
        Ok(Box::new(FailedCall { errors: errors? }))
    },
};

struct FailedCall {
    errors: Vec<Errno>,
}

impl Trigger for FailedCall {
    fn watch(&self, watched: &mut SightsWanted) {
        watched.errors.extend(&self.errors);
    }

    fn see(&mut self, sight: &Sight<'_>) -> Option<String> {
        let Sight::Call(of) = sight else { return None };
        let error = of.error.filter(|error| self.errors.contains(error))?;
        let text = error.text().map(|text| format!(" ({text})")).unwrap_or_default();
        Some(format!("a call of {} in thread {} failed with {error}{text}", of.name, of.tid))
    }
}
