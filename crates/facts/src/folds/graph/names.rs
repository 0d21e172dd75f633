//! Names of what threads wait for, each kept once.

use hashbrown::HashMap;

/// A name's place in [`Names`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NameId(u32);

impl NameId {
    /// No name.
    pub const NONE: NameId = NameId(u32::MAX);
}

/// Names by number. Bounded: past the cap there are no new ones.
#[derive(Debug, Default)]
pub(crate) struct Names {
    names: Vec<Box<str>>,
    index: HashMap<Box<str>, NameId, foldhash::fast::RandomState>,
}

impl Names {
    /// Peers, files and requests told apart; one takes some 100 bytes.
    const MAX: usize = 16_384;

    /// The number of `name`; [`NameId::NONE`] where there are too many.
    pub(crate) fn intern(&mut self, name: &str) -> NameId {
        if let Some(known) = self.index.get(name) {
            return *known;
        }
        if self.names.len() >= Self::MAX {
            return NameId::NONE;
        }
        let id = NameId(self.names.len() as u32);
        self.names.push(name.into());
        self.index.insert(name.into(), id);
        id
    }

    pub(crate) fn get(&self, id: NameId) -> Option<&str> {
        self.names.get(id.0 as usize).map(|name| &**name)
    }
}
