//! A conversation of kafka-python 3.0 with Kafka 4.1, recorded on a socket.

use super::*;
use crate::conversation::*;
use proptest::prelude::*;

/// Of a producer and a consumer, their connections one behind the other.
#[rustfmt::skip]
pub(crate) const SAID: &[Said] = &[
    ('>', b"\0\0\07\0\x12\0\x04\0\0\0\x01\0\x17kafka-python-producer-1\0\rkafka-python\x073.0.12\0"),
    ('<', b"\0\0\x03\x12\0\0\0\x01\0\0J\0\0\0\0\0\r\0\0\x01\0\x04\0\x12\0\0\x02\0\x01\0\n\0\0\x03\0\0\0\r\0\0\x08\0\x02\0\t\0\0\t\0\x01\0\t\0\0\n\0\0\0\x06\0\0\x0b\0\0\0\t\0\0\x0c\0\0\0\x04\0\0\r\0\0\0\x05\0\0\x0e\0\0\0\x05\0\0\x0f\0\0\0\x06\0\0\x10\0\0\0\x05\0\0\x11\0\0\0\x01\0\0\x12\0\0\0\x04\0\0\x13\0\x02\0\x07\0\0\x14\0\x01\0\x06\0\0\x15\0\0\0\x02\0\0\x16\0\0\0\x05\0\0\x17\0\x02\0\x04\0\0\x18\0\0\0\x05\0\0\x19\0\0\0\x04\0\0\x1a\0\0\0\x05\0\0\x1b\0\x01\0\x01\0\0\x1c\0\0\0\x05\0\0\x1d\0\x01\0\x03\0\0\x1e\0\x01\0\x03\0\0\x1f\0\x01\0\x03\0\0 \0\x01\0\x04\0\0!\0\0\0\x02\0\0\"\0\x01\0\x02\0\0#\0\x01\0\x04\0\0$\0\0\0\x02\0\0%\0\0\0\x03\0\0&\0\x01\0\x03\0\0'\0\x01\0\x02\0\0(\0\x01\0\x02\0\0)\0\x01\0\x03\0\0*\0\0\0\x02\0\0+\0\0\0\x02\0\0,\0\0\0\x01\0\0-\0\0\0\x01\0\0.\0\0\0\0\0\0/\0\0\0\0\0\00\0\0\0\x01\0\01\0\0\0\x01\0\02\0\0\0\0\0\03\0\0\0\0\0\07\0\0\0\x02\0\09\0\0\0\x02\0\0<\0\0\0\x02\0\0=\0\0\0\0\0\0@\0\0\0\0\0\0A\0\0\0\0\0\0B\0\0\0\x02\0\0D\0\0\0\x01\0\0E\0\0\0\x01\0\0J\0\0\0\x01\0\0K\0\0\0\0\0\0L\0\x01\0\x01\0\0M\0\x01\0\x01\0\0N\0\x01\0\x01\0\0O\0\x01\0\x01\0\0P\0\0\0\0\0\0Q\0\0\0\0\0\0S\0\0\0\0\0\0T\0\0\0\0\0\0U\0\0\0\0\0\0V\0\0\0\0\0\0W\0\0\0\0\0\0Z\0\0\0\0\0\0[\0\0\0\0\0\0\\\0\0\0\0\0\0\0\0\0\x03\0\x8f\x01\x07\x0egroup.version\0\0\0\x01\0\x0ekraft.version\0\0\0\x01\0\x11metadata.version\0\x07\0\x1b\0\x0eshare.version\0\0\0\x01\0\x14transaction.version\0\0\0\x02\0!eligible.leader.replicas.version\0\0\0\x01\0\x01\x08\0\0\0\0\0\0\x01\"\x02i\x05\x0egroup.version\0\x01\0\x01\0\x14transaction.version\0\x02\0\x02\0!eligible.leader.replicas.version\0\x01\0\x01\0\x11metadata.version\0\x1b\0\x1b\0"),
    ('>', b"\0\0\02\0\x16\0\x04\0\0\0\x02\0\x17kafka-python-producer-1\0\0\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\0"),
    ('<', b"\0\0\0\x16\0\0\0\x02\0\0\0\0\0\0\x0e\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\0"),
    ('<', b"\0\0\0w\0\0\0\x06\0\0\0\0\0\x02\0\0\0\x01\n127.0.0.1\0\0\x98\xb4\0\0\x17MkU3OEVBNTcwNTJENDM2Qg\0\0\0\x01\x02\0\0\x07orders\xf0y\x80#\xfcZM\x97\x82\xf3q\xaf\x8b\xda\xb5e\0\x02\0\0\0\0\0\0\0\0\0\x01\0\0\0\0\x02\0\0\0\x01\x02\0\0\0\x01\x01\0\x80\0\0\0\0\0\0\0"),
    ('>', b"\0\0\0\x80\0\0\0\t\0\0\0\x07\0\x17kafka-python-producer-1\0\0\xff\xff\0\0u0\x02\x07orders\x02\0\0\0\0G\0\0\0\0\0\0\0\0\0\0\0:\0\0\0\0\x02\xc2h\xdeQ\0\0\0\0\0\0\0\0\x01\xa2\0\xb5y\xaa\0\0\x01\xa2\0\xb5y\xaa\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\x10\0\0\0\x01\x04v0\0\0\0\0"),
    ('<', b"\0\0\05\0\0\0\x07\0\x02\x07orders\x02\0\0\0\0\0\0\0\0\0\0\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff\0\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0\0"),
    ('>', b"\0\0\0\x80\0\0\0\t\0\0\0\x08\0\x17kafka-python-producer-1\0\0\xff\xff\0\0u0\x02\x07orders\x02\0\0\0\0G\0\0\0\0\0\0\0\0\0\0\0:\0\0\0\0\x02\x07E'\xba\0\0\0\0\0\0\0\0\x01\xa2\0\xb5{!\0\0\x01\xa2\0\xb5{!\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0\x01\x10\0\0\0\x01\x04v1\0\0\0\0"),
    ('>', b"\0\0\03\0\x12\0\x04\0\0\0\x01\0\x13kafka-python-3.0.12\0\rkafka-python\x073.0.12\0"),
    ('<', b"\0\0\x03\x12\0\0\0\x01\0\0J\0\0\0\0\0\r\0\0\x01\0\x04\0\x12\0\0\x02\0\x01\0\n\0\0\x03\0\0\0\r\0\0\x08\0\x02\0\t\0\0\t\0\x01\0\t\0\0\n\0\0\0\x06\0\0\x0b\0\0\0\t\0\0\x0c\0\0\0\x04\0\0\r\0\0\0\x05\0\0\x0e\0\0\0\x05\0\0\x0f\0\0\0\x06\0\0\x10\0\0\0\x05\0\0\x11\0\0\0\x01\0\0\x12\0\0\0\x04\0\0\x13\0\x02\0\x07\0\0\x14\0\x01\0\x06\0\0\x15\0\0\0\x02\0\0\x16\0\0\0\x05\0\0\x17\0\x02\0\x04\0\0\x18\0\0\0\x05\0\0\x19\0\0\0\x04\0\0\x1a\0\0\0\x05\0\0\x1b\0\x01\0\x01\0\0\x1c\0\0\0\x05\0\0\x1d\0\x01\0\x03\0\0\x1e\0\x01\0\x03\0\0\x1f\0\x01\0\x03\0\0 \0\x01\0\x04\0\0!\0\0\0\x02\0\0\"\0\x01\0\x02\0\0#\0\x01\0\x04\0\0$\0\0\0\x02\0\0%\0\0\0\x03\0\0&\0\x01\0\x03\0\0'\0\x01\0\x02\0\0(\0\x01\0\x02\0\0)\0\x01\0\x03\0\0*\0\0\0\x02\0\0+\0\0\0\x02\0\0,\0\0\0\x01\0\0-\0\0\0\x01\0\0.\0\0\0\0\0\0/\0\0\0\0\0\00\0\0\0\x01\0\01\0\0\0\x01\0\02\0\0\0\0\0\03\0\0\0\0\0\07\0\0\0\x02\0\09\0\0\0\x02\0\0<\0\0\0\x02\0\0=\0\0\0\0\0\0@\0\0\0\0\0\0A\0\0\0\0\0\0B\0\0\0\x02\0\0D\0\0\0\x01\0\0E\0\0\0\x01\0\0J\0\0\0\x01\0\0K\0\0\0\0\0\0L\0\x01\0\x01\0\0M\0\x01\0\x01\0\0N\0\x01\0\x01\0\0O\0\x01\0\x01\0\0P\0\0\0\0\0\0Q\0\0\0\0\0\0S\0\0\0\0\0\0T\0\0\0\0\0\0U\0\0\0\0\0\0V\0\0\0\0\0\0W\0\0\0\0\0\0Z\0\0\0\0\0\0[\0\0\0\0\0\0\\\0\0\0\0\0\0\0\0\0\x03\0\x8f\x01\x07\x0egroup.version\0\0\0\x01\0\x0ekraft.version\0\0\0\x01\0\x11metadata.version\0\x07\0\x1b\0\x0eshare.version\0\0\0\x01\0\x14transaction.version\0\0\0\x02\0!eligible.leader.replicas.version\0\0\0\x01\0\x01\x08\0\0\0\0\0\0\x01]\x02i\x05\x0egroup.version\0\x01\0\x01\0\x14transaction.version\0\x02\0\x02\0!eligible.leader.replicas.version\0\x01\0\x01\0\x11metadata.version\0\x1b\0\x1b\0"),
    ('>', b"\0\0\0t\0\x0b\0\x07\0\0\0\x02\0\x13kafka-python-3.0.12\0\x08billing\0\0\xaf\xc8\0\x04\x93\xe0\x01\0\tconsumer\x03\x06range\x13\0\0\0\0\0\x01\0\x06orders\0\0\0\0\0\x0broundrobin\x13\0\0\0\0\0\x01\0\x06orders\0\0\0\0\0\0"),
    ('<', b"\0\0\0\x15\0\0\0\x02\0\0\0\0\0\0\x10\xff\xff\xff\xff\0\0\x01\x01\x01\0"),
    ('>', b"\0\0\0d\0\r\0\x05\0\0\0\x0e\0\x13kafka-python-3.0.12\0\x08billing\x029kafka-python-3.0.12-e704116a-8922-43b0-bbdc-617f0deede9e\0\0\0\0"),
    ('<', b"\0\0\0J\0\0\0\x0e\0\0\0\0\0\0\0\x029kafka-python-3.0.12-e704116a-8922-43b0-bbdc-617f0deede9e\0\0\0\0\0"),
    ('>', b"\0\0\0e\0\x01\0\x0c\0\0\0\x0e\0\x13kafka-python-3.0.12\0\xff\xff\xff\xff\0\0\x01\xf4\0\0\0\x01\x03 \0\0\0\0\0\0\0\0\0\0\0\x02\x07orders\x02\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\0\x10\0\0\0\0\x01\x01\0"),
    ('<', b"\0\x03\x0e\x9b\0\0\0\x0e\0\0\0\0\0\0\0\x02\x0f\xa3\xfd\x02\x07orders\x02\0\0\0\0\0\0\0\0\0\0\0\0\0\x04\0\0\0\0\0\0\0\x04\0\0\0\0\0\0\0\0\0\xff\xff\xff\xff\xdb\x9c\x0c\0\0\0\0\0\0\0\0\0\0\0:\0\0\0\0\x02\xc2h\xdeQ\0\0\0\0\0\0\0\0\x01\xa2\0\xb5y\xaa\0\0\x01\xa2\0\xb5y\xaa\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\x10\0\0\0\x01\x04v0\0\0\0\0\0\0\0\0\x01\0\0\0:\0\0\0\0\x02\x07E'\xba\0\0\0\0\0\0\0\0\x01\xa2\0\xb5{!\0\0\x01\xa2\0\xb5{!\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0\x01\x10\0\0\0\x01\x04v1\0\0\0\0\0\0\0\0\x02\0\0\0:\0\0\0\0\x02G\x91\xf1u\0\0\0\0\0\0\0\0\x01\xa2\0\xb5{;\0\0\x01\xa2\0\xb5{;\0\0\0\0\0\0\0\0\0\0\0\0\0\x02\0\0\0\x01\x10\0\0\0\x01\x04v2\0\0\0\0\0\0\0\0\x03\0\x03\r|\0\0\0\0\x02Nj\x04\xc6\0\0\0\0\0\0\0\0\x01\xa2\0\xb5{N\0\0\x01\xa2\0\xb5{N\0\0\0\0\0\0\0\0\0\0\0\0\0\x03\0\0\0\x01\x90\xb5\x18\0\0\0\x01\x80\xb5\x18zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz"), // cut
];

#[test]
fn a_conversation() {
    assert_eq!(
        steps(&KAFKA, SAID),
        [
            "0 asked ApiVersions",
            "0 answered OK",
            "0 done",
            "1 asked InitProducerId",
            "1 answered !COORDINATOR_LOAD_IN_PROGRESS",
            "1 done",
            "2 asked Produce orders",
            "2 answered OK",
            "2 done",
            "3 asked Produce orders",
            "4 asked ApiVersions",
            "4 answered OK",
            "4 done",
            "5 asked JoinGroup",
            "5 answered !NOT_COORDINATOR",
            "5 done",
            "6 asked LeaveGroup",
            "6 answered OK",
            "6 done",
            "7 asked Fetch orders",
            "7 answered OK"
        ]
    );
}

#[test]
fn numbers_name_requests() {
    for (number, name) in [
        (3, "Metadata"),
        (18, "ApiVersions"),
        (36, "SaslAuthenticate"),
        (60, "DescribeCluster"),
        (68, "ConsumerGroupHeartbeat"),
        (80, "AddRaftVoter"),
    ] {
        assert_eq!(NAMES[number], name);
    }
}

#[test]
fn a_topic_of_old_and_new_versions() {
    let old = b"\0\0\0'\0\x01\0\x04\0\0\0\x05\xff\xff\xff\xff\xff\xff\0\0\x01\xf4\0\0\0\x01\0\0\x10\0\0\0\0\0\x01\0\x06orders";
    assert_eq!(steps(&KAFKA, &[('>', old)]), ["0 asked Fetch orders"]);
    // No answer is wanted: acks is 0.
    let unanswered = b"\0\0\0 \0\0\0\x02\0\0\0\x06\xff\xff\0\0\0\0\x05\xdc\0\0\0\x01\0\x06orders\0\0\0\0";
    assert_eq!(steps(&KAFKA, &[('>', unanswered)]), ["0 sent Produce orders"]);
}

#[test]
fn chunks_and_kept_bytes() {
    check(&KAFKA, SAID);
}

#[test]
fn what_is_kept_tells_the_errors() {
    let of_kept = |said: &[Said]| {
        let kept = steps_of_kept(&KAFKA, said).into_iter().filter(|step| !goes_on(step));
        kept.collect::<Vec<_>>()
    };
    let whole: Vec<_> = steps(&KAFKA, SAID).into_iter().filter(|step| !goes_on(step)).collect();
    assert_eq!(of_kept(SAID), whole);
}

#[test]
fn what_is_kept_is_no_secret() {
    #[rustfmt::skip]
    let heads: &[Said] = &[
        ('>', b"\0\0\0\x18\0\x24\0\x01\0\0\0\x05\xff\xff\0\0\0\x0cme\0s3cretpass"),
        ('>', b"\0\0\0\x3c\0\0\0\x02\0\0\0\x06\xff\xff\0\x01\0\0\x05\xdc\0\0\0\x01\0\x06orders\0\0\0\x01\0\0\0\0\0\0\0\x0es3cretpass"),
        ('<', b"\0\0\0\x10\0\0\0\x06s3cretpass"),
    ];
    check_kept(&KAFKA, heads, b"s3cretpass");
    check_kept(&KAFKA, SAID, b"s3cretpass");
}

proptest! {
    #[test]
    fn any_bytes_are_survived(noise in noise()) {
        check_noise(&KAFKA, SAID, &noise);
    }
}
