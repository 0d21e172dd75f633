//! Table `accounts`: where the time went.

part_table! {
    "accounts": "Where the time of a service went in a minute: the account of `whyslow account`, a row a kind of time.",
    AccountRow, sorted by ["host", "service", "start"], over hosts: false;
    service: String, Word, "The systemd unit, else the container's name or image, else the program's name.";
    version: Option<String>, Word, "The image's tag, else the version in the environment, else the begin of the build-id.";
    process: String, Word, "The process's name.";
    role: String, Word, "The threads' role.";
    state: String, Word, "What the threads did: the states of the account.";
    call: Option<String>, Word, "The call.";
    object: Option<String>, Word, "What it was about: a pattern of files, a peer, a lock.";
    line: Option<String>, Word, "The line of the program's own code.";
    ns: u64, U64 "ns", "The time, over all threads.";
    threads: u32, U32, "How many threads it is of.";
}
