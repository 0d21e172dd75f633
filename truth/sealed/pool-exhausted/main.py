"""A small web service: a pool of threads answers, each with its own connection to the store."""
import concurrent.futures
import http.server
import socket
import socketserver
import threading

local = threading.local()


def @{fn}(article):
    if not hasattr(local, "store"):
        local.store = socket.create_connection(("127.0.0.1", @{store}))
        local.answers = local.store.makefile("rb")
    local.store.sendall(b"count %d\n" % article)
    return local.answers.readline()


class Page(http.server.BaseHTTPRequestHandler):
    wbufsize = 65536

    def do_GET(self):
        body = @{fn}(int(self.path.rpartition("/")[2]))
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Service(socketserver.TCPServer):
    allow_reuse_address = True
    request_queue_size = 100
    pool = concurrent.futures.ThreadPoolExecutor(@{workers}, thread_name_prefix="web")

    def process_request(self, request, client_address):
        self.pool.submit(self.work, request, client_address)

    def work(self, request, client_address):
        try:
            self.finish_request(request, client_address)
        except OSError:
            pass
        finally:
            self.shutdown_request(request)


Service(("127.0.0.1", @{port}), Page).serve_forever(poll_interval=60)
