"""A service that asks Redis once a request: service.py PORT REDIS_PORT. It waits for Redis longer than its clients wait for it."""
import http.server
import select
import socket
import sys
import threading

PORT, REDIS = int(sys.argv[1]), ("127.0.0.1", int(sys.argv[2]))
REDIS_TIMEOUT_MS = 2000
local = threading.local()


def ask_redis(*words):
    """One command over this thread's own connection, and the answer's first bytes."""
    if not hasattr(local, "redis"):
        local.redis = socket.create_connection(REDIS)
    command = b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)
    local.redis.sendall(command)
    waiting = select.poll()
    waiting.register(local.redis, select.POLLIN)
    if not waiting.poll(REDIS_TIMEOUT_MS):
        raise TimeoutError("redis")
    return local.redis.recv(4096)


class Relations(http.server.BaseHTTPRequestHandler):
    disable_nagle_algorithm = True
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        found = ask_redis(b"HMGET", b"relation:series:1234:check", b"follows", b"followed")
        body = b'{"relations":%d}\n' % len(found)
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Quiet(http.server.ThreadingHTTPServer):
    def handle_error(self, request, client_address):
        pass


Quiet(("127.0.0.1", PORT), Relations).serve_forever()
