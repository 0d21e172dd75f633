//! Methods: their names, files and lines, and what is kept of them.

use super::describe::{Descriptions, Object, extent};
use super::packed::{Encoding, Packed};
use crate::process::{MemoryError, Process};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A method as it is shown.
#[derive(Debug)]
pub(super) struct Method {
    /// `com.example.Store.save`.
    pub(super) name: Box<str>,
    /// `Store.java`; empty where the class does not tell.
    pub(super) file: Box<str>,
    /// Where its bytecodes are.
    bytecodes: u64,
    bytecodes_size: u64,
    /// Lines by the bytecode that they begin at, in the order of the table.
    lines: Box<[(u32, u32)]>,
}

impl Method {
    /// The line of a bytecode by its index; 0 where the method has no lines.
    pub(super) fn line(&self, bci: i32) -> u32 {
        // A negative one is the entry of the method (`SynchronizationEntryBCI`).
        let bci = bci.max(0) as u32;
        let mut best = (0, 0);
        for (start, line) in &self.lines {
            if *start == bci {
                return *line;
            }
            if *start < bci && *start >= best.0 {
                best = (*start, *line);
            }
        }
        best.1
    }

    /// False for native methods.
    pub(super) fn has_bytecodes(&self) -> bool {
        self.bytecodes_size > 0
    }

    /// The index of a bytecode by its address; `None` where it is none of this method's.
    pub(super) fn bci(&self, bytecode: u64) -> Option<i32> {
        let bci = bytecode.checked_sub(self.bytecodes)?;
        (bci < self.bytecodes_size).then_some(bci as i32)
    }
}

/// What a `ConstMethod` must still hold for what is kept of its method to be true.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Proof {
    const_method: u64,
    constants: u64,
    name_index: u16,
    code_size: u16,
    size: u32,
}

/// Where the fields of methods and classes are.
struct Layout {
    encoding: Encoding,
    const_method: u64,
    constants: u64,
    const_size: u64,
    flags: u64,
    has_lines: u32,
    code_size: u64,
    name_index: u64,
    /// Bytes of a `ConstMethod`; the bytecodes are behind it.
    header: u64,
    pool_holder: u64,
    pool_length: u64,
    pool_header: u64,
    /// In the constant pool from JDK 12 on, before in the class.
    source_in_pool: Option<u64>,
    source_in_class: u64,
    class_name: u64,
    class_constants: u64,
    symbol_length: u64,
    symbol_body: u64,
}

impl Layout {
    fn of(described: &Descriptions, major: u32) -> Result<Layout, String> {
        let source_in_pool = described.offset(&["ConstantPool::_source_file_name_index"]).ok();
        Ok(Layout {
            encoding: Encoding::of(major),
            const_method: described.offset(&["Method::_constMethod"])?,
            constants: described.offset(&["ConstMethod::_constants"])?,
            const_size: described.offset(&["ConstMethod::_constMethod_size"])?,
            flags: described.offset(&["ConstMethod::_flags", "ConstMethod::_flags._flags"])?,
            has_lines: described.constant(&[
                "ConstMethod::_has_linenumber_table",
                "ConstMethodFlags::_misc_has_linenumber_table",
            ])? as u32,
            code_size: described.offset(&["ConstMethod::_code_size"])?,
            name_index: described.offset(&["ConstMethod::_name_index"])?,
            header: described.size("ConstMethod")?,
            pool_holder: described.offset(&["ConstantPool::_pool_holder"])?,
            pool_length: described.offset(&["ConstantPool::_length"])?,
            pool_header: described.size("ConstantPool")?,
            source_in_pool,
            source_in_class: match source_in_pool {
                Some(_) => 0,
                None => described.offset(&["InstanceKlass::_source_file_name_index"])?,
            },
            class_name: described.offset(&["Klass::_name"])?,
            class_constants: described.offset(&["InstanceKlass::_constants"])?,
            symbol_length: described.offset(&["Symbol::_length"])?,
            symbol_body: described.offset(&["Symbol::_body", "Symbol::_body[0]"])?,
        })
    }
}

/// A method that was seen.
struct Known {
    proof: Proof,
    method: Arc<Method>,
    /// When it was compared last.
    checked: Instant,
}

/// The methods seen so far.
pub(super) struct Methods {
    layout: Layout,
    known: HashMap<u64, Known>,
}

impl Methods {
    /// Methods kept; all are forgotten when there are more.
    const KEPT: usize = 1 << 15;
    /// A method is compared again after so long: its memory is another's only when its class is unloaded.
    const STANDS: Duration = Duration::from_millis(100);
    /// Bytes of a line table that is read: 64 KiB of bytecodes need fewer.
    const TABLE: u64 = 1 << 18;

    pub(super) fn of(described: &Descriptions, major: u32) -> Result<Methods, String> {
        Ok(Methods { layout: Layout::of(described, major)?, known: HashMap::new() })
    }

    /// The method at an address (`Method*`).
    ///
    /// # Errors
    /// Where no method is there.
    pub(super) fn at(&mut self, process: &Process, address: u64) -> Result<Arc<Method>, MemoryError> {
        if let Some(known) = self.known.get(&address)
            && known.checked.elapsed() < Methods::STANDS
        {
            return Ok(Arc::clone(&known.method));
        }
        let layout = &self.layout;
        let method = Object::read(process, address, layout.const_method + 8)?;
        let fields = [layout.constants, layout.const_size, layout.flags, layout.code_size, layout.name_index];
        let constant = Object::read(process, method.u64(layout.const_method), extent(&fields))?;
        let proof = Proof {
            const_method: constant.address(),
            constants: constant.u64(layout.constants),
            name_index: constant.u16(layout.name_index),
            code_size: constant.u16(layout.code_size),
            size: constant.u32(layout.const_size),
        };
        let checked = Instant::now();
        if let Some(known) = self.known.get_mut(&address)
            && known.proof == proof
        {
            known.checked = checked;
            return Ok(Arc::clone(&known.method));
        }
        let method = Arc::new(self.read(process, &constant, &proof)?);
        if self.known.len() >= Methods::KEPT {
            self.known.clear();
        }
        self.known.insert(address, Known { proof, method: Arc::clone(&method), checked });
        Ok(method)
    }

    fn read(&self, process: &Process, constant: &Object, proof: &Proof) -> Result<Method, MemoryError> {
        let layout = &self.layout;
        let bytecodes = constant.address() + layout.header;
        let (bytecodes_size, whole) = (u64::from(proof.code_size), u64::from(proof.size) * 8);
        let table = (layout.header + bytecodes_size, whole);
        if table.0 > table.1 {
            return Err(MemoryError::Unlikely("the size of a method"));
        }
        let pool_fields = [layout.pool_holder, layout.pool_length, layout.source_in_pool.unwrap_or(0)];
        let pool = Object::read(process, proof.constants, extent(&pool_fields))?;
        let class_fields = [layout.class_name, layout.class_constants, layout.source_in_class];
        let class = Object::read(process, pool.u64(layout.pool_holder), extent(&class_fields))?;
        // Of a class that was redefined, an old method has a constant pool of its own.
        let constants = class.u64(layout.class_constants);
        if constants != pool.address()
            && process.u64(constants.wrapping_add(layout.pool_holder))? != class.address()
        {
            return Err(MemoryError::Unlikely("the class of a method"));
        }
        let name = self.symbol_of(process, &pool, proof.name_index)?;
        let class_name = self.symbol(process, class.u64(layout.class_name))?;
        let source = match layout.source_in_pool {
            Some(offset) => pool.u16(offset),
            None => class.u16(layout.source_in_class),
        };
        let file = match source {
            0 => String::new(),
            index => self.symbol_of(process, &pool, index)?,
        };
        let lines = match constant.u32(layout.flags) & layout.has_lines {
            0 => Vec::new(),
            _ => {
                let mut bytes = vec![0; (table.1 - table.0).min(Methods::TABLE) as usize];
                process.read(constant.address() + table.0, &mut bytes)?;
                lines(&bytes, layout.encoding)
            }
        };
        Ok(Method {
            name: format!("{}.{name}", shown_class(&class_name)).into(),
            file: file.into(),
            bytecodes,
            bytecodes_size,
            lines: lines.into(),
        })
    }

    /// The symbol that an entry of a constant pool holds.
    fn symbol_of(&self, process: &Process, pool: &Object, index: u16) -> Result<String, MemoryError> {
        if index == 0 || i32::from(index) >= pool.i32(self.layout.pool_length) {
            return Err(MemoryError::Unlikely("the index of a name"));
        }
        let entry = pool.address() + self.layout.pool_header + u64::from(index) * 8;
        self.symbol(process, process.u64(entry)?)
    }

    fn symbol(&self, process: &Process, address: u64) -> Result<String, MemoryError> {
        let layout = &self.layout;
        let symbol = Object::read(process, address, extent(&[layout.symbol_length]))?;
        match symbol.u16(layout.symbol_length) {
            0 => Err(MemoryError::Unlikely("a name")),
            length => process.text(address + layout.symbol_body, u64::from(length), usize::from(u16::MAX)),
        }
    }
}

/// The line table behind the bytecodes. Source: `CompressedLineNumberReadStream` of `oops/method.cpp`.
fn lines(bytes: &[u8], encoding: Encoding) -> Vec<(u32, u32)> {
    let mut stream = Packed::new(bytes, encoding);
    let (mut bci, mut line) = (0i32, 0i32);
    let mut found = Vec::new();
    while let Some(next) = stream.byte() {
        let (more_bci, more_line) = match next {
            0 => break,
            0xff => match (stream.signed(), stream.signed()) {
                (Some(bci), Some(line)) => (bci, line),
                _ => break,
            },
            both => (i32::from(both >> 3), i32::from(both & 7)),
        };
        bci = bci.wrapping_add(more_bci);
        line = line.wrapping_add(more_line);
        if bci < 0 || line <= 0 {
            break;
        }
        found.push((bci as u32, line as u32));
    }
    found
}

/// A class as engineers write it: `com/example/Store` is `com.example.Store`. What the VM adds to the names of hidden classes
/// (`Main$$Lambda$14+0x0000000800c03000`, `…/1342443276`) is left out.
fn shown_class(name: &str) -> String {
    let mut name = name.split_once("+0x").map_or(name, |(class, _)| class);
    if let Some((class, last)) = name.rsplit_once('/')
        && last.starts_with(|first: char| first.is_ascii_digit())
    {
        name = class;
    }
    if let Some((class, number)) = name.rsplit_once('$')
        && class.ends_with("$$Lambda")
        && number.bytes().all(|digit| digit.is_ascii_digit())
    {
        name = class;
    }
    name.replace('/', ".")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_named_as_engineers_do() {
        for (name, shown) in [
            ("com/example/Store", "com.example.Store"),
            ("Outer$Inner", "Outer$Inner"),
            ("a/Main$$Lambda$14+0x0000000800c03000", "a.Main$$Lambda"),
            ("a/Main$$Lambda+0x0000000800c03000", "a.Main$$Lambda"),
            ("Main$$Lambda$14/0x0000000800066840", "Main$$Lambda"),
            ("java/lang/invoke/LambdaForm$DMH+0x00007f", "java.lang.invoke.LambdaForm$DMH"),
            ("Größe", "Größe"),
        ] {
            assert_eq!(shown_class(name), shown);
        }
    }

    #[test]
    fn lines_are_found_by_bytecode() {
        let table = lines(&[0b0000_0111, 0b0010_1001, 0xff, 20, 3, 0, 9], Encoding::All);
        assert_eq!(table, [(0, 7), (5, 8), (15, 6)]);
        let method = Method {
            name: "A.b".into(),
            file: "A.java".into(),
            bytecodes: 0x1000,
            bytecodes_size: 30,
            lines: table.into(),
        };
        assert_eq!([-1, 0, 4, 5, 14, 15, 29].map(|bci| method.line(bci)), [7, 7, 7, 8, 8, 6, 6]);
        assert_eq!((method.bci(0xfff), method.bci(0x101d), method.bci(0x101e)), (None, Some(29), None));
    }
}
