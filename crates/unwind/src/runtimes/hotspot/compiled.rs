//! Compiled methods: which methods, inlined ones too, an instruction of one is of.

use super::describe::{Descriptions, Object, extent};
use super::header::Header;
use super::methods::{Method, Methods};
use super::packed::{Encoding, LONGEST, Packed};
use crate::process::{MemoryError, Process};
use std::collections::HashMap;
use std::sync::Arc;

/// Where a compiled method says what its code is of.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Tables {
    compile_id: u32,
    method: u64,
    /// Its first `PcDesc`, and the end of them.
    descriptions: (u64, u64),
    scopes: u64,
    /// Its methods, by number from 1.
    metadata: u64,
    /// Where code goes on whose frame is to be made interpreted; and where the frame then has the address it was at.
    deoptimized: [u64; 2],
    original: u64,
    /// The entry, behind the check of the receiver's class.
    entry: u64,
    /// It was entered in a loop (`osr`), with another entry.
    in_loop: bool,
}

/// One place in compiled code.
#[derive(Debug)]
pub(super) struct Site {
    /// The instruction is behind a call.
    pub(super) after_call: bool,
    /// The methods it is of, the inlined innermost first, and their lines.
    pub(super) frames: Vec<(Arc<Method>, u32)>,
}

/// A compiled method.
pub(super) struct Compiled {
    tables: Tables,
    sites: HashMap<u64, Arc<Site>>,
}

/// Where the fields of compiled methods are.
pub(super) struct CompiledLayout {
    encoding: Encoding,
    method: u64,
    compile_id: u64,
    entry_bci: u64,
    original: u64,
    description: [u64; 2],
    description_size: u64,
    entry: u64,
    place: Place,
}

/// Where the tables are.
enum Place {
    /// JDK 9 to 22: behind the code.
    Behind { metadata: u64, scopes: u64, descriptions: u64, end: u64, deoptimized: [u64; 2] },
    /// From JDK 25 on: in memory of their own.
    Apart {
        mutable: u64,
        relocation_size: u64,
        immutable: u64,
        immutable_size: u64,
        scopes: u64,
        descriptions: u64,
        deoptimized: [u64; 2],
    },
}

/// `InvocationEntryBci`: no index of a bytecode but the entry.
const ENTRY_BCI: i32 = -1;

impl CompiledLayout {
    pub(super) fn of(described: &Descriptions, major: u32) -> Result<CompiledLayout, String> {
        let offset = |name: &str| described.offset(&[name]);
        let place = if let Ok(mutable) = offset("CodeBlob::_mutable_data") {
            Place::Apart {
                mutable,
                relocation_size: offset("CodeBlob::_relocation_size")?,
                immutable: offset("nmethod::_immutable_data")?,
                immutable_size: offset("nmethod::_immutable_data_size")?,
                scopes: offset("nmethod::_scopes_data_offset")?,
                descriptions: offset("nmethod::_scopes_pcs_offset")?,
                deoptimized: [
                    offset("nmethod::_deopt_handler_offset")?,
                    described
                        .offset(&["nmethod::_deopt_mh_handler_offset", "nmethod::_deopt_handler_offset"])?,
                ],
            }
        } else {
            Place::Behind {
                metadata: offset("nmethod::_metadata_offset")?,
                scopes: offset("CompiledMethod::_scopes_data_begin")?,
                descriptions: offset("nmethod::_scopes_pcs_offset")?,
                end: offset("nmethod::_dependencies_offset")?,
                deoptimized: [
                    offset("CompiledMethod::_deopt_handler_begin")?,
                    offset("CompiledMethod::_deopt_mh_handler_begin")?,
                ],
            }
        };
        Ok(CompiledLayout {
            encoding: Encoding::of(major),
            method: described.offset(&["nmethod::_method", "CompiledMethod::_method"])?,
            compile_id: offset("nmethod::_compile_id")?,
            entry_bci: offset("nmethod::_entry_bci")?,
            original: offset("nmethod::_orig_pc_offset")?,
            description: [offset("PcDesc::_pc_offset")?, offset("PcDesc::_scope_decode_offset")?],
            description_size: described.size("PcDesc")?,
            entry: described
                .offset(&["nmethod::_verified_entry_point", "nmethod::_verified_entry_offset"])?,
            place,
        })
    }

    /// Bytes of a header that have all fields.
    pub(super) fn extent(&self) -> u64 {
        let own = extent(&[self.method, self.compile_id, self.entry_bci, self.original, self.entry]);
        own.max(match &self.place {
            Place::Behind { metadata, scopes, descriptions, end, deoptimized: [one, other] } => {
                extent(&[*metadata, *scopes, *descriptions, *end, *one, *other])
            }
            Place::Apart {
                mutable,
                relocation_size,
                immutable,
                immutable_size,
                scopes,
                descriptions,
                deoptimized: [one, other],
            } => extent(&[
                *mutable,
                *relocation_size,
                *immutable,
                *immutable_size,
                *scopes,
                *descriptions,
                *one,
                *other,
            ]),
        })
    }

    /// The compiled method of a header.
    ///
    /// # Errors
    /// Where its tables cannot be.
    pub(super) fn compiled(&self, object: &Object, header: &Header) -> Result<Compiled, MemoryError> {
        let tables = self.tables(object, header.code);
        let (first, end) = tables.descriptions;
        if end < first || end - first > Compiled::DESCRIPTIONS * self.description_size {
            return Err(MemoryError::Unlikely("the tables of a compiled method"));
        }
        Ok(Compiled { tables, sites: HashMap::new() })
    }

    /// True where a header is still that of a compiled method.
    pub(super) fn stands(&self, object: &Object, compiled: &Compiled) -> bool {
        // Where code begins was compared with the header.
        let now = self.tables(object, 0);
        let known = &compiled.tables;
        (now.compile_id, now.method, now.descriptions, now.scopes, now.metadata)
            == (known.compile_id, known.method, known.descriptions, known.scopes, known.metadata)
    }

    fn tables(&self, object: &Object, code: u64) -> Tables {
        let within = |start: u64, offset: u64| start.wrapping_add(u64::from(object.u32(offset)));
        let start = object.address();
        let (metadata, scopes, descriptions, deoptimized, entry) = match &self.place {
            Place::Behind { metadata, scopes, descriptions, end, deoptimized } => (
                within(start, *metadata),
                object.u64(*scopes),
                (within(start, *descriptions), within(start, *end)),
                deoptimized.map(|offset| object.u64(offset)),
                object.u64(self.entry),
            ),
            Place::Apart {
                mutable, relocation_size, immutable, scopes, descriptions, deoptimized, ..
            } => {
                let immutable = object.u64(*immutable);
                let relocations = u64::from(object.u32(*relocation_size)).next_multiple_of(8);
                let scopes = within(immutable, *scopes);
                (
                    object.u64(*mutable).wrapping_add(relocations),
                    scopes,
                    // The scopes are right behind (`code/nmethod.hpp`).
                    (within(immutable, *descriptions), scopes),
                    deoptimized.map(|offset| within(start, offset)),
                    code.wrapping_add(u64::from(object.u16(self.entry))),
                )
            }
        };
        Tables {
            compile_id: object.u32(self.compile_id),
            method: object.u64(self.method),
            descriptions,
            scopes,
            metadata,
            deoptimized,
            original: u64::from(object.u32(self.original)),
            entry,
            in_loop: object.i32(self.entry_bci) != ENTRY_BCI,
        }
    }

    /// The scope of the first description at or behind an offset of the code. There is one behind each call of Java code or the
    /// VM; elsewhere it is that of the next such place, or check for a safepoint.
    fn described(&self, process: &Process, tables: &Tables, wanted: i32) -> Result<u32, MemoryError> {
        let (first, end) = tables.descriptions;
        let read = |at: u64| {
            let address = first.wrapping_add(at * self.description_size);
            let [offset, scope] = self.description.map(|field| process.u32(address.wrapping_add(field)));
            Ok::<_, MemoryError>((offset? as i32, scope?))
        };
        // The first and the last one are sentinels.
        let (mut low, mut high) = (0, (end - first) / self.description_size);
        while low < high {
            let middle = low + (high - low) / 2;
            if read(middle)?.0 < wanted {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        if low >= (end - first) / self.description_size {
            return Err(MemoryError::Unlikely("the descriptions of compiled code"));
        }
        match (read(low)?.1, low.checked_sub(1)) {
            // Behind the last one, where a method returns.
            (0, Some(before)) => read(before).map(|(_, scope)| scope),
            (scope, _) => Ok(scope),
        }
    }

    /// One scope: that of the caller it was inlined into (0: none), its method by number, and the bytecode's index.
    fn scope(&self, process: &Process, tables: &Tables, offset: u32) -> Result<(u32, u32, i32), MemoryError> {
        let mut bytes = [0; LONGEST * 3];
        process.read(tables.scopes.wrapping_add(u64::from(offset)), &mut bytes)?;
        let mut stream = Packed::new(&bytes, self.encoding);
        match (stream.number(), stream.number(), stream.number()) {
            (Some(caller), Some(method), Some(bci)) => {
                Ok((caller, method, (bci as i32).wrapping_add(ENTRY_BCI)))
            }
            _ => Err(MemoryError::Unlikely("a scope of compiled code")),
        }
    }
}

impl Compiled {
    /// Descriptions of one method.
    const DESCRIPTIONS: u64 = 1 << 20;
    /// Methods inlined into each other; `MaxInlineLevel` is 15.
    const DEPTH: usize = 128;
    /// Places kept of one method; all are forgotten when there are more.
    const KEPT: usize = 1 << 12;

    /// The method it was compiled from.
    pub(super) fn method(&self) -> u64 {
        self.tables.method
    }

    /// Its entry, behind the check of the receiver's class; `None` where it was entered in a loop.
    pub(super) fn entry(&self) -> Option<u64> {
        (!self.tables.in_loop).then_some(self.tables.entry)
    }

    /// Where a frame keeps the address it was at before it was to be made interpreted: an offset from the stack pointer.
    /// `None` where the instruction is of a frame that goes on.
    pub(super) fn original(&self, ip: u64) -> Option<u64> {
        self.tables.deoptimized.contains(&ip).then_some(self.tables.original)
    }

    /// What an instruction is of.
    ///
    /// # Errors
    /// Where memory does not tell.
    pub(super) fn site(
        &mut self,
        process: &Process,
        layouts: (&CompiledLayout, &mut Methods),
        header: &Header,
        ip: u64,
    ) -> Result<Arc<Site>, MemoryError> {
        if let Some(known) = self.sites.get(&ip) {
            return Ok(Arc::clone(known));
        }
        let (layout, methods) = layouts;
        let wanted = ip.wrapping_sub(header.code) as i32;
        let mut scope = layout.described(process, &self.tables, wanted)?;
        let mut frames = Vec::new();
        while scope != 0 && frames.len() < Compiled::DEPTH {
            let (caller, method, bci) = layout.scope(process, &self.tables, scope)?;
            let index =
                u64::from(method).checked_sub(1).ok_or(MemoryError::Unlikely("a method of compiled code"))?;
            let method = process.u64(self.tables.metadata.wrapping_add(index * 8))?;
            let method = methods.at(process, method)?;
            let line = method.line(bci);
            frames.push((method, line));
            // Callers are written first.
            if caller >= scope {
                return Err(MemoryError::Unlikely("a scope of compiled code"));
            }
            scope = caller;
        }
        if frames.is_empty() {
            frames.push((methods.at(process, self.tables.method)?, 0));
        }
        let site = Arc::new(Site { after_call: after_call(process, ip)?, frames });
        if self.sites.len() >= Compiled::KEPT {
            self.sites.clear();
        }
        self.sites.insert(ip, Arc::clone(&site));
        Ok(site)
    }
}

/// True where the instruction before an address is a call: `E8 rel32`, or `FF /2` with a register or one with an offset.
///
/// # Errors
/// Where the code cannot be read.
pub(super) fn after_call(process: &Process, ip: u64) -> Result<bool, MemoryError> {
    let code: [u8; 6] = process.array(ip.wrapping_sub(6))?;
    Ok(match code {
        [_, 0xe8, ..] => true,
        [.., 0xff, how] if how & 0xf8 == 0xd0 => true,
        [.., 0xff, how, _] if how & 0xf8 == 0x50 => true,
        [0xff, how, ..] => how & 0xf8 == 0x90,
        _ => false,
    })
}
