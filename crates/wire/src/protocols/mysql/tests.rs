//! A conversation of PyMySQL 1.2 with MariaDB 10.11, recorded on a socket.

use super::*;
use crate::conversation::*;
use proptest::prelude::*;

/// Login, a preparation and two executions of it, an error, three results of one query.
#[rustfmt::skip]
pub(crate) const SAID: &[Said] = &[
    ('<', b"d\0\0\0\n5.5.5-10.11.19-MariaDB-0+deb12u1\0\x05\0\0\0MA<J=2$[\0\xfe\xf7\x08\x02\0\xff\x81\x15\0\0\0\0\0\0\x1d\0\0\0!0jJoqjBJ,>1\0mysql_native_password\0"),
    ('>', b"\x85\0\0\x01\r\xa2;\0\xff\xff\xff\0-\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0u\0\x14x\xe8\xe39\xc8v\xbf\xad\xed\xc5\x1c\x9a&\\\xb83Ia3\x86t\0mysql_native_password\05\x0c_client_name\x07pymysql\x0f_client_version\x051.2.4\x04_pid\x041388"),
    ('<', b"\x07\0\0\x02\0\0\0\x02\0\0\0"),
    ('>', b"\x12\0\0\0\x03SET NAMES utf8mb4"),
    ('<', b"\x07\0\0\x01\0\0\0\x02\0\0\0"),
    ('>', b"\x13\0\0\0\x03SET AUTOCOMMIT = 0"),
    ('<', b"\x07\0\0\x01\0\0\0\0\0\0\0"),
    ('>', b"\"\0\0\0\x16select name from users where id=?"),
    ('<', b"\x0c\0\0\x01\0\x02\0\0\0\x01\0\x01\0\0\0\0\x17\0\0\x02\x03def\0\0\0\x01?\0\x0c?\0\0\0\0\0\x06\x80\0\0\0\0\x05\0\0\x03\xfe\0\0\0\0)\0\0\x04\x03def\x01t\x05users\x05users\x04name\x04name\x0c-\0\xfc\xff\x03\0\xfc\x10\0\0\0\0\x05\0\0\x05\xfe\0\0\0\0"),
    ('>', b"\x12\0\0\0\x17\x02\0\0\0\0\x01\0\0\0\0\x01\x03\0\x01\0\0\0"),
    ('<', b"\x01\0\0\x01\x01)\0\0\x02\x03def\x01t\x05users\x05users\x04name\x04name\x0c-\0\xfc\xff\x03\0\xfc\x10\0\0\0\0\x05\0\0\x03\xfe\0\0!\0\x06\0\0\x04\0\0\x03bob\x05\0\0\x05\xfe\0\0!\0"),
    ('>', b"\x12\0\0\0\x17\x02\0\0\0\0\x01\0\0\0\0\x01\x03\0\x01\0\0\0"),
    ('<', b"\x01\0\0\x01\x01)\0\0\x02\x03def\x01t\x05users\x05users\x04name\x04name\x0c-\0\xfc\xff\x03\0\xfc\x10\0\0\0\0\x05\0\0\x03\xfe\0\0!\0\x06\0\0\x04\0\0\x03bob\x05\0\0\x05\xfe\0\0!\0"),
    ('>', b"\x16\0\0\0\x03select * from missing"),
    ('<', b"(\0\0\x01\xffz\x04#42S02Table 't.missing' doesn't exist"),
    ('>', b",\0\0\0\x03select 1; select 2; update users set name=3"),
    ('<', b"\x01\0\0\x01\x01\x17\0\0\x02\x03def\0\0\0\x011\0\x0c?\0\x01\0\0\0\x03\x81\0\0\0\0\x05\0\0\x03\xfe\0\0\t\0\x02\0\0\x04\x011\x05\0\0\x05\xfe\0\0\t\0\x01\0\0\x06\x01\x17\0\0\x07\x03def\0\0\0\x012\0\x0c?\0\x01\0\0\0\x03\x81\0\0\0\0\x05\0\0\x08\xfe\0\0\t\0\x02\0\0\t\x012\x05\0\0\n\xfe\0\0\t\00\0\0\x0b\0\x01\0!\0\0\0(Rows matched: 1  Changed: 1  Warnings: 0"),
];

#[test]
fn answers_of_which_nothing_is_kept_end_with_the_next_question() {
    let mut decoder = (MYSQL.decoder)();
    let mut told = Vec::new();
    for _ in 0..4 {
        told.extend(steps_of(&mut *decoder, '>', b"\x09\0\0\0\x03select 7", 13));
        told.extend(steps_of(&mut *decoder, '<', b"", 151));
    }
    assert_eq!(told[..5], ["0 asked select ?", "0 answered", "0 done", "1 asked select ?", "1 answered"]);
    assert_eq!(told.iter().filter(|step| step.ends_with("done")).count(), 3, "{told:?}");
}

#[test]
fn a_conversation() {
    assert_eq!(
        steps(&MYSQL, SAID),
        [
            "0 asked LOGIN",
            "0 answered OK",
            "0 done",
            "1 asked SET NAMES utf8mb4",
            "1 answered OK",
            "1 done",
            "2 asked SET AUTOCOMMIT = ?",
            "2 answered OK",
            "2 done",
            "3 asked PREPARE select name from users where id=?",
            "3 answered OK",
            "3 done",
            "4 asked select name from users where id=?",
            "4 answered OK",
            "4 done",
            "5 asked select name from users where id=?",
            "5 answered OK",
            "5 done",
            "6 asked select * from missing",
            "6 answered !ERROR 1146",
            "6 done",
            "7 asked select ?; select ?; update users set name=?",
            "7 answered OK",
            "7 done"
        ]
    );
    assert_eq!(steps_of_kept(&MYSQL, SAID), steps_of_heads(&MYSQL, SAID, 240));
}

#[test]
fn chunks_and_kept_bytes() {
    check(&MYSQL, SAID);
}

#[test]
fn what_is_kept_is_no_secret() {
    #[rustfmt::skip]
    let heads: &[Said] = &[
        ('>', b"\x30\0\0\0\x03select * from users where token = 's3cr3tpw'"),
        ('>', b"\x19\0\0\0\x17\x01\0\0\0\0\x01\0\0\0\0\x01\xfd\0\x08s3cr3tpw"),
        ('<', b"\x01\0\0\x01\x01\x0c\0\0\x02\x03def\0\0\0\0\0\0\0\0\x05\0\0\x03\xfe\0\0\x22\0\t\0\0\x04\x08s3cr3tpw"),
        ('<', b"\x1a\0\0\x01\xff\x7a\x04#23000Duplicate s3cr3tpw"),
        ('<', b"s3cr3tpw and other rows that begin anywhere"),
    ];
    check_kept(&MYSQL, heads, b"s3cr3tpw");
    check_kept(&MYSQL, SAID, b"s3cr3tpw");
}

proptest! {
    #[test]
    fn any_bytes_are_survived(noise in noise()) {
        check_noise(&MYSQL, SAID, &noise);
    }
}
