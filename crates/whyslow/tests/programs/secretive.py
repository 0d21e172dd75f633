#!/usr/bin/env python3
# Hands secrets to whom programs hand them to: peers, children, its own command line. For tests/live/private.rs.
# Each has a marker, SECRET00 to SECRET59; 00 to 07 are in what starts it. `--list` tells what it would hand over, as JSON.
import json, os, socket, struct, subprocess, sys, time

LIST = {"payloads": [], "programs": [], "environments": []} if sys.argv[1] == "--list" else None


def exchange(*payloads):
    if LIST is not None:
        LIST["payloads"] += [payload.hex() for payload in payloads]
        return
    one, other = socket.socketpair()
    for payload in payloads:
        one.sendall(payload)
        other.recv(65536)
    one.close()
    other.close()


def run(words, env=None):
    if LIST is None:
        subprocess.run(words, env=env)
        return
    LIST["programs"].append(words)
    LIST["environments"] += [f"{name}={value}" for name, value in (env or {}).items()]


def resp(*words):
    parts = [b"*%d\r\n" % len(words)]
    parts += [b"$%d\r\n%s\r\n" % (len(word), word) for word in words]
    return b"".join(parts)


def postgres(kind, body):
    return kind + struct.pack(">I", len(body) + 4) + body


def mysql(number, body):
    return struct.pack("<I", len(body))[:3] + bytes([number]) + body


def payloads():
    exchange(
        b"GET /feed?token=SECRET08&page=SECRET16 HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer SECRET09\r\n"
        b"Cookie: sid=SECRET10\r\nX-Api-Key: SECRET11\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nSet-Cookie: sid=SECRET14; Path=/\r\nContent-Length: 0\r\n\r\n",
        b"POST /login HTTP/1.1\r\nHost: h\r\nAuthorization: Basic SECRET15\r\nContent-Length: 26\r\n\r\nuser=bob&password=SECRET12",
        b'POST /api HTTP/1.1\r\nHost: h\r\nContent-Length: 23\r\n\r\n{"password":"SECRET13"}',
    )
    exchange(resp(b"AUTH", b"SECRET17"), resp(b"AUTH", b"bob", b"SECRET18"), resp(b"SET", b"key", b"SECRET20"))
    exchange(resp(b"HELLO", b"3", b"AUTH", b"bob", b"SECRET19"), resp(b"CONFIG", b"SET", b"requirepass", b"SECRET22"))
    exchange(b"AUTH SECRET21\r\n")
    exchange(
        struct.pack(">II", 8 + 9, 196608) + b"user\0bob\0",
        postgres(b"p", b"SECRET23\0"),
        postgres(b"Q", b"SELECT id FROM users WHERE name = 'SECRET24'\0"),
        postgres(b"P", b"\0UPDATE users SET name = 'SECRET25' WHERE id = $1\0\0\0"),
        postgres(b"B", b"\0\0\0\0\0\x01\0\0\0\x08SECRET26\0\0"),
    )
    exchange(mysql(0, b"\x03SELECT id FROM users WHERE name = 'SECRET27'"))
    exchange(mysql(1, struct.pack("<IIB", 0x81A685, 1 << 24, 33) + bytes(23) + b"bob\0SECRET28\0mysql_clear_password\0"))
    exchange(b"EHLO x\r\n", b"AUTH PLAIN SECRET29\r\n")


def arguments():
    key = "-----BEGIN RSA PRIVATE KEY-----\nSECRET47abc\n-----END RSA PRIVATE KEY-----"
    for words in [
        ["--password=SECRET30", "--passwd", "SECRET31", "-pSECRET32", "-p", "SECRET33", "-a", "SECRET34"],
        ["-u", "bob:SECRET35", "--user=bob:SECRET36", "-H", "Authorization: Bearer SECRET37"],
        ["--header", "Authorization: Bearer SECRET38", '--header "Authorization: Bearer SECRET39"'],
        ["--header=Authorization: Basic SECRET40", "mysql://u:SECRET41@h/db", "API_KEY=SECRET42"],
        ["ghp_SECRET43abcdefghij", "AKIASECRET44ABCDEFGH", "sk-SECRET45abcdef"],
        ["eyJhbGciOiJI.SECRET46.x", key, "--cookie=x", "-H", "Cookie: sid=SECRET48"],
        ["https://h/x?n=1&access_token=SECRET49", "Server=db;Pwd=SECRET50;Timeout=3"],
    ]:
        run(["/bin/true", *words])
    run(["sh", "-c", 'true --password=SECRET51 -H "Authorization: Bearer SECRET52" -pSECRET53 mysql://u:SECRET54@h'])
    run(["sh", "-c", "true -a SECRET55 -u bob:SECRET56; sh -c 'true --token SECRET57 sk-SECRET58abcdef'"])
    run(["/bin/true"], env={"DB_PASSWORD": "SECRET59"})


if LIST is not None:
    payloads()
    arguments()
    print(json.dumps(LIST))
    sys.exit()
end = time.monotonic() + float(sys.argv[1])
while time.monotonic() < end:
    payloads()
    arguments()
    time.sleep(0.2)
