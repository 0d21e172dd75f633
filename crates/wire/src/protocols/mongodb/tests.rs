//! A conversation of PyMongo 4.20, recorded on a socket; its peer was a script that answered as a server does.

use super::*;
use crate::conversation::*;
use proptest::prelude::*;

/// Commands, a duplicate key, a failed command, an insert without an answer.
#[rustfmt::skip]
pub(crate) const SAID: &[Said] = &[
    ('>', b"o\0\0\0i\x98<d\0\0\0\0\xdd\x07\0\0\0\0\0\0\0Z\0\0\0\x02find\0\x06\0\0\0users\0\x03filter\0\x19\0\0\0\x02email\0\t\0\0\0secret@x\0\0\x10limit\0\x01\0\0\0\x08singleBatch\0\x01\x02$db\0\x02\0\0\0t\0\0"),
    ('<', b"\x7f\0\0\0\xea\x03\0\0i\x98<d\xdd\x07\0\0\0\0\0\0\0j\0\0\0\x03cursor\0Q\0\0\0\x04firstBatch\0$\0\0\0\x030\0\x1c\0\0\0\x10_id\0\x01\0\0\0\x02name\0\x04\0\0\0bob\0\0\0\x12id\0\0\0\0\0\0\0\0\0\x02ns\0\x08\0\0\0t.users\0\0\x01ok\0\0\0\0\0\0\0\xf0?\0"),
    ('>', b"c\0\0\0sH3f\0\0\0\0\xdd\x07\0\0\0\0\0\0\0N\0\0\0\x02find\0\x06\0\0\0users\0\x03filter\0\x17\0\0\0\x02token\0\x07\0\0\0s3cret\0\0\x10batchSize\0\x01\0\0\0\x02$db\0\x02\0\0\0t\0\0"),
    ('<', b"\x7f\0\0\0\xeb\x03\0\0sH3f\xdd\x07\0\0\0\0\0\0\0j\0\0\0\x03cursor\0Q\0\0\0\x04firstBatch\0$\0\0\0\x030\0\x1c\0\0\0\x10_id\0\x01\0\0\0\x02name\0\x04\0\0\0bob\0\0\0\x12id\0M\0\0\0\0\0\0\0\x02ns\0\x08\0\0\0t.users\0\0\x01ok\0\0\0\0\0\0\0\xf0?\0"),
    ('>', b"[\0\0\0Q\xdc\xb0t\0\0\0\0\xdd\x07\0\0\0\0\0\0\0F\0\0\0\x12getMore\0M\0\0\0\0\0\0\0\x02collection\0\x06\0\0\0users\0\x10batchSize\0\x01\0\0\0\x02$db\0\x02\0\0\0t\0\0"),
    ('<', b"p\0\0\0\xec\x03\0\0Q\xdc\xb0t\xdd\x07\0\0\0\0\0\0\0[\0\0\0\x03cursor\0B\0\0\0\x04nextBatch\0\x16\0\0\0\x030\0\x0e\0\0\0\x10_id\0\x02\0\0\0\0\0\x12id\0\0\0\0\0\0\0\0\0\x02ns\0\x08\0\0\0t.users\0\0\x01ok\0\0\0\0\0\0\0\xf0?\0"),
    ('>', b"u\0\0\0\xff\\I\x19\0\0\0\0\xdd\x07\0\0\0\0\0\0\0,\0\0\0\x02insert\0\x06\0\0\0users\0\x08ordered\0\x01\x02$db\0\x02\0\0\0t\0\0\x013\0\0\0documents\0%\0\0\0\x10_id\0\x01\0\0\0\x02password\0\t\0\0\0s3cretpw\0\0"),
    ('<', b"-\0\0\0\xed\x03\0\0\xff\\I\x19\xdd\x07\0\0\0\0\0\0\0\x18\0\0\0\x10n\0\x01\0\0\0\x01ok\0\0\0\0\0\0\0\xf0?\0"),
    ('>', b"]\0\0\0\xecXUb\0\0\0\0\xdd\x07\0\0\0\0\0\0\0+\0\0\0\x02insert\0\x05\0\0\0dups\0\x08ordered\0\x01\x02$db\0\x02\0\0\0t\0\0\x01\x1c\0\0\0documents\0\x0e\0\0\0\x10_id\0\x01\0\0\0\0"),
    ('<', b"\x83\0\0\0\xef\x03\0\0\xecXUb\xdd\x07\0\0\0\0\0\0\0n\0\0\0\x10n\0\0\0\0\0\x04writeErrors\0I\0\0\0\x030\0A\0\0\0\x10index\0\0\0\0\0\x10code\0\xf8*\0\0\x02errmsg\0\x1b\0\0\0E11000 duplicate key error\0\0\0\x01ok\0\0\0\0\0\0\0\xf0?\0"),
    ('>', b"\x9f\0\0\0)\x1f\x8e#\0\0\0\0\xdd\x07\0\0\0\0\0\0\0,\0\0\0\x02update\0\x06\0\0\0users\0\x08ordered\0\x01\x02$db\0\x02\0\0\0t\0\0\x01]\0\0\0updates\0Q\0\0\0\x03q\0\x0e\0\0\0\x10_id\0\x01\0\0\0\0\x03u\0'\0\0\0\x03$set\0\x1c\0\0\0\x02password\0\t\0\0\0s3cretpw\0\0\0\x08multi\0\0\x08upsert\0\0\0"),
    ('<', b"<\0\0\0\xf0\x03\0\0)\x1f\x8e#\xdd\x07\0\0\0\0\0\0\0'\0\0\0\x10n\0\x01\0\0\0\x10nModified\0\x01\0\0\0\x01ok\0\0\0\0\0\0\0\xf0?\0"),
    ('>', b"i\0\0\0\xcd|\xe8F\0\0\0\0\xdd\x07\0\0\0\0\0\0\0T\0\0\0\x02aggregate\0\x06\0\0\0users\0\x04pipeline\0\x18\0\0\0\x030\0\x10\0\0\0\x10$nope\0\x01\0\0\0\0\0\x03cursor\0\x05\0\0\0\0\x02$db\0\x02\0\0\0t\0\0"),
    ('<', b"m\0\0\0\xf1\x03\0\0\xcd|\xe8F\xdd\x07\0\0\0\0\0\0\0X\0\0\0\x01ok\0\0\0\0\0\0\0\0\0\x02errmsg\0\x15\0\0\0no such stage secret\0\x10code\0\x84\x9d\0\0\x02codeName\0\x0e\0\0\0Location40324\0\0"),
    ('>', b"\x8c\0\0\0\xbaX\x1b=\0\0\0\0\xdd\x07\0\0\x02\0\0\0\0D\0\0\0\x02insert\0\x04\0\0\0log\0\x08ordered\0\x01\x03writeConcern\0\x0c\0\0\0\x10w\0\0\0\0\0\0\x02$db\0\x02\0\0\0t\0\0\x012\0\0\0documents\0$\0\0\0\x07_id\0k\x02:\xeb\xaf^\x18\x15w\x8e\"\x96\x02m\0\x07\0\0\0s3cret\0\0"),
];

#[test]
fn a_conversation() {
    assert_eq!(
        steps(&MONGODB, SAID),
        [
            "0 asked find users",
            "0 answered OK",
            "0 done",
            "1 asked find users",
            "1 answered OK",
            "1 done",
            "2 asked getMore users",
            "2 answered OK",
            "2 done",
            "3 asked insert users",
            "3 answered OK",
            "3 done",
            "4 asked insert dups",
            "4 answered !ERROR 11000",
            "4 done",
            "5 asked update users",
            "5 answered OK",
            "5 done",
            "6 asked aggregate users",
            "6 answered !Location40324",
            "6 done",
            "7 sent insert log"
        ]
    );
    assert_eq!(steps_of_kept(&MONGODB, SAID), steps_of_heads(&MONGODB, SAID, 240));
}

#[test]
fn a_stream_of_answers_is_one() {
    // `hello` with `exhaustAllowed`: each answer but the last says that more come, to the one before it.
    let said: &[Said] = &[
        ('>', b"%\0\0\0\x07\0\0\0\0\0\0\0\xdd\x07\0\0\0\0\x01\0\0\x10\0\0\0\x10hello\0\x01\0\0\0\0"),
        ('<', b"&\0\0\0P\0\0\0\x07\0\0\0\xdd\x07\0\0\x02\0\0\0\0\x11\0\0\0\x01ok\0\0\0\0\0\0\0\xf0?\0"),
        ('<', b"&\0\0\0Q\0\0\0P\0\0\0\xdd\x07\0\0\0\0\0\0\0\x11\0\0\0\x01ok\0\0\0\0\0\0\0\xf0?\0"),
    ];
    assert_eq!(steps(&MONGODB, said), ["0 asked hello", "0 answered OK", "0 answered OK", "0 done"]);
}

#[test]
fn chunks_and_kept_bytes() {
    check(&MONGODB, SAID);
}

#[test]
fn what_is_kept_is_no_secret() {
    #[rustfmt::skip]
    let heads: &[Said] = &[

    ];
    check_kept(&MONGODB, heads, b"s3cret");
    check_kept(&MONGODB, SAID, b"s3cret");
}

proptest! {
    #[test]
    fn any_bytes_are_survived(noise in noise()) {
        check_noise(&MONGODB, SAID, &noise);
    }
}
