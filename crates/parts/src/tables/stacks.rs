//! Table `stacks`: where threads ran and waited.

part_table! {
    "stacks": "A stack in a minute: samples of threads on a CPU, and waits.",
    StackRow, sorted by ["host", "service", "start"], over hosts: false;
    service: String, Word, "As in `accounts`.";
    version: Option<String>, Word, "As in `accounts`.";
    process: String, Word, "The process's name.";
    kind: String, Word, "`cpu` or `wait`.";
    line: Option<String>, Word, "The line of the program's own code.";
    stack: String, Word, "The frames, outermost first, with `;` between.";
    samples: u64, U64, "How often it was seen.";
    ns: Option<u64>, U64 "ns", "The time that it stands for.";
}
