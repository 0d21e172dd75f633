//! What threads do with files, added up by thread, file and operation.

mod sums;

use super::net::ip;
use super::{Program, by_section, kind, object};
use crate::bpf::layout::{FILE_ROW_BYTES, FILE_ROWS, Fields};
use crate::bpf::row_tables::RowTables;
use std::net::SocketAddr;
use whyslow_model::InodeId;

pub(crate) use sums::FileSums;

pub(super) static FILES: Program = Program {
    name: "files",
    summary: "files and services: bytes, calls and time of each thread, added up",
    cost: "190 ns a read, write, sync or open of a file by a watched thread, 375 ns of a send or receive over TCP, 60 ns of any other call; about 1.5 us more where a thread meets a file for the first time",
    tables: &["files"],
    // Of this kind the kernel's side counts calls, not records.
    rare: &[("files", &[kind::FILE])],
    wanted: |options| options.files,
    needed: false,
    object: object!("files"),
    attach: &[
        // Else the program of calls fills the tables.
        &[
            by_section("files_enter").unless(|settings| settings.files_with_calls != 0),
            by_section("files_enter_raw").unless(|settings| settings.files_with_calls != 0),
        ],
        &[
            by_section("files_exit").unless(|settings| settings.files_with_calls != 0),
            by_section("files_exit_raw").unless(|settings| settings.files_with_calls != 0),
        ],
    ],
};

/// A file under one of its names, or a service by its address (`struct file_name`): what paths are known by.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct FileName {
    /// `None` for pipes, sockets and the like.
    pub(crate) id: Option<InodeId>,
    pub(crate) hash: u32,
    /// The type in its mode (inode(7)), shifted to the right by 12.
    pub(crate) kind: u32,
    pub(crate) root: u32,
    pub(crate) service: Option<Service>,
}

/// The service that a socket leads to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Service {
    /// An address of the internet; of a unix socket a number.
    pub(crate) address: [u8; 16],
    pub(crate) port: u16,
    /// `AF_UNIX` and the others.
    pub(crate) family: u16,
    /// Whether the process accepted the connection (`SIDE_SERVER`).
    pub(crate) is_own: bool,
}

impl FileName {
    pub(crate) fn read(fields: &mut Fields<'_>) -> Option<FileName> {
        let id = Fields(fields.0).inode()?;
        let address: [u8; 16] = fields.bytes(16)?.try_into().ok()?;
        let (port, family) = (Fields(fields.0).u16()?, Fields(fields.0.get(2..)?).u16()?);
        let (hash, kind, root, side) = (fields.u32()?, fields.u32()?, fields.u32()?, fields.u32()?);
        let service = (side != 0).then_some(Service { address, port, family, is_own: side == 2 });
        Some(FileName { id: id.filter(|_| service.is_none()), hash, kind, root, service })
    }
}

impl Service {
    /// `AF_UNIX` (include/linux/socket.h).
    const UNIX: u16 = 1;

    pub(crate) fn is_unix(&self) -> bool {
        self.family == Service::UNIX
    }

    /// Its address as text; `path` is that of a unix socket.
    pub(crate) fn text(&self, path: Option<&str>) -> Option<String> {
        match self.is_unix() {
            true => path.map(str::to_string),
            false => Some(SocketAddr::new(ip(self.family.into(), self.address), self.port).to_string()),
        }
    }
}

/// What a thread did with a file in one way (`struct file_row`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct FileRow {
    pub(crate) file: FileName,
    pub(crate) tid: u32,
    /// `FILE_READ` and the others of rows.bpf.h.
    pub(crate) operation: u32,
    pub(crate) pid: u32,
    pub(crate) untimed: u32,
    pub(crate) calls: u64,
    pub(crate) errors: u64,
    pub(crate) bytes: u64,
    pub(crate) total: u64,
    pub(crate) longest: u64,
    pub(crate) first: u64,
    pub(crate) last: u64,
    /// Of the file, bytes; 0 where it has none, or is not known.
    pub(crate) size: u64,
    /// Calls that began where the one before ended.
    pub(crate) in_order: u64,
}

impl FileRow {
    pub(crate) fn read(fields: &mut Fields<'_>) -> Option<FileRow> {
        Some(FileRow {
            file: FileName::read(fields)?,
            tid: fields.u32()?,
            operation: fields.u32()?,
            pid: fields.u32()?,
            untimed: fields.u32()?,
            calls: fields.u64()?,
            errors: fields.u64()?,
            bytes: fields.u64()?,
            total: fields.u64()?,
            longest: fields.u64()?,
            first: fields.u64()?,
            last: fields.u64()?,
            size: fields.u64()?,
            in_order: {
                let in_order = fields.u64()?;
                // Where the last one ended.
                fields.u64()?;
                in_order
            },
        })
    }
}

impl FileRow {
    /// Adds a row of the same key.
    pub(crate) fn add(&mut self, row: &FileRow) {
        // A damaged recording may claim any figures.
        self.untimed = self.untimed.saturating_add(row.untimed);
        let sums = [
            (&mut self.calls, row.calls),
            (&mut self.errors, row.errors),
            (&mut self.bytes, row.bytes),
            (&mut self.total, row.total),
            (&mut self.in_order, row.in_order),
        ];
        for (sum, more) in sums {
            *sum = sum.saturating_add(more);
        }
        self.longest = self.longest.max(row.longest);
        self.first = self.first.min(row.first);
        self.last = self.last.max(row.last);
        self.size = self.size.max(row.size);
    }
}

/// The tables of rows, one a CPU.
pub(crate) type FileTables = RowTables<FILE_ROWS, FILE_ROW_BYTES>;

impl FileTables {
    /// The bytes of all rows in use, which are empty then.
    pub(crate) fn empty_rows(&self) -> Vec<[u8; FILE_ROW_BYTES]> {
        self.empty(|fields| FileRow::read(fields).is_some_and(|row| row.calls > 0))
    }

    /// All rows in use.
    pub(crate) fn rows(&self) -> Vec<FileRow> {
        self.take(|fields| FileRow::read(fields).filter(|row| row.calls > 0))
    }
}
