//! df: `-h`, `-i`, `-T`, blocks of any size. Rows are read from their share of use on, which no language changes.
//!
//! ```text
//! Filesystem     Type  Size  Used Avail Use% Mounted on
//! /dev/vda1      ext4   40G   12G   26G  32% /
//! ```

use super::line::{Line, number, size};
use super::{Block, Out, Step, Tool};
use whyslow_model::{Entity, FigureRow, FigureTable, Metric, Trait};

pub(super) static DF: Tool = Tool { begins, row: |_| false, open: || Box::<Df>::default() };

fn begins(line: &Line<'_>) -> bool {
    let first = line.word(0);
    let named = matches!(
        first,
        "Filesystem" | "Dateisystem" | "Sys." | "S.ficheros" | "File" | "Файл.система" | "文件系统"
    );
    named && line.words.len() >= 5 && line.words.iter().any(|word| word.ends_with('%') || *word == "Capacity")
}

#[derive(Default)]
struct Df {
    /// `-i`: inodes, not bytes.
    inodes: bool,
    /// Bytes of a block.
    block: f64,
    types: bool,
    /// A device whose name was too long for its row.
    device: Option<String>,
    table: Option<FigureTable>,
}

impl Block for Df {
    fn line(&mut self, line: &Line<'_>, out: &mut Out<'_>) -> Step {
        if begins(line) {
            self.end(out);
            self.inodes = line.has("IFree") || line.words.iter().any(|word| word.starts_with("Inode"));
            self.types = line.has("Type") || line.has("Typ");
            let blocks = line
                .words
                .iter()
                .find(|word| word.contains("locks") || word.contains("löcke") || word.contains("blocs"));
            let digits = |word: &&str| word.split('-').next().and_then(|unit| size(unit, 1.0));
            self.block = blocks.and_then(digits).unwrap_or(1024.0);
            return Step::Used;
        }
        if line.words.len() == 1 && line.word(0).contains('/') {
            self.device = Some(line.word(0).to_string());
            return Step::Used;
        }
        let share = |word: &&str| word.strip_suffix('%').is_some_and(|figure| number(figure).is_some());
        let Some(at) = line.words.iter().position(|word| share(word) || *word == "-").filter(|at| *at >= 3)
        else {
            self.device = None;
            return Step::Other;
        };
        let mount = line.rest(at + 1);
        let cell = |back: usize| at.checked_sub(back).and_then(|at| size(line.word(at), self.block));
        let (Some(total), Some(used), Some(free), false) = (cell(3), cell(2), cell(1), mount.is_empty())
        else {
            return Step::Damaged("a file system with its size, its use and where it is mounted");
        };
        let mut row = FigureRow::new(Entity::Mount(mount.into()));
        if self.inodes {
            // Counted, not in blocks.
            if let Some(free) = at.checked_sub(1).and_then(|at| size(line.word(at), 1.0)) {
                row.set(Metric::InodesFree, free);
            }
        } else {
            // What only root may use is neither used nor free.
            row.set(Metric::FsSize, total.max(used + free));
            row.set(Metric::FsUsed, used);
        }
        let held = self.device.take();
        let device = held.as_deref().unwrap_or(line.word(0));
        row.say(Trait::OnDevice, device.strip_prefix("/dev/").unwrap_or(device));
        if self.types
            && let Some(kind) = at.checked_sub(4)
        {
            row.say(Trait::FsType, line.word(kind));
        }
        line.sign(&mut row);
        let table = self.table.get_or_insert_with(|| out.table("df"));
        table.rows.push(row);
        if table.rows.len() >= 65_536 {
            self.end(out);
        }
        Step::Used
    }

    fn end(&mut self, out: &mut Out<'_>) {
        if let Some(table) = self.table.take() {
            out.push(table);
        }
    }
}
