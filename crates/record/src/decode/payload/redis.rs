//! Redis: a command with its key, without its other arguments.

use super::without_tokens;

/// Commands whose first argument is a key (redis.io/commands). Others are kept without any argument. An answer has the
/// same form as a request, so that no unknown word may pass for a command.
const WITH_KEY: &[&str] = &[
    "APPEND",
    "BITCOUNT",
    "BLPOP",
    "BRPOP",
    "DECR",
    "DECRBY",
    "DEL",
    "DUMP",
    "EXISTS",
    "EXPIRE",
    "EXPIREAT",
    "GEOADD",
    "GET",
    "GETDEL",
    "GETEX",
    "GETRANGE",
    "GETSET",
    "HDEL",
    "HEXISTS",
    "HGET",
    "HGETALL",
    "HINCRBY",
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
    "LLEN",
    "LPOP",
    "LPUSH",
    "LRANGE",
    "LREM",
    "LSET",
    "LTRIM",
    "MGET",
    "MSET",
    "PERSIST",
    "PEXPIRE",
    "PFADD",
    "PFCOUNT",
    "PSETEX",
    "PTTL",
    "PUBLISH",
    "RENAME",
    "RPOP",
    "RPUSH",
    "SADD",
    "SCARD",
    "SET",
    "SETEX",
    "SETNX",
    "SETRANGE",
    "SINTER",
    "SISMEMBER",
    "SMEMBERS",
    "SPOP",
    "SRANDMEMBER",
    "SREM",
    "SSCAN",
    "STRLEN",
    "SUBSCRIBE",
    "SUNION",
    "TTL",
    "TYPE",
    "UNLINK",
    "XADD",
    "XLEN",
    "XRANGE",
    "ZADD",
    "ZCARD",
    "ZCOUNT",
    "ZINCRBY",
    "ZRANGE",
    "ZRANGEBYSCORE",
    "ZRANK",
    "ZREM",
    "ZREVRANGE",
    "ZSCAN",
    "ZSCORE",
];

/// Commands of which the name alone is kept.
const ALONE: &[&str] = &[
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
    "EXEC",
    "FCALL",
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
    "QUIT",
    "REPLCONF",
    "SAVE",
    "SCAN",
    "SCRIPT",
    "SELECT",
    "SHUTDOWN",
    "SLOWLOG",
    "UNWATCH",
    "WAIT",
    "WATCH",
    "XREAD",
    "XREADGROUP",
];

/// `*3\r\n$3\r\nSET\r\n$6\r\nuser:7\r\n`
pub(super) fn command(bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let (count, rest) = line(bytes, b'*')?;
    let (length, rest) = line(rest, b'$')?;
    let end = memchr::memmem::find(rest, b"\r\n")?;
    let word = &rest[..end];
    let is_of = |list: &[&str]| list.iter().any(|known| word.eq_ignore_ascii_case(known.as_bytes()));
    let has_key = is_of(WITH_KEY);
    if !has_key && !is_of(ALONE) {
        return None;
    }
    put_line(b'*', count, out);
    put_line(b'$', length, out);
    out.extend_from_slice(&rest[..end + 2]);
    if has_key {
        key(&rest[end + 2..], out);
    }
    Some(())
}

fn key(bytes: &[u8], out: &mut Vec<u8>) {
    let Some((length, rest)) = line(bytes, b'$') else { return };
    let end = memchr::memmem::find(rest, b"\r\n");
    let key = &rest[..end.unwrap_or(rest.len())];
    if key.is_empty() || !key.iter().all(u8::is_ascii_graphic) {
        return;
    }
    put_line(b'$', length, out);
    without_tokens(key, end.is_none(), out);
    out.extend_from_slice(b"\r\n");
}

/// The number behind `mark` of the first line, and what follows the line.
fn line(bytes: &[u8], mark: u8) -> Option<(&[u8], &[u8])> {
    let rest = bytes.strip_prefix(&[mark])?;
    let end = memchr::memmem::find(&rest[..rest.len().min(16)], b"\r\n")?;
    let number = &rest[..end];
    (!number.is_empty() && number.iter().all(u8::is_ascii_digit)).then_some((number, &rest[end + 2..]))
}

fn put_line(mark: u8, number: &[u8], out: &mut Vec<u8>) {
    out.push(mark);
    out.extend_from_slice(number);
    out.extend_from_slice(b"\r\n");
}
