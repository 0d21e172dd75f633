//! Conversations of asyncpg 0.32, psycopg 2.9, psql and pgbench with PostgreSQL 15, recorded on a socket.

use super::*;
use crate::conversation::*;
use proptest::prelude::*;

/// asyncpg: start with an encryption that is refused and a password, prepared statements, a batch, an error, a cursor,
/// COPY, NOTIFY.
#[rustfmt::skip]
pub(crate) const SAID: &[Said] = &[
    ('>', b"\0\0\0\x08\x04\xd2\x16/"),
    ('<', b"N"),
    ('>', b"\0\0\0;\0\x03\0\0client_encoding\0'utf-8'\0user\0me\0database\0postgres\0\0"),
    ('<', b"R\0\0\0\x17\0\0\0\nSCRAM-SHA-256\0\0"),
    ('>', b"p\0\0\0@SCRAM-SHA-256\0\0\0\0*n,,n=me,r=+ue83Fl2KWYASU5jlAGUy3WNClyHk2nV"),
    ('<', b"R\0\0\0d\0\0\0\x0br=+ue83Fl2KWYASU5jlAGUy3WNClyHk2nVKT6YyBiXdMhqxVbIC/vAIjOL,s=YtE8Z/qnLNVKjArcdwNh7Q==,i=4096"),
    ('>', b"p\0\0\0tc=biws,r=+ue83Fl2KWYASU5jlAGUy3WNClyHk2nVKT6YyBiXdMhqxVbIC/vAIjOL,p=c+Gmyto/u64Pgur7ALtMkRT5RmSEBlh4W/ecYk5RRwk="),
    ('<', b"R\0\0\06\0\0\0\x0cv=+nPQeBRbN2ZfzcozLzdn7PRrHnFKh8SJRUrv83iCMxw=R\0\0\0\x08\0\0\0\0S\0\0\0\x16application_name\0\0S\0\0\0\x19client_encoding\0UTF8\0S\0\0\0\x17DateStyle\0ISO, MDY\0S\0\0\0&default_transaction_read_only\0off\0S\0\0\0\x17in_hot_standby\0off\0S\0\0\0\x19integer_datetimes\0on\0S\0\0\0\x1bIntervalStyle\0postgres\0S\0\0\0\x14is_superuser\0on\0S\0\0\0\x19server_encoding\0UTF8\0S\0\0\02server_version\015.18 (Debian 15.18-0+deb12u1)\0S\0\0\0\x1dsession_authorization\0me\0S\0\0\0#standard_conforming_strings\0on\0S\0\0\0\x15TimeZone\0Etc/UTC\0K\0\0\0\x0c\0\0\x02S^x\xff;Z\0\0\0\x05I"),
    ('>', b"Q\0\0\09create temp table users(id int, name text, bio text)\0"),
    ('<', b"C\0\0\0\x11CREATE TABLE\0Z\0\0\0\x05I"),
    ('>', b"P\0\0\0<__asyncpg_stmt_1__\0insert into users values($1,$2,$3)\0\0\0D\0\0\0\x18S__asyncpg_stmt_1__\0H\0\0\0\x04"),
    ('<', b"1\0\0\0\x04t\0\0\0\x12\0\x03\0\0\0\x17\0\0\0\x19\0\0\0\x19n\0\0\0\x04"),
    ('>', b"B\0\0\0M\0__asyncpg_stmt_1__\0\0\x03\0\x01\0\x01\0\x01\0\x03\0\0\0\x04\0\0\0\0\0\0\0\x03bob\0\0\0\x14xxxxxxxxxxxxxxxxxxxx\0\x01\0\x01E\0\0\0\t\0\0\0\0\0S\0\0\0\x04"),
    ('<', b"2\0\0\0\x04C\0\0\0\x0fINSERT 0 1\0Z\0\0\0\x05I"),
    ('>', b"B\0\0\09\0__asyncpg_stmt_1__\0\0\x03\0\x01\0\x01\0\x01\0\x03\0\0\0\x04\0\0\0\0\0\0\0\x02n0\0\0\0\x01y\0\x01\0\x01E\0\0\0\t\0\0\0\0\0B\0\0\09\0__asyncpg_stmt_1__\0\0\x03\0\x01\0\x01\0\x01\0\x03\0\0\0\x04\0\0\0\x01\0\0\0\x02n1\0\0\0\x01y\0\x01\0\x01E\0\0\0\t\0\0\0\0\0B\0\0\09\0__asyncpg_stmt_1__\0\0\x03\0\x01\0\x01\0\x01\0\x03\0\0\0\x04\0\0\0\x02\0\0\0\x02n2\0\0\0\x01y\0\x01\0\x01E\0\0\0\t\0\0\0\0\0B\0\0\09\0__asyncpg_stmt_1__\0\0\x03\0\x01\0\x01\0\x01\0\x03\0\0\0\x04\0\0\0\x03\0\0\0\x02n3\0\0\0\x01y\0\x01\0\x01E\0\0\0\t\0\0\0\0\0S\0\0\0\x04"),
    ('<', b"2\0\0\0\x04C\0\0\0\x0fINSERT 0 1\02\0\0\0\x04C\0\0\0\x0fINSERT 0 1\02\0\0\0\x04C\0\0\0\x0fINSERT 0 1\02\0\0\0\x04C\0\0\0\x0fINSERT 0 1\0Z\0\0\0\x05I"),
    ('>', b"P\0\0\0<__asyncpg_stmt_4__\0select nope from users where id=$1\0\0\0D\0\0\0\x18S__asyncpg_stmt_4__\0H\0\0\0\x04"),
    ('<', b"E\0\0\0\xa0SERROR\0VERROR\0C42703\0Mcolumn \"nope\" does not exist\0HPerhaps you meant to reference the column \"users.name\".\0P8\0Fparse_relation.c\0L3665\0RerrorMissingColumn\0\0"),
    ('>', b"S\0\0\0\x04"),
    ('<', b"Z\0\0\0\x05I"),
    ('>', b"Q\0\0\0\x0bBEGIN;\0"),
    ('<', b"C\0\0\0\nBEGIN\0Z\0\0\0\x05T"),
    ('>', b"P\0\0\0<__asyncpg_stmt_5__\0select generate_series(1,200) as g\0\0\0D\0\0\0\x18S__asyncpg_stmt_5__\0H\0\0\0\x04"),
    ('<', b"1\0\0\0\x04t\0\0\0\x06\0\0T\0\0\0\x1a\0\x01g\0\0\0\0\0\0\0\0\0\0\x17\0\x04\xff\xff\xff\xff\0\0"),
    ('>', b"B\0\0\06__asyncpg_portal_6__\0__asyncpg_stmt_5__\0\0\x01\0\x01\0\0\0\x01\0\x01E\0\0\0\x1d__asyncpg_portal_6__\0\0\0\02S\0\0\0\x04"),
    ('<', b"2\0\0\0\x04D\0\0\0\x0e\0\x01\0\0\0\x04\0\0\0\x01D\0\0\0\x0e\0\x01\0\0\0\x04\0\0\0\x02D\0\0\0\x0e\0\x01\0\0\0\x04\0\0\0\x03D\0\0\0\x0e\0\x01\0\0\0\x04\0\0\0\x04D\0\0\0\x0e\0\x01\0\0\0\x04\0\0\0\x05D\0\0\0\x0e\0\x01\0\0\0\x04\0\0\0\x06D\0\0\0\x0e\0\x01\0\0\0\x04\0\0\0\x07D\0\0\0\x0e\0\x01\0\0\0\x04\0\0\0\x08D\0\0\0\x0e\0\x01\0\0\0\x04\0\0\0\tD\0\0\0\x0e\0\x01\0\0\0\x04\0\0\0\nD\0\0\0\x0e\0\x01\0\0\0\x04\0\0\0\x0bD\0\0\0\x0e\0\x01\0\0\0\x04\0\0\0\x0cD\0\0\0\x0e\0\x01\0\0\0\x04\0\0\0\rD\0\0\0\x0e\0\x01\0\0\0\x04\0\0\0\x0eD\0\0\0\x0e\0\x01\0\0\0\x04\0\0\0\x0fD\0\0\0\x0e\0\x01\0\0\0\x04\0\0\0\x10D\0\0\0\x0e\0\x01\0\0\0\x04\0\0\0\x11D\0\0\0\x0e\0\x01\0\0\0\x04\0\0\0\x12D\0\0\0\x0e\0\x01\0\0\0\x04\0\0\0\x13D\0\0\0\x0e\0\x01\0\0\0\x04\0\0\0\x14D\0\0\0\x0e\0\x01\0\0\0\x04\0\0\0\x15D\0\0\0\x0e\0\x01\0\0\0\x04\0\0\0\x16D\0\0\0\x0e\0\x01\0\0\0\x04\0\0\0\x17D\0\0\0\x0e\0\x01\0\0\0\x04\0\0\0\x18D\0\0\0\x0e\0\x01\0\0\0\x04\0\0\0\x19D\0\0\0\x0e\0\x01\0\0\0\x04\0\0\0\x1aD\0\0\0\x0e\0\x01\0\0\0\x04\0\0\0\x1bD\0\0\0\x0e\0\x01\0\0\0\x04\0\0\0\x1cD\0\0\0\x0e\0\x01\0\0\0\x04\0\0\0\x1dD\0\0\0\x0e\0\x01\0\0\0\x04\0\0\0\x1eD\0\0\0\x0e\0\x01\0\0\0\x04\0\0\0\x1fD\0\0\0\x0e\0\x01\0\0\0\x04\0\0\0 D\0\0\0\x0e\0\x01\0\0\0\x04\0\0\0!D\0\0\0\x0e\0\x01\0\0\0\x04\0\0\0\"D\0\0\0\x0e\0\x01\0\0\0\x04\0\0\0#D\0\0\0\x0e\0\x01\0\0\0\x04\0\0\0$D\0\0\0\x0e\0\x01\0\0\0\x04\0\0\0%D\0\0\0\x0e\0\x01\0\0\0\x04\0\0\0&D\0\0\0\x0e\0\x01\0\0\0\x04\0\0\0'D\0\0\0\x0e\0\x01\0\0\0\x04\0\0\0(D\0\0\0\x0e\0\x01\0\0\0\x04\0\0\0)D\0\0\0\x0e\0\x01\0\0\0\x04\0\0\0*D\0\0\0\x0e\0\x01\0\0\0\x04\0\0\0+D\0\0\0\x0e\0\x01\0\0\0\x04\0\0\0,D\0\0\0\x0e\0\x01\0\0\0\x04\0\0\0-D\0\0\0\x0e\0\x01\0\0\0\x04\0\0\0.D\0\0\0\x0e\0\x01\0\0\0\x04\0\0\0/D\0\0\0\x0e\0\x01\0\0\0\x04\0\0\00D\0\0\0\x0e\0\x01\0\0\0\x04\0\0\01D\0\0\0\x0e\0\x01\0\0\0\x04\0\0\02s\0\0\0\x04Z\0\0\0\x05T"),
    ('>', b"E\0\0\0\x1d__asyncpg_portal_6__\0\0\0\02S\0\0\0\x04"),
    ('<', b"C\0\0\0\rSELECT 0\0Z\0\0\0\x05T"),
    ('>', b"C\0\0\0\x1aP__asyncpg_portal_6__\0S\0\0\0\x04"),
    ('<', b"3\0\0\0\x04Z\0\0\0\x05T"),
    ('>', b"Q\0\0\0-COPY \"users\" FROM STDIN (FORMAT binary) \0"),
    ('>', b"d\0\0\0APGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0\0\x03\0\0\0\x04\0\0\0\t\0\0\0\x01c\0\0\0\x01d\0\x03\0\0\0\x04\0\0\0\n\0\0\0\x01e\0\0\0\x01f\xff\xff"),
    ('>', b"c\0\0\0\x04"),
    ('<', b"G\0\0\0\r\x01\0\x03\0\x01\0\x01\0\x01"),
    ('<', b"C\0\0\0\x0bCOPY 2\0Z\0\0\0\x05I"),
    ('>', b"Q\0\0\0\x17notify ch, 'hello'\0"),
    ('<', b"C\0\0\0\x0bNOTIFY\0A\0\0\0\x11\0\0\x02Sch\0hello\0Z\0\0\0\x05I"),
];

/// pgbench: a pipeline of two statements.
#[rustfmt::skip]
const PIPELINE: &[Said] = &[
    ('>', b"P\0\0\0\x14P_0\0select 1;\0\0\0S\0\0\0\x04"),
    ('<', b"1\0\0\0\x04Z\0\0\0\x05I"),
    ('>', b"P\0\0\0 P_1\0select 2 where 3 = 4;\0\0\0S\0\0\0\x04"),
    ('<', b"1\0\0\0\x04Z\0\0\0\x05I"),
    ('>', b"B\0\0\0\x11\0P_0\0\0\0\0\0\0\x01\0\0D\0\0\0\x06P\0E\0\0\0\t\0\0\0\0\0B\0\0\0\x11\0P_1\0\0\0\0\0\0\x01\0\0D\0\0\0\x06P\0E\0\0\0\t\0\0\0\0\0S\0\0\0\x04"),
    ('<', b"2\0\0\0\x04T\0\0\0!\0\x01?column?\0\0\0\0\0\0\0\0\0\0\x17\0\x04\xff\xff\xff\xff\0\0D\0\0\0\x0b\0\x01\0\0\0\x011C\0\0\0\rSELECT 1\02\0\0\0\x04T\0\0\0!\0\x01?column?\0\0\0\0\0\0\0\0\0\0\x17\0\x04\xff\xff\xff\xff\0\0C\0\0\0\rSELECT 0\0Z\0\0\0\x05I"),
];

#[test]
fn a_conversation() {
    let expected = [
        "0 asked SSLREQUEST",
        "0 answered refused",
        "0 done",
        "1 asked STARTUP",
        "1 answered",
        "1 asks",
        "1 answers",
        "1 asks",
        "1 answers",
        "1 answered OK",
        "1 done",
        "2 asked create temp table users(id int, name text, bio text)",
        "2 answered OK",
        "2 done",
        "3 asked PREPARE insert into users values(?)",
        "3 answered OK",
        "3 done",
        "4 asked insert into users values(?)",
        "4 answered OK",
        "4 done",
        // Four rows in one batch.
        "5 asked insert into users values(?)",
        "5 answered OK",
        "5 done",
        "6 asked PREPARE select nope from users where id=?",
        "6 answered !ERROR 42703",
        "6 answers",
        "6 done",
        "7 asked BEGIN",
        "7 answered OK",
        "7 done",
        "8 asked PREPARE select generate_series(?) as g",
        "8 answered OK",
        "8 done",
        "9 asked select generate_series(?) as g",
        "9 answered OK",
        "9 done",
        "10 asked select generate_series(?) as g",
        "10 answered OK",
        "10 done",
        "11 asked CLOSE",
        "11 answered OK",
        "11 done",
        "12 asked COPY ? FROM STDIN (FORMAT binary)",
        "12 asks",
        "12 asks",
        "12 answered",
        "12 answered OK",
        "12 done",
        "13 asked notify ch, ?",
        "13 answered OK",
        "13 done",
    ];
    let told = steps(&POSTGRES, SAID);
    for (told, expected) in told.iter().zip(expected) {
        assert_eq!(told, expected);
    }
    assert_eq!(told.len(), expected.len());
}

#[test]
fn answers_of_which_nothing_is_kept_end_with_the_next_question() {
    let mut decoder = (POSTGRES.decoder)();
    let mut told = Vec::new();
    for _ in 0..4 {
        told.extend(steps_of(&mut *decoder, '>', b"Q\0\0\0\x0eselect 7;\0", 15));
        told.extend(steps_of(&mut *decoder, '<', b"", 151));
        told.extend(steps_of(&mut *decoder, '<', b"", 20));
    }
    let done = told.iter().filter(|step| step.ends_with("done")).count();
    assert_eq!(done, 3, "all but the last, which may go on: {told:?}");
    assert_eq!(told[..5], ["0 asked select ?", "0 answered", "0 answers", "0 done", "1 asked select ?"]);
}

#[test]
fn the_longest_length_that_can_be_written_is_no_message() {
    for kind in 0..=u8::MAX {
        for direction in [Direction::Request, Direction::Response] {
            assert_eq!(message_len(&[kind, 0xff, 0xff, 0xff, 0xff], direction), None);
        }
    }
}

#[test]
fn a_pipeline() {
    assert_eq!(
        steps(&POSTGRES, PIPELINE),
        [
            "0 asked PREPARE select ?",
            "0 answered OK",
            "0 done",
            "1 asked PREPARE select ? where ? = ?",
            "1 answered OK",
            "1 done",
            "2 asked select ?",
            "3 asked select ? where ? = ?",
            "2 answered OK",
            "2 done",
            "3 answered OK",
            "3 done",
        ]
    );
}

#[test]
fn where_chunks_end_does_not_matter() {
    for said in [SAID, PIPELINE] {
        let whole: Vec<_> = steps(&POSTGRES, said).into_iter().filter(|step| !goes_on(step)).collect();
        for size in [1, 2, 3, 5, 7, 11, 64, 200] {
            assert_eq!(steps_in_pieces(&POSTGRES, said, size), whole, "{size}");
        }
    }
}

#[test]
fn first_bytes_are_enough_to_pair() {
    for kept in [24, 32, 48, 64] {
        let told = steps_of_heads(&POSTGRES, &SAID[2..], kept);
        for ask in told.iter().filter(|step| step.contains(" asked ")) {
            let key = ask.split(' ').next().unwrap();
            let ends = told.iter().filter(|step| **step == format!("{key} done")).count();
            assert!(ends == 1 || ask.contains("notify"), "{kept}: {ask} in {told:#?}");
        }
        assert_eq!(told.iter().filter(|step| step.contains("answered !")).count(), 1, "{kept}: {told:#?}");
    }
}

#[test]
fn what_is_kept_tells_the_same() {
    for said in [SAID, PIPELINE] {
        assert_eq!(steps_of_kept(&POSTGRES, said), steps_of_heads(&POSTGRES, said, 240));
    }
}

#[test]
fn what_is_kept_is_no_secret() {
    for (way, secret) in [
        ('>', &b"p\0\0\0\x10s3cretpass\0\0"[..]),
        ('>', b"\0\0\0\x2d\0\x03\0\0user\0s3cret\0options\0-c x=s3cret\0\0\0"),
        ('>', b"Q\0\0\0\x30SELECT * FROM t WHERE token = 's3cret' -- s3cret\0"),
        ('>', b"P\0\0\0\x2cname\0ALTER USER bob PASSWORD 's3cret'\0\0\0S\0\0\0\x04"),
        ('>', b"B\0\0\0\x1a\0name\0\0\0\0\x01\0\0\0\x06s3cret\0\0S\0\0\0\x04"),
        ('>', b"d\0\0\0\x0bs3cret\nd\0\0\0\x0bs3cret\nc\0\0\0\x04"),
        ('<', b"D\0\0\0\x10\0\x01\0\0\0\x06s3cretZ\0\0\0\x05I"),
        ('<', b"E\0\0\0\x30SERROR\0VERROR\0C23505\0Mkey (s3cret) exists\0\0Z\0\0\0\x05I"),
        ('<', b"R\0\0\0\x12\0\0\0\x0bs3cretsalt"),
        ('<', b"S\0\0\0\x1fapplication_name\0s3cretname\0Z\0\0\0\x05I"),
    ] {
        for end in 5..=secret.len() {
            let mut kept = Vec::new();
            (POSTGRES.reduce)(&secret[..end], direction(way), &mut kept);
            assert!(memchr::memmem::find(&kept, b"s3c").is_none(), "{kept:?}");
        }
    }
}

#[test]
fn encryption_ends_what_is_known() {
    let said: &[Said] = &[('>', b"\0\0\0\x08\x04\xd2\x16/"), ('<', b"S"), ('>', b"Q\0\0\0\x0dselect 1\0")];
    assert_eq!(steps(&POSTGRES, said), ["0 asked SSLREQUEST", "0 answered encrypted", "0 done"]);
}

#[test]
fn rows_with_missing_bytes_end_with_ready_for_query() {
    let mut decoder = (POSTGRES.decoder)();
    let mut told = steps_of(&mut *decoder, '>', b"Q\0\0\0\x0dselect a\0", 14);
    // The first row is longer than its chunk; a header is among what is missing of the second.
    told.extend(steps_of(&mut *decoder, '<', b"T\0\0\0\x06\0\0D\0\0\x20\0\0\x01\0\0\x1f\0xx", 4096));
    told.extend(steps_of(&mut *decoder, '<', b"xxxx", 8192));
    let end = b"xxxxxxxxC\0\0\0\x0dSELECT 9\0Z\0\0\0\x05I";
    told.extend(steps_of(&mut *decoder, '<', end, end.len() as u64));
    assert_eq!(told, ["0 asked select a", "0 answered", "0 answers", "0 answers", "0 done"]);
}

proptest! {
    #[test]
    fn any_bytes_are_survived(
        chunks in prop::collection::vec((prop::sample::select(vec!['>', '<']), prop::collection::vec(any::<u8>(), 0..40), 0u64..60, 0usize..SAID.len()), 0..30),
    ) {
        let mut decoder = (POSTGRES.decoder)();
        for (way, noise, missing, at) in chunks {
            let (said_way, said) = SAID[at];
            steps_of(&mut *decoder, said_way, said, said.len() as u64);
            steps_of(&mut *decoder, way, &noise, noise.len() as u64 + missing);
            let mut kept = Vec::new();
            (POSTGRES.reduce)(&noise, direction(way), &mut kept);
            prop_assert!(kept.len() <= crate::MAX_REDUCED);
        }
    }
}
