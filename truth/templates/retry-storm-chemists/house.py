# The clearing house of the health insurers: JSON-RPC, a call a line. One clerk works off the calls in their order; when the tray is full, a call is dropped.
import json
import queue
import socketserver
import threading
import time

TRAY = queue.Queue(maxsize=@{room})


def clerk():
    while True:
        call, reply = TRAY.get()
        time.sleep(@{effort} / 1000)
        params = call["params"]
        pays = params["cents"] * (60 + params["insurer"] % 40) // 100
        reply({"jsonrpc": "2.0", "id": call["id"], "result": {"pays": pays}})


class Pharmacy(socketserver.StreamRequestHandler):
    disable_nagle_algorithm = True

    def handle(self):
        lock = threading.Lock()

        def reply(answer):
            with lock:
                try:
                    self.wfile.write(json.dumps(answer, separators=(",", ":")).encode() + b"\n")
                except OSError:
                    pass

        for line in self.rfile:
            call = json.loads(line)
            if call["method"] == "open":
                reply({"jsonrpc": "2.0", "id": call["id"], "result": {"open": 1}})
                continue
            try:
                TRAY.put_nowait((call, reply))
            except queue.Full:
                pass


class House(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


threading.Thread(target=clerk, daemon=True).start()
House(("127.0.0.1", @{house}), Pharmacy).serve_forever()
