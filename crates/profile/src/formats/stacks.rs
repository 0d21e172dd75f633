//! Builds a profile from frames that are told by name: equal places become one location.

use foldhash::fast::RandomState;
use hashbrown::HashMap;
use std::hash::BuildHasher;
use whyslow_model::ProfileBuilder;
use whyslow_model::profile::{
    Function, HashIndex, Location, LocationId, Mapping, MappingId, SourceLine, StringId, TooLarge, ValueType,
};

/// A profile under construction.
#[derive(Default)]
pub(super) struct Stacks {
    pub(super) builder: ProfileBuilder,
    hasher: RandomState,
    locations: HashIndex,
    mappings: HashMap<StringId, MappingId, RandomState>,
}

impl Stacks {
    /// With these sample types: kind and unit.
    pub(super) fn counting(types: &[(&str, &str)]) -> Result<Stacks, TooLarge> {
        let mut stacks = Stacks::default();
        let types =
            types.iter().map(|(kind, unit)| stacks.value_type(kind, unit)).collect::<Result<Vec<_>, _>>()?;
        stacks.builder.profile().sample_types = types;
        Ok(stacks)
    }

    pub(super) fn value_type(&mut self, kind: &str, unit: &str) -> Result<ValueType, TooLarge> {
        Ok(ValueType { kind: self.builder.string(kind)?, unit: self.builder.string(unit)? })
    }

    /// Says that the file holds `dumps` dumps of all threads: one shows how many threads stand where, several sample where
    /// their time goes.
    pub(super) fn dumped(&mut self, dumps: u64, of: &str) -> Result<(), TooLarge> {
        if dumps > 1 {
            let sightings = self.value_type("wall", "count")?;
            let comment = self.builder.string(&format!("{dumps} {of} dumps: a sample of wall-clock time"))?;
            let profile = self.builder.profile();
            profile.sample_types = vec![sightings];
            profile.comments.push(comment);
        }
        Ok(())
    }

    /// A function's line; an empty file and line 0 where they are not known.
    pub(super) fn line(&mut self, function: &str, file: &str, line: i64) -> Result<SourceLine, TooLarge> {
        let name = self.builder.string(function)?;
        let file = self.builder.string(file)?;
        let function = Function { name, system_name: name, file, start_line: 0 };
        Ok(SourceLine { function: Some(self.builder.function(function)?), line, column: 0 })
    }

    /// The mapping of a file.
    pub(super) fn mapping(&mut self, file: &str) -> Result<MappingId, TooLarge> {
        let file = self.builder.string(file)?;
        if let Some(known) = self.mappings.get(&file) {
            return Ok(*known);
        }
        let id = self.builder.mapping(Mapping { file, has_functions: true, ..Mapping::default() })?;
        self.mappings.insert(file, id);
        Ok(id)
    }

    /// A location with its lines, the innermost first.
    pub(super) fn location(
        &mut self,
        mapping: Option<MappingId>,
        address: u64,
        lines: &[SourceLine],
    ) -> Result<LocationId, TooLarge> {
        let hash = self.hasher.hash_one((mapping, address, lines));
        let profile = self.builder.profile();
        let next = profile.locations.len() as u32;
        let is_same = |id| {
            let place = |location: &Location| (location.mapping, location.address) == (mapping, address);
            profile.locations.get(id as usize).is_some_and(place) && profile.lines_of(LocationId(id)) == lines
        };
        let id = self.locations.number(hash, next, is_same);
        if id == next {
            self.builder.spend(HashIndex::ENTRY)?;
            self.builder.location(Location { mapping, address, ..Location::default() }, lines)?;
        }
        Ok(LocationId(id))
    }

    /// A location that is one line of a function.
    pub(super) fn place(&mut self, function: &str, file: &str, line: i64) -> Result<LocationId, TooLarge> {
        let line = self.line(function, file, line)?;
        self.location(None, 0, &[line])
    }
}
