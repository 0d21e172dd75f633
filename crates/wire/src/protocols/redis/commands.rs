//! Commands of Redis (redis.io/commands) and what of them may be shown.

use super::Command;
use crate::text;

/// How many words of a command may be shown: its name, and a key where its first argument is one. `None`: not a known
/// command. An answer has the same form as a request, so that no unknown word may pass for a command.
#[rustfmt::skip]
pub(super) fn words(name: &[u8]) -> Option<usize> {
    // The longest name has 17 letters.
    let mut letters = [0; 20];
    let letters = letters.get_mut(..name.len())?;
    letters.copy_from_slice(name);
    letters.make_ascii_uppercase();
    // The letters are compared at once, which a list of names is not: this runs for each command.
    match &*letters {
        b"APPEND" | b"BITCOUNT" | b"BLMOVE" | b"BLPOP" | b"BRPOP" | b"BZPOPMAX" | b"BZPOPMIN" | b"DECR"
        | b"DECRBY" | b"DEL" | b"DUMP" | b"EXISTS" | b"EXPIRE" | b"EXPIREAT" | b"GEOADD" | b"GEOSEARCH"
        | b"GET" | b"GETBIT" | b"GETDEL" | b"GETEX" | b"GETRANGE" | b"GETSET" | b"HDEL" | b"HEXISTS"
        | b"HGET" | b"HGETALL" | b"HINCRBY" | b"HINCRBYFLOAT" | b"HKEYS" | b"HLEN" | b"HMGET" | b"HMSET"
        | b"HSCAN" | b"HSET" | b"HSETNX" | b"HVALS" | b"INCR" | b"INCRBY" | b"INCRBYFLOAT" | b"LINDEX"
        | b"LINSERT" | b"LLEN" | b"LMOVE" | b"LPOP" | b"LPUSH" | b"LPUSHX" | b"LRANGE" | b"LREM"
        | b"LSET" | b"LTRIM" | b"MGET" | b"MSET" | b"MSETNX" | b"PERSIST" | b"PEXPIRE" | b"PEXPIREAT"
        | b"PFADD" | b"PFCOUNT" | b"PFMERGE" | b"PSETEX" | b"PTTL" | b"PUBLISH" | b"RENAME" | b"RENAMENX"
        | b"RPOP" | b"RPOPLPUSH" | b"RPUSH" | b"SADD" | b"SCARD" | b"SDIFF" | b"SET" | b"SETBIT"
        | b"SETEX" | b"SETNX" | b"SETRANGE" | b"SINTER" | b"SINTERSTORE" | b"SISMEMBER" | b"SMEMBERS"
        | b"SMISMEMBER" | b"SMOVE" | b"SPOP" | b"SRANDMEMBER" | b"SREM" | b"SSCAN" | b"STRLEN"
        | b"SUBSCRIBE" | b"SUNION" | b"SUNIONSTORE" | b"TTL" | b"TYPE" | b"UNLINK" | b"XACK" | b"XADD"
        | b"XDEL" | b"XLEN" | b"XRANGE" | b"XTRIM" | b"ZADD" | b"ZCARD" | b"ZCOUNT" | b"ZINCRBY"
        | b"ZPOPMAX" | b"ZPOPMIN" | b"ZRANGE" | b"ZRANGEBYLEX" | b"ZRANGEBYSCORE" | b"ZRANK" | b"ZREM"
        | b"ZREMRANGEBYRANK" | b"ZREMRANGEBYSCORE" | b"ZREVRANGE" | b"ZREVRANGEBYSCORE" | b"ZSCAN"
        | b"ZSCORE" => Some(2),
        b"ACL" | b"AUTH" | b"BGREWRITEAOF" | b"BGSAVE" | b"CLIENT" | b"CLUSTER" | b"COMMAND" | b"CONFIG"
        | b"DBSIZE" | b"DEBUG" | b"DISCARD" | b"ECHO" | b"EVAL" | b"EVALSHA" | b"EVALSHA_RO" | b"EVAL_RO"
        | b"EXEC" | b"FCALL" | b"FLUSHALL" | b"FLUSHDB" | b"FUNCTION" | b"HELLO" | b"INFO" | b"KEYS"
        | b"MEMORY" | b"MIGRATE" | b"MONITOR" | b"MULTI" | b"OBJECT" | b"PING" | b"PSUBSCRIBE" | b"PSYNC"
        | b"PUBSUB" | b"PUNSUBSCRIBE" | b"QUIT" | b"REPLCONF" | b"SAVE" | b"SCAN" | b"SCRIPT" | b"SELECT"
        | b"SHUTDOWN" | b"SLOWLOG" | b"SSUBSCRIBE" | b"TIME" | b"UNSUBSCRIBE" | b"UNWATCH" | b"WAIT"
        | b"WATCH" | b"XREAD" | b"XREADGROUP" => Some(1),
        _ => None,
    }
}

/// The pattern and the text of a command: `HMGET relation:{…}:check` and `HMGET relation:7:check`. `None`: no command
/// has such a name.
pub(super) fn texts(command: &Command<'_>) -> Option<(String, String)> {
    let name = command.name;
    let fits = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    if name.text.is_empty() || name.text.len() > 32 || !name.text.iter().all(fits) {
        return None;
    }
    let key = command.key.filter(|key| !name.is_cut && command.shown == Some(2) && !key.text.is_empty());
    // Where a capture was edited the length may reach into the line's end.
    let key = key.map(|key| (key.text.strip_suffix(b"\r").unwrap_or(key.text), key.is_cut));
    let begun = || {
        // Room for a number that becomes a pattern.
        let mut text = String::with_capacity(name.text.len() + 8 + key.map_or(0, |(key, _)| key.len()));
        text.extend(name.text.iter().map(|byte| byte.to_ascii_uppercase() as char));
        if name.is_cut {
            text.push(text::CUT);
        }
        if key.is_some() {
            text.push(' ');
        }
        text
    };
    let (mut endpoint, mut detail) = (begun(), begun());
    if let Some((key, is_cut)) = key {
        text::key_pattern(key, is_cut, &mut endpoint);
        text::without_tokens(key, is_cut, &mut detail);
    }
    Some((endpoint, detail))
}

/// A word of a command, as far as it is there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Word<'a> {
    pub(super) text: &'a [u8],
    pub(super) is_cut: bool,
}
