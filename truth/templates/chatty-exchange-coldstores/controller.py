# The controller of a cold store, which speaks Modbus: it answers one frame in each cycle of its own.
import math
import random
import socketserver
import struct
import time


class Controller(socketserver.StreamRequestHandler):
    disable_nagle_algorithm = True

    def handle(self):
        valves = {}
        while len(head := self.rfile.read(8)) == 8:
            number, _, length, unit, function = struct.unpack(">HHHBB", head)
            body = self.rfile.read(length - 2)
            time.sleep(@{cycle_ms} / 1000 * random.uniform(0.7, 1.3))
            first, value = struct.unpack(">HH", body[:4])
            if function == 3:
                degrees = [int(2500 + 400 * math.sin(time.time() / 9 + unit + at)) for at in range(first, first + value)]
                answer = struct.pack(f">B{value}H", 2 * value, *degrees)
            elif function == 6:
                valves[unit, first] = value
                answer = body[:4]
            else:
                valves.update({(unit, first + i): one for i, one in enumerate(struct.unpack(f">{value}H", body[5:]))})
                answer = body[:4]
            self.wfile.write(struct.pack(">HHHBB", number, 0, len(answer) + 2, unit, function) + answer)


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


Server(("127.0.0.1", @{controller}), Controller).serve_forever()
