//! Table `stacks`: stacks as text, and where in the program's own code they are.

use super::{Cell, Computed, Derived, Rows, flag, text, whole};
use whyslow_model::StackFrame;

pub(super) static TABLE: Derived = Derived {
    name: "stacks",
    about: "A stack as text: its frames from the outermost to the innermost, separated by semicolons.",
    columns: &[
        whole("stack_id", "", "Its number, as samples and offcpu name it."),
        whole("depth", "", "How many frames it has."),
        flag("cut", "True where more frames were there than are kept."),
        text("stack", "The frames; a function that has no name is [module]."),
        text("leaf", "The innermost frame."),
        text("site", "The innermost function of the program's own code; null where none is known."),
        text("place", "Its source file and line."),
    ],
    fill,
};

fn fill(of: &Computed, rows: &mut Rows) {
    for stack in &of.stacks {
        let names: Vec<String> = stack.frames.iter().rev().map(name).collect();
        let site = of.facts.samples.site_of(stack.id);
        rows.add([
            Cell::whole(Some(stack.id.0)),
            Cell::whole(Some(stack.frames.len())),
            Cell::Flag(stack.cut),
            Cell::Text(names.join(";")),
            Cell::text(names.last().cloned()),
            Cell::text(site.map(|site| site.function)),
            Cell::text(site.and_then(|site| site.place)),
        ]);
    }
}

/// A frame by its function, else by the file that holds the code. What separates frames stands in none.
fn name(frame: &StackFrame) -> String {
    let text = match (&frame.function, &frame.module) {
        (Some(function), _) => function.clone(),
        (None, Some(module)) => match module.starts_with('[') {
            true => module.clone(),
            false => format!("[{}]", module.rsplit('/').next().unwrap_or(module)),
        },
        (None, None) => "[unknown]".to_string(),
    };
    if text.contains(';') { text.replace(';', ":") } else { text }
}
