//! What HotSpot says of its own layout: the tables behind `gHotSpotVMStructs` and its like, which `libjvm.so` exports for
//! the Serviceability Agent (`runtime/vmStructs.hpp`).

use crate::image::Image;
use crate::process::{MemoryError, Process};
use std::collections::HashMap;

/// Fields, sizes of types, and constants, by name.
pub(super) struct Descriptions {
    /// By `Type::field`: where it is within its type.
    offsets: HashMap<String, u64>,
    /// By `Type::field`: where a static one is in the process.
    statics: HashMap<String, u64>,
    sizes: HashMap<String, u64>,
    constants: HashMap<String, i64>,
}

/// Entries read of one table; JDK 17 has 2000 in all.
const ENTRIES: u64 = 10_000;
/// Bytes read of a name.
const NAME: usize = 256;
/// No type that is read is larger.
const LARGEST: u64 = 1 << 14;

/// One table: where it begins, how long an entry is, and where an entry has what was asked for.
struct Table<const N: usize> {
    start: u64,
    stride: u64,
    columns: [u64; N],
}

impl<const N: usize> Table<N> {
    /// `entry` is `gHotSpotVMStructEntry`, a column `FieldNameOffset`.
    fn find(
        process: &Process,
        image: &Image,
        table: &str,
        entry: &str,
        columns: [&str; N],
    ) -> Result<Table<N>, String> {
        let mut names = vec![table.to_string(), format!("{entry}ArrayStride")];
        names.extend(columns.iter().map(|column| format!("{entry}{column}Offset")));
        let texts: Vec<&str> = names.iter().map(String::as_str).collect();
        let found = image.symbols(&texts).map_err(|error| error.to_string())?;
        let value = |at: usize| {
            let address =
                found.get(at).copied().flatten().ok_or_else(|| format!("it exports no {}", names[at]))?;
            process.u64(address).map_err(|error| error.to_string())
        };
        let mut places = [0; N];
        for (at, place) in places.iter_mut().enumerate() {
            *place = value(at + 2)?;
        }
        let (start, stride) = (value(0)?, value(1)?);
        if stride == 0 || stride > 1024 || places.iter().any(|place| *place >= stride) {
            return Err(format!("{table} is not as it should be"));
        }
        Ok(Table { start, stride, columns: places })
    }

    /// Where its entries have their columns.
    fn entries(&self) -> impl Iterator<Item = [u64; N]> + '_ {
        (0..ENTRIES).map(|at| self.columns.map(|column| self.start.wrapping_add(at * self.stride + column)))
    }
}

/// The text that a pointer at an address leads to; `None` for a null pointer.
fn text(process: &Process, at: u64) -> Result<Option<String>, MemoryError> {
    match process.u64(at)? {
        0 => Ok(None),
        address => process.c_text(address, NAME).map(Some),
    }
}

impl Descriptions {
    /// Reads all tables of a process; takes some ten milliseconds.
    ///
    /// # Errors
    /// What is missing or cannot be read.
    pub(super) fn read(process: &Process, image: &Image) -> Result<Descriptions, String> {
        let mut all = Descriptions {
            offsets: HashMap::new(),
            statics: HashMap::new(),
            sizes: HashMap::new(),
            constants: HashMap::new(),
        };
        let columns = ["TypeName", "FieldName", "IsStatic", "Offset", "Address"];
        let structs = Table::find(process, image, "gHotSpotVMStructs", "gHotSpotVMStructEntry", columns)?;
        let types =
            Table::find(process, image, "gHotSpotVMTypes", "gHotSpotVMTypeEntry", ["TypeName", "Size"])?;
        let ints = Table::find(
            process,
            image,
            "gHotSpotVMIntConstants",
            "gHotSpotVMIntConstantEntry",
            ["Name", "Value"],
        )?;
        all.fill(process, &structs, &types, &ints).map_err(|error| format!("its vmStructs: {error}"))?;
        Ok(all)
    }

    fn fill(
        &mut self,
        process: &Process,
        structs: &Table<5>,
        types: &Table<2>,
        ints: &Table<2>,
    ) -> Result<(), MemoryError> {
        for [of, field, is_static, offset, address] in structs.entries() {
            let Some(of) = text(process, of)? else { break };
            let name = format!("{of}::{}", text(process, field)?.unwrap_or_default());
            if process.u32(is_static)? == 0 {
                self.offsets.insert(name, process.u64(offset)?);
            } else {
                self.statics.insert(name, process.u64(address)?);
            }
        }
        for [name, size] in types.entries() {
            let Some(name) = text(process, name)? else { break };
            self.sizes.insert(name, process.u64(size)?);
        }
        for [name, value] in ints.entries() {
            let Some(name) = text(process, name)? else { break };
            self.constants.insert(name, i64::from(process.u32(value)? as i32));
        }
        Ok(())
    }

    /// Where a field is within its type: the first of several names that there is (they differ by version).
    ///
    /// # Errors
    /// Where there is none.
    pub(super) fn offset(&self, names: &[&str]) -> Result<u64, String> {
        let found = names.iter().find_map(|name| self.offsets.get(*name));
        found.copied().filter(|offset| *offset < LARGEST).ok_or_else(|| missing(names))
    }

    /// Where a static field is in the process.
    ///
    /// # Errors
    /// Where there is none.
    pub(super) fn address(&self, name: &str) -> Result<u64, String> {
        self.statics.get(name).copied().ok_or_else(|| missing(&[name]))
    }

    /// Bytes of a type.
    ///
    /// # Errors
    /// Where there is none.
    pub(super) fn size(&self, name: &str) -> Result<u64, String> {
        let size = self.sizes.get(name).copied();
        size.filter(|size| (1..LARGEST).contains(size)).ok_or_else(|| missing(&[name]))
    }

    /// A constant: the first of several names that there is.
    ///
    /// # Errors
    /// Where there is none.
    pub(super) fn constant(&self, names: &[&str]) -> Result<i64, String> {
        names.iter().find_map(|name| self.constants.get(*name)).copied().ok_or_else(|| missing(names))
    }
}

fn missing(names: &[&str]) -> String {
    format!("it describes no {}", names.join(" or "))
}

/// An object as it was read at once, so that its fields are of about one moment.
pub(super) struct Object {
    address: u64,
    bytes: Vec<u8>,
}

impl Object {
    /// Reads so many bytes of it.
    ///
    /// # Errors
    /// Where they cannot be read, or no object can be there.
    pub(super) fn read(process: &Process, address: u64, size: u64) -> Result<Object, MemoryError> {
        // All objects of the VM are words, below the first page nothing is.
        if address < 0x1000 || !address.is_multiple_of(8) {
            return Err(MemoryError::Unlikely("a pointer"));
        }
        let mut bytes = vec![0; size.min(LARGEST * 2) as usize];
        process.read(address, &mut bytes)?;
        Ok(Object { address, bytes })
    }

    fn array<const N: usize>(&self, offset: u64) -> [u8; N] {
        let start = offset as usize;
        let bytes = self.bytes.get(start..start.saturating_add(N)).and_then(|bytes| bytes.try_into().ok());
        bytes.unwrap_or([0; N])
    }

    /// Where it is.
    pub(super) fn address(&self) -> u64 {
        self.address
    }

    /// A word of 8 bytes; like all of these 0 behind what was read.
    pub(super) fn u64(&self, offset: u64) -> u64 {
        u64::from_ne_bytes(self.array(offset))
    }

    /// A word of 4 bytes.
    pub(super) fn u32(&self, offset: u64) -> u32 {
        u32::from_ne_bytes(self.array(offset))
    }

    /// A word of 4 bytes with a sign.
    pub(super) fn i32(&self, offset: u64) -> i32 {
        self.u32(offset) as i32
    }

    /// A word of 2 bytes.
    pub(super) fn u16(&self, offset: u64) -> u16 {
        u16::from_ne_bytes(self.array(offset))
    }
}

/// Bytes to read of a type so that all of these offsets are within.
pub(super) fn extent(offsets: &[u64]) -> u64 {
    offsets.iter().max().map_or(0, |last| last + 8)
}
