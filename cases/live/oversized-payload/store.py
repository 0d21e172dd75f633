"""Answers with all sessions, or with one: store.py PORT."""
import http.server
import json
import sys

SESSIONS = [{"id": number, "user": f"user-{number}", "roles": ["reader", "writer"], "seen": number * 17} for number in range(40_000)]
ALL = json.dumps(SESSIONS).encode()


class Answer(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self):
        number = self.path.rpartition("/")[2]
        body = json.dumps(SESSIONS[int(number)]).encode() if number.isdigit() else ALL
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Answer).serve_forever()
