//! Commands of Redis (redis.io/commands) and what of them may be shown.

use crate::text;

/// Commands whose first argument is a key. Others are told without any argument. An answer has the same form as a
/// request, so that no unknown word may pass for a command.
pub(super) const WITH_KEY: &[&str] = &[
    "APPEND",
    "BITCOUNT",
    "BLMOVE",
    "BLPOP",
    "BRPOP",
    "BZPOPMAX",
    "BZPOPMIN",
    "DECR",
    "DECRBY",
    "DEL",
    "DUMP",
    "EXISTS",
    "EXPIRE",
    "EXPIREAT",
    "GEOADD",
    "GEOSEARCH",
    "GET",
    "GETDEL",
    "GETEX",
    "GETRANGE",
    "GETBIT",
    "GETSET",
    "HDEL",
    "HEXISTS",
    "HGET",
    "HGETALL",
    "HINCRBY",
    "HINCRBYFLOAT",
    "HKEYS",
    "HLEN",
    "HMGET",
    "HMSET",
    "HSCAN",
    "HSET",
    "HSETNX",
    "HVALS",
    "INCR",
    "INCRBY",
    "INCRBYFLOAT",
    "LINDEX",
    "LINSERT",
    "LLEN",
    "LMOVE",
    "LPOP",
    "LPUSH",
    "LPUSHX",
    "LRANGE",
    "LREM",
    "LSET",
    "LTRIM",
    "MGET",
    "MSET",
    "MSETNX",
    "PERSIST",
    "PEXPIRE",
    "PEXPIREAT",
    "PFADD",
    "PFCOUNT",
    "PFMERGE",
    "PSETEX",
    "PTTL",
    "PUBLISH",
    "RENAME",
    "RENAMENX",
    "RPOP",
    "RPOPLPUSH",
    "RPUSH",
    "SADD",
    "SCARD",
    "SDIFF",
    "SET",
    "SETEX",
    "SETNX",
    "SETRANGE",
    "SETBIT",
    "SINTER",
    "SINTERSTORE",
    "SMISMEMBER",
    "SISMEMBER",
    "SMEMBERS",
    "SMOVE",
    "SPOP",
    "SRANDMEMBER",
    "SREM",
    "SSCAN",
    "STRLEN",
    "SUBSCRIBE",
    "SUNION",
    "SUNIONSTORE",
    "TTL",
    "TYPE",
    "UNLINK",
    "XACK",
    "XADD",
    "XDEL",
    "XLEN",
    "XTRIM",
    "XRANGE",
    "ZADD",
    "ZCARD",
    "ZCOUNT",
    "ZINCRBY",
    "ZPOPMAX",
    "ZPOPMIN",
    "ZRANGE",
    "ZRANGEBYLEX",
    "ZRANGEBYSCORE",
    "ZRANK",
    "ZREM",
    "ZREMRANGEBYRANK",
    "ZREMRANGEBYSCORE",
    "ZREVRANGE",
    "ZREVRANGEBYSCORE",
    "ZSCAN",
    "ZSCORE",
];

/// Commands of which the name alone is kept.
pub(super) const ALONE: &[&str] = &[
    "ACL",
    "AUTH",
    "BGREWRITEAOF",
    "BGSAVE",
    "CLIENT",
    "CLUSTER",
    "COMMAND",
    "CONFIG",
    "DBSIZE",
    "DISCARD",
    "ECHO",
    "EVAL",
    "EVALSHA",
    "DEBUG",
    "EVALSHA_RO",
    "EVAL_RO",
    "EXEC",
    "FCALL",
    "FUNCTION",
    "FLUSHALL",
    "FLUSHDB",
    "HELLO",
    "INFO",
    "KEYS",
    "MIGRATE",
    "MONITOR",
    "MULTI",
    "PING",
    "PSUBSCRIBE",
    "PSYNC",
    "PUBSUB",
    "PUNSUBSCRIBE",
    "QUIT",
    "REPLCONF",
    "SAVE",
    "SCAN",
    "SCRIPT",
    "SELECT",
    "SHUTDOWN",
    "OBJECT",
    "MEMORY",
    "SLOWLOG",
    "SSUBSCRIBE",
    "TIME",
    "UNSUBSCRIBE",
    "UNWATCH",
    "WAIT",
    "WATCH",
    "XREAD",
    "XREADGROUP",
];

/// How many words of a command may be shown: its name, and a key where one follows. `None`: not a known command.
pub(super) fn words(name: &[u8]) -> Option<usize> {
    let is_of = |list: &[&str]| list.iter().any(|known| name.eq_ignore_ascii_case(known.as_bytes()));
    if is_of(WITH_KEY) {
        return Some(2);
    }
    is_of(ALONE).then_some(1)
}

/// The pattern and the text of a command: `HMGET relation:{…}:check` and `HMGET relation:7:check`. `None`: no command
/// has such a name.
pub(super) fn texts(name: Word<'_>, key: Option<Word<'_>>) -> Option<(String, String)> {
    let fits = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    if name.text.is_empty() || name.text.len() > 32 || !name.text.iter().all(fits) {
        return None;
    }
    let mut endpoint: String = name.text.iter().map(|byte| byte.to_ascii_uppercase() as char).collect();
    if name.is_cut {
        endpoint.push(text::CUT);
    }
    let mut detail = endpoint.clone();
    let key = key.filter(|key| !name.is_cut && words(name.text) == Some(2) && !key.text.is_empty());
    if let Some(key) = key {
        // Where a capture was edited the length may reach into the line's end.
        let shown = key.text.strip_suffix(b"\r").unwrap_or(key.text);
        endpoint.push(' ');
        text::key_pattern(shown, key.is_cut, &mut endpoint);
        detail.push(' ');
        text::without_tokens(shown, key.is_cut, &mut detail);
    }
    Some((endpoint, detail))
}

/// A word of a command, as far as it is there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Word<'a> {
    pub(super) text: &'a [u8],
    pub(super) is_cut: bool,
}
