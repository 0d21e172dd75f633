import socket
import sys
import time

line = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
answers = line.makefile("rb")


def call(*words):
    words = [str(word).encode() for word in words]
    line.sendall(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words))
    if not answers.readline().startswith((b"+", b":", b"$")):
        sys.exit("the store does not take it")


size, small = int(sys.argv[2]), int(sys.argv[3])
call("CONFIG", "SET", "save", "")
for start in range(0, size, 5000):
    call("EVAL", f"""for i={start},{min(size, start + 5000) - 1} do
        redis.call('SET', 'session:u' .. (i % 997) .. ':' .. i, i)
        redis.call('HSET', 'tariffs', 'zone-' .. i, i * 7 % 1000)
        redis.call('SADD', 'subscribers', 'user-' .. i)
        redis.call('RPUSH', 'takings', i % 90)
    end return 1""", 0)
for i in range(997):
    call("SADD", f"sessions:u{i}", *range(small))
    call("HSET", f"tariff:{i}", *range(small * 2))
open(sys.argv[4], "w").close()
time.sleep(1000)
