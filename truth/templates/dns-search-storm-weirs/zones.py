"""The name server of the plant's network, and the gates' end of the line."""
import pathlib
import socketserver
import struct
import threading
import time


class Names(socketserver.BaseRequestHandler):
    def handle(self):
        question, door = self.request
        at, labels = 12, []
        while length := question[at]:
            labels.append(question[at + 1:at + 1 + length].decode().lower())
            at += length + 1
        kind = struct.unpack(">H", question[at + 1:at + 3])[0]
        known = ".".join(labels).endswith("@{zone}")
        time.sleep(@{delay} / 1000)
        record = b"\xc0\x0c" + struct.pack(">HHIH", 1, 1, 20, 4) + bytes([127, 0, 0, 1]) if known and kind == 1 else b""
        head = struct.pack(">2sHHHHH", question[:2], 0x8580 if known else 0x8583, 1, bool(record), 0, 0)
        door.sendto(head + question[12:at + 5] + record, self.client_address)


class Gates(socketserver.BaseRequestHandler):
    def handle(self):
        pass


gates = socketserver.UDPServer(("127.0.0.1", @{command}), Gates)
threading.Thread(target=gates.serve_forever, daemon=True).start()
names = socketserver.UDPServer(("@{ns}", 53), Names)
pathlib.Path("@{work}/zones.ready").touch()
names.serve_forever()
