//! Block devices among the host's figures: by the name or the number that a source has for them.

use super::{Host, Thing};
use whyslow_model::{Entity, Trait};

impl Host {
    /// The device that a recorder names by its number (`253:0`), and a tool by its name (`vda`).
    pub fn device(&self, name: &str) -> Option<(&Entity, &Thing)> {
        let by_name = self.entry(&Entity::Device(name.into()));
        let has_number = |thing: &Thing| thing.told(Trait::Number) == Some(name);
        by_name.or_else(|| self.devices().into_iter().find(|(_, thing)| has_number(thing)))
    }

    /// Its volume, and where it or what lies on it is mounted: `vg-data, /var/lib`; empty where nothing tells.
    pub fn place_of_device(&self, of: &Entity, thing: &Thing) -> String {
        /// More say no more.
        const SHOWN: usize = 4;
        let mut told: Vec<&str> =
            [Trait::Volume, Trait::MountedAt].into_iter().filter_map(|what| thing.told(what)).collect();
        let lies_on = |thing: &Thing| {
            thing.told(Trait::OnDevice).is_some_and(|on| on.split(',').any(|name| name.trim() == of.name()))
        };
        let above = self.devices().into_iter().filter(|(_, thing)| lies_on(thing));
        told.extend(above.filter_map(|(_, thing)| thing.told(Trait::MountedAt)));
        told.truncate(SHOWN);
        told.join(", ")
    }

    /// `vda (/)` for `253:0`; the name itself where nothing is known of it.
    pub fn device_name(&self, name: &str) -> String {
        let Some((of, thing)) = self.device(name) else { return name.to_string() };
        match self.place_of_device(of, thing) {
            place if place.is_empty() => of.name().to_string(),
            place => format!("{} ({place})", of.name()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use whyslow_model::{FigureTable, SourceId};

    #[test]
    fn a_number_leads_to_the_name_and_to_what_is_mounted_on_it() {
        let mut host = Host::default();
        let mut table = FigureTable::new(SourceId(0), "/proc");
        table.row(Entity::Device("vda".into())).say(Trait::Number, "253:0");
        let part = table.row(Entity::Device("vda1".into()));
        part.say(Trait::OnDevice, "vda");
        part.say(Trait::MountedAt, "/srv");
        host.see(&table);
        assert_eq!(host.device_name("253:0"), "vda (/srv)");
        assert_eq!(host.device_name("vda"), "vda (/srv)");
        assert_eq!(host.device_name("8:0"), "8:0");
    }
}
