"""A static file server and its client in one process: 300 requests of ten files over one connection."""
import http.client
import http.server
import pathlib
import tempfile
import threading


class Files(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Head and page are written apart: each page would wait for a delayed ACK.
    disable_nagle_algorithm = True

    def __init__(self, *args):
        super().__init__(*args, directory=folder)

    def log_message(self, *_):
        pass


with tempfile.TemporaryDirectory() as folder:
    for number in range(10):
        (pathlib.Path(folder) / f"{number}.html").write_text("<p>page</p>\n" * 2000)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Files)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    connection = http.client.HTTPConnection("127.0.0.1", server.server_address[1])
    for number in range(300):
        connection.request("GET", f"/{number % 10}.html")
        connection.getresponse().read()
    connection.close()
    server.shutdown()
