//! Functions of C, C++ and Rust: the C library, allocators, the standard libraries and well-known ones. Source: glibc
//! 2.39 (malloc/, nptl/, string/, stdio-common/, posix/regexec.c), musl, jemalloc, gperftools, libstdc++ (bits/stl_algo.h, bits/regex.h),
//! Rust 1.95's library/ and the crates' documentation.

mod data;
mod machine;
mod text;

use super::CostKind::*;
use super::Role::{self, *};
use super::lists::Group;

/// The lists; of a name in two the earlier holds.
pub(super) static LISTS: [&[Group]; 3] = [machine::LIST, text::LIST, data::LIST];

/// Roles of what has no listed name, by the shared library that it stands in (the file's name begins so).
pub(super) static MODULES: &[(&str, Role)] = &[
    ("libcrypto", Purpose(Crypto)),
    ("libssl", Purpose(Crypto)),
    ("libgnutls", Purpose(Crypto)),
    ("libgcrypt", Purpose(Crypto)),
    ("libnettle", Purpose(Crypto)),
    ("libsodium", Purpose(Crypto)),
    ("libz.so", Purpose(Compression)),
    ("libz-", Purpose(Compression)),
    ("libzstd", Purpose(Compression)),
    ("liblz4", Purpose(Compression)),
    ("liblzma", Purpose(Compression)),
    ("libbz2", Purpose(Compression)),
    ("libbrotli", Purpose(Compression)),
    ("libsnappy", Purpose(Compression)),
    ("libdeflate", Purpose(Compression)),
    ("libpcre", Purpose(Regex)),
    ("libre2", Purpose(Regex)),
    ("libonig", Purpose(Regex)),
    ("libboost_regex", Purpose(Regex)),
    ("libhs.so", Purpose(Regex)),
    ("libtre.so", Purpose(Regex)),
    ("libcrypt.so", Purpose(Crypto)),
    ("libcrypt-", Purpose(Crypto)),
    ("libmbedcrypto", Purpose(Crypto)),
    ("libargon2", Purpose(Crypto)),
    ("libxxhash", Purpose(Hashing)),
    ("liblzo2", Purpose(Compression)),
    ("libjansson", Purpose(Serialization)),
    ("libyajl", Purpose(Serialization)),
    ("libcbor", Purpose(Serialization)),
    ("libmsgpack", Purpose(Serialization)),
    ("libpugixml", Purpose(Serialization)),
    ("libprotobuf", Purpose(Serialization)),
    ("libjson-c", Purpose(Serialization)),
    ("libyaml", Purpose(Serialization)),
    ("libexpat", Purpose(Serialization)),
    ("libxml2", Purpose(Serialization)),
    ("libjemalloc", Mechanism(Allocation)),
    ("libtcmalloc", Mechanism(Allocation)),
    ("libmimalloc", Mechanism(Allocation)),
    ("ld-linux", Purpose(Compilation)),
    ("ld-musl", Plumbing),
    ("libc.so", Plumbing),
    ("libc-2", Plumbing),
    ("libm.so", Plumbing),
    ("libm-2", Plumbing),
    ("libpthread", Plumbing),
    ("libstdc++", Plumbing),
    ("libgcc_s", Plumbing),
    ("libc++", Plumbing),
    ("libjvm.so", Plumbing),
    ("libjli.so", Plumbing),
    ("libjava.so", Plumbing),
    ("libnio.so", Plumbing),
    ("libnet.so", Plumbing),
    ("libpython", Plumbing),
    ("python3", Plumbing),
    ("libnode", Plumbing),
    ("libuv", Plumbing),
    ("[vdso]", Plumbing),
];
