//! A conversation of a script with memcached 1.6.18, recorded on a socket.

use super::*;
use crate::conversation::*;
use proptest::prelude::*;

/// Commands, misses, several in one chunk, errors, meta commands.
#[rustfmt::skip]
pub(crate) const SAID: &[Said] = &[
    ('>', b"set user:1 0 0 5\r\nhello\r\n"),
    ('<', b"STORED\r\n"),
    ('>', b"get user:1 user:2\r\n"),
    ('<', b"VALUE user:1 0 5\r\nhello\r\nEND\r\n"),
    ('>', b"get nope\r\n"),
    ('<', b"END\r\n"),
    ('>', b"gets user:1\r\n"),
    ('<', b"VALUE user:1 0 5 1\r\nhello\r\nEND\r\n"),
    ('>', b"set user:3 0 0 3 noreply\r\nabc\r\n"),
    ('>', b"get user:3\r\nget user:1\r\nincr n 1\r\n"),
    ('<', b"VALUE user:3 0 3\r\nabc\r\nEND\r\nVALUE user:1 0 5\r\nhello\r\nEND\r\nNOT_FOUND\r\n"),
    ('>', b"incr user:1 1\r\n"),
    ('<', b"CLIENT_ERROR cannot increment or decrement non-numeric value\r\n"),
    ('>', b"set a 0 0 x\r\n"),
    ('<', b"CLIENT_ERROR bad command line format\r\n"),
    ('>', b"mg user:1 v t\r\n"),
    ('<', b"VA 5 t-1\r\nhello\r\n"),
    ('>', b"mn\r\n"),
    ('<', b"MN\r\n"),
    ('>', b"ms user:4 2\r\nhi\r\n"),
    ('<', b"HD\r\n"),
    ('>', b"version\r\n"),
    ('<', b"VERSION 1.6.18\r\n"),
    ('>', b"delete nope\r\n"),
    ('<', b"NOT_FOUND\r\n"),
    ('>', b"touch user:1 100\r\n"),
    ('<', b"TOUCHED\r\n"),
    ('>', b"mg nokey v\r\n"),
    ('<', b"EN\r\n"),
];

#[test]
fn a_conversation() {
    assert_eq!(
        steps(&MEMCACHED, SAID),
        [
            "0 asked set user:{…}",
            "0 answered STORED",
            "0 done",
            "1 asked get user:{…} …",
            "1 answered HIT",
            "1 done",
            "2 asked get nope",
            "2 answered MISS",
            "2 done",
            "3 asked gets user:{…}",
            "3 answered HIT",
            "3 done",
            "4 sent set user:{…}",
            "5 asked get user:{…}",
            "6 asked get user:{…}",
            "7 asked incr n",
            "5 answered HIT",
            "5 done",
            "6 answered HIT",
            "6 done",
            "7 answered NOT_FOUND",
            "7 done",
            "8 asked incr user:{…}",
            "8 answered !CLIENT_ERROR",
            "8 done",
            "9 asked set a",
            "9 answered !CLIENT_ERROR",
            "9 done",
            "10 asked mg user:{…}",
            "10 answered HIT",
            "10 done",
            "11 asked mn",
            "11 answered MN",
            "11 done",
            "12 asked ms user:{…}",
            "12 answered HD",
            "12 done",
            "13 asked version",
            "13 answered VERSION",
            "13 done",
            "14 asked delete nope",
            "14 answered NOT_FOUND",
            "14 done",
            "15 asked touch user:{…}",
            "15 answered TOUCHED",
            "15 done",
            "16 asked mg nokey",
            "16 answered MISS",
            "16 done"
        ]
    );
}

/// The binary protocol: a store, a hit, a miss, and quiet ones.
#[rustfmt::skip]
pub(crate) const BINARY: &[Said] = &[
    ('>', b"\x80\x01\0\x06\x08\0\0\0\0\0\0\x11\0\0\0\x07\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0user:9vvv"),
    ('<', b"\x81\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\x07\0\0\0\0\0\0\0\x05"),
    ('>', b"\x80\0\0\x06\0\0\0\0\0\0\0\x06\0\0\0\x08\0\0\0\0\0\0\0\0user:9"),
    ('<', b"\x81\0\0\0\x04\0\0\0\0\0\0\x07\0\0\0\x08\0\0\0\0\0\0\0\x05\0\0\0\0vvv"),
    ('>', b"\x80\0\0\x04\0\0\0\0\0\0\0\x04\0\0\0\t\0\0\0\0\0\0\0\0none"),
    ('<', b"\x81\0\0\0\0\0\0\x01\0\0\0\t\0\0\0\t\0\0\0\0\0\0\0\0Not found"),
    ('>', b"\x80\t\0\x04\0\0\0\0\0\0\0\x04\0\0\0\x01\0\0\0\0\0\0\0\0none\x80\t\0\x06\0\0\0\0\0\0\0\x06\0\0\0\x02\0\0\0\0\0\0\0\0user:9\x80\r\0\x06\0\0\0\0\0\0\0\x06\0\0\0\x03\0\0\0\0\0\0\0\0user:9\x80\n\0\0\0\0\0\0\0\0\0\0\0\0\0\x04\0\0\0\0\0\0\0\0"),
    ('<', b"\x81\t\0\0\x04\0\0\0\0\0\0\x07\0\0\0\x02\0\0\0\0\0\0\0\x05\0\0\0\0vvv\x81\r\0\x06\x04\0\0\0\0\0\0\r\0\0\0\x03\0\0\0\0\0\0\0\x05\0\0\0\0user:9vvv\x81\n\0\0\0\0\0\0\0\0\0\0\0\0\0\x04\0\0\0\0\0\0\0\0"),
];

#[test]
fn a_binary_conversation() {
    assert_eq!(
        steps(&MEMCACHED, BINARY),
        [
            "0 asked set user:{…}",
            "0 answered OK",
            "0 done",
            "1 asked get user:{…}",
            "1 answered OK",
            "1 done",
            "2 asked get none",
            "2 answered MISS",
            "2 done",
            "3 sent getQ none",
            "4 sent getQ user:{…}",
            "5 sent getKQ user:{…}",
            "6 asked noop",
            "6 answered OK",
            "6 done"
        ]
    );
    check(&MEMCACHED, BINARY);
}

#[test]
fn chunks_and_kept_bytes() {
    check(&MEMCACHED, SAID);
}

#[test]
fn what_is_kept_is_no_secret() {
    #[rustfmt::skip]
    let heads: &[Said] = &[
        ('>', b"set user:7 0 0 8\r\ns3cretpw\r\nget x\r\n"),
        ('>', b"ms user:7 8\r\ns3cretpw\r\n"),
        ('>', b"get session:9f8e7s3cretpw39281706\r\n"),
        ('<', b"VALUE user:7 0 8\r\ns3cretpw\r\nEND\r\n"),
        ('<', b"VA 8 t-1\r\ns3cretpw\r\n"),
        ('<', b"CLIENT_ERROR bad s3cretpw\r\n"),
        ('<', b"s3cretpw and more\r\n"),
        ('>', b"\x80\x01\0\x06\x08\0\0\0\0\0\0\x16\0\0\0\x07\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0user:9s3cretpw"),
        ('>', b"\x80\x21\0\x05\0\0\0\0\0\0\0\x10\0\0\0\x07\0\0\0\0\0\0\0\0PLAIN\0me\0s3cretpw"),
    ];
    check_kept(&MEMCACHED, heads, b"s3cretpw");
    check_kept(&MEMCACHED, SAID, b"s3cretpw");
}

proptest! {
    #[test]
    fn any_bytes_are_survived(noise in noise()) {
        check_noise(&MEMCACHED, SAID, &noise);
    }
}
