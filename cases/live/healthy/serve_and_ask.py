"""A static file server and its client in one process: 300 requests of one file over one connection."""
import http.client
import http.server
import pathlib
import tempfile
import threading


class Files(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def __init__(self, *args):
        super().__init__(*args, directory=folder)

    def log_message(self, *_):
        pass


with tempfile.TemporaryDirectory() as folder:
    for number in range(300):
        (pathlib.Path(folder) / f"{number}.html").write_text("<p>page</p>\n" * 2000)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Files)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    connection = http.client.HTTPConnection("127.0.0.1", server.server_address[1])
    for number in range(300):
        connection.request("GET", f"/{number}.html")
        connection.getresponse().read()
    connection.close()
    server.shutdown()
