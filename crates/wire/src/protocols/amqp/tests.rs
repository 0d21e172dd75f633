//! A conversation of pika 1.4 with RabbitMQ 3.10, recorded on a socket.

use super::*;
use crate::conversation::*;
use proptest::prelude::*;

/// Login, declarations, a message published, taken and asked for, an error that closes the channel.
#[rustfmt::skip]
pub(crate) const SAID: &[Said] = &[
    ('>', b"AMQP\0\0\t\x01"),
    ('<', b"\x01\0\0\0\0\x01\xec\0\n\0\n\0\t\0\0\x01\xc7\x0ccapabilitiesF\0\0\0\xc7\x12publisher_confirmst\x01\x1aexchange_exchange_bindingst\x01\nbasic.nackt\x01\x16consumer_cancel_notifyt\x01\x12connection.blockedt\x01\x13consumer_prioritiest\x01\x1cauthentication_failure_closet\x01\x10per_consumer_qost\x01\x0fdirect_reply_tot\x01\x0ccluster_nameS\0\0\0\x05wb@vm\tcopyrightS\0\0\07Copyright (c) 2007-2022 VMware, Inc. or its affiliates.\x0binformationS\0\0\09Licensed under the MPL 2.0. Website: https://rabbitmq.com\x08platformS\0\0\0\x11Erlang/OTP 25.2.3\x07productS\0\0\0\x08RabbitMQ\x07versionS\0\0\0\x063.10.8\0\0\0\x0ePLAIN AMQPLAIN\0\0\0\x05en_US\xce"),
    ('>', b"\x01\0\0\0\0\x01@\0\n\0\x0b\0\0\x01\x1c\x07productS\0\0\0\x1aPika Python Client Library\x08platformS\0\0\0\rPython 3.11.7\x0ccapabilitiesF\0\0\0\x8c\x1cauthentication_failure_closet\x01\nbasic.nackt\x01\x12connection.blockedt\x01\x16consumer_cancel_notifyt\x01\x1aexchange_exchange_bindingst\x01\x12publisher_confirmst\x01\x0binformationS\0\0\0\x19See https://pika.rtfd.org\x07versionS\0\0\0\x051.4.4\x05PLAIN\0\0\0\x0c\0guest\0guest\x05en_US\xce"),
    ('<', b"\x01\0\0\0\0\0\x0c\0\n\0\x1e\x07\xff\0\x02\0\0\0<\xce"),
    ('>', b"\x01\0\0\0\0\0\x0c\0\n\0\x1f\x07\xff\0\x02\0\0\0<\xce"),
    ('>', b"\x01\0\0\0\0\0\x08\0\n\0(\x01/\0\x01\xce"),
    ('<', b"\x01\0\0\0\0\0\x05\0\n\0)\0\xce"),
    ('>', b"\x01\0\x01\0\0\0\x05\0\x14\0\n\0\xce"),
    ('<', b"\x01\0\x01\0\0\0\x08\0\x14\0\x0b\0\0\0\0\xce"),
    ('>', b"\x01\0\x01\0\0\0\x12\02\0\n\0\0\x06orders\0\0\0\0\0\xce"),
    ('<', b"\x01\0\x01\0\0\0\x13\02\0\x0b\x06orders\0\0\0\0\0\0\0\0\xce"),
    ('>', b"\x01\0\x01\0\0\0\x14\0(\0\n\0\0\x02ev\x05topic\0\0\0\0\0\xce"),
    ('<', b"\x01\0\x01\0\0\0\x04\0(\0\x0b\xce"),
    ('>', b"\x01\0\x01\0\0\0\x1d\02\0\x14\0\0\x06orders\x02ev\x07order.*\0\0\0\0\0\xce"),
    ('<', b"\x01\0\x01\0\0\0\x04\02\0\x15\xce"),
    ('>', b"\x01\0\x01\0\0\0\x18\0<\0(\0\0\x02ev\rorder.created\0\xce"),
    ('>', b"\x02\0\x01\0\0\0\x0e\0<\0\0\0\0\0\0\0\0\0\x15\0\0\xce"),
    ('>', b"\x03\0\x01\0\0\0\x15{\"password\":\"s3cret\"}\xce"),
    ('>', b"\x01\0\x01\0\0\0\x0f\0<\0(\0\0\0\x06orders\0\xce"),
    ('>', b"\x01\0\x01\0\0\0\x0e\02\0\x1e\0\0\x06orders\0\xce"),
    ('<', b"\x01\0\x01\0\0\0\x08\02\0\x1f\0\0\0\x01\xce"),
    ('>', b"\x01\0\x01\0\0\0\x0e\0<\0F\0\0\x06orders\0\xce"),
    ('<', b"\x01\0\x01\0\0\0\x05\0<\0H\0\xce"),
    ('>', b"\x01\0\x01\0\0\0\x13\02\0\n\0\0\x07missing\x01\0\0\0\0\xce"),
    ('<', b"\x01\0\x01\0\0\06\0\x14\0(\x01\x94+NOT_FOUND - no queue 'missing' in vhost '/'\02\0\n\xce"),
    ('>', b"\x01\0\x01\0\0\0\x04\0\x14\0)\xce"),
];

#[test]
fn a_conversation() {
    assert_eq!(
        steps(&AMQP, SAID),
        [
            "0 asked connection.start-ok",
            "0 answered OK",
            "0 done",
            "1 asked connection.open",
            "1 answered OK",
            "1 done",
            "2 asked channel.open",
            "2 answered OK",
            "2 done",
            "3 asked queue.declare orders",
            "3 answered OK",
            "3 done",
            "4 asked exchange.declare ev/topic",
            "4 answered OK",
            "4 done",
            "5 asked queue.bind orders/ev/order.{…}",
            "5 answered OK",
            "5 done",
            "6 sent basic.publish ev/order.created",
            "6 asks",
            "6 asks",
            "7 sent basic.publish /orders",
            "8 asked queue.purge orders",
            "8 answered OK",
            "8 done",
            "9 asked basic.get orders",
            "9 answered EMPTY",
            "9 done",
            "10 asked queue.declare missing",
            "10 answered !ERROR 404",
            "10 done"
        ]
    );
}

#[test]
fn chunks_and_kept_bytes() {
    check(&AMQP, SAID);
}

#[test]
fn what_is_kept_is_no_secret() {
    #[rustfmt::skip]
    let heads: &[Said] = &[
        ('>', b"\x01\0\0\0\0\0\x1f\0\x0a\0\x0b\0\0\0\0\x05PLAIN\0\0\0\x0b\0me\0s3cretp\x05en_US\xce"),
        ('>', b"\x03\0\x01\0\0\0\x07s3cretp\xce"),
        ('<', b"\x01\0\x01\0\0\0\x12\0\x14\0\x28\x01\x94\x07s3cretp\0\x32\0\x0a\xce"),
    ];
    check_kept(&AMQP, heads, b"s3cretp");
    check_kept(&AMQP, SAID, b"s3cretp");
}

proptest! {
    #[test]
    fn any_bytes_are_survived(noise in noise()) {
        check_noise(&AMQP, SAID, &noise);
    }
}
