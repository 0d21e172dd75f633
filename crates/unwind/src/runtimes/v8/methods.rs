//! The class of a method: the one whose prototype, or which itself, holds the function.

use super::heap::{Heap, object, smi};
use crate::process::MemoryError;

/// Prototypes of a receiver that are looked through, words of each and of its properties, and functions among them.
const MOST: (usize, u64, usize) = (8, 512, 64);

/// The shared function info of the class that a function is a method of, by the object it was called on.
pub(super) fn class(heap: Heap, function: u64, receiver: u64) -> Result<Option<u64>, MemoryError> {
    let Heap { process, layout } = heap;
    let mut next = object(receiver);
    for _ in 0..MOST.0 {
        let Some(holder) = next else { return Ok(None) };
        let map = object(process.u64(holder)?).ok_or(MemoryError::Unlikely("an object's map"))?;
        let kind = process.u16(map + layout.map_type)?;
        // Objects of the language come behind those of V8 itself: src/objects/instance-type.h.
        if kind <= layout.types.shared {
            return Ok(None);
        }
        let words = properties(heap, holder, map)?;
        if !words.iter().any(|word| object(*word) == Some(function)) {
            next = object(process.u64(map + layout.map_prototype)?);
            continue;
        }
        let (first, last) = layout.types.functions;
        let is_function = |kind: u16| (first..=last).contains(&kind);
        let class = match is_function(kind) {
            true => Some(holder),
            false => words
                .iter()
                .filter_map(|word| object(*word))
                .filter(|word| heap.kind(*word).is_ok_and(is_function))
                .take(MOST.2)
                .find(|constructor| makes(heap, *constructor, holder) == Ok(true)),
        };
        return class.map(|class| shared(heap, class)).transpose();
    }
    Ok(None)
}

/// The words of an object itself and those of its properties that have no room in it.
fn properties(heap: Heap, holder: u64, map: u64) -> Result<Vec<u64>, MemoryError> {
    let Heap { process, layout } = heap;
    let read = |address: u64, count: u64| {
        let mut bytes = vec![0; count as usize * 8];
        process.read(address, &mut bytes)?;
        Ok(bytes.as_chunks().0.iter().map(|word| u64::from_ne_bytes(*word)).collect::<Vec<u64>>())
    };
    let own = u64::from(process.u8(map + layout.map_words)?);
    let mut words = read(holder, own)?;
    // Behind the map; an array, or a table that is one: their lengths are at the same place. With an array's length may be a hash:
    // src/objects/property-array.h.
    if let Some(more) = words.get(1).and_then(|word| object(*word))
        && let Some(length) = smi(process.u64(more + layout.array_length)?)
    {
        let length = if (0..=MOST.1 as i64).contains(&length) { length } else { length & 0x3ff };
        words.extend(read(more + layout.array_data, (length as u64).min(MOST.1))?);
    }
    Ok(words)
}

/// True where new objects of a constructor have this prototype.
fn makes(heap: Heap, constructor: u64, prototype: u64) -> Result<bool, MemoryError> {
    let word = heap.process.u64(constructor + heap.layout.function_prototype)?;
    let Some(found) = object(word) else { return Ok(false) };
    if found == prototype {
        return Ok(true);
    }
    let is_map = heap.kind(found)? == heap.layout.types.map;
    Ok(is_map && object(heap.process.u64(found + heap.layout.map_prototype)?) == Some(prototype))
}

/// The shared function info of a function.
fn shared(heap: Heap, function: u64) -> Result<u64, MemoryError> {
    object(heap.process.u64(function + heap.layout.function_shared)?)
        .ok_or(MemoryError::Unlikely("a function"))
}
