"""An almanac: where the sun is. One signs in with a challenge, then asks as often as one likes."""
import hashlib
import math
import os
import socketserver


class Session(socketserver.StreamRequestHandler):
    disable_nagle_algorithm = True

    def handle(self):
        salt = os.urandom(8).hex()
        self.wfile.write(b"ALMANAC 3 %s\n" % salt.encode())
        user = self.rfile.readline().split()
        if len(user) != 3 or user[0] != b"LOGIN":
            return
        hashlib.pbkdf2_hmac("sha256", user[2], salt.encode(), @{rounds})
        self.wfile.write(b"OK\n")
        for line in self.rfile:
            word = line.split()
            if word[0] != b"SUN":
                break
            day, hour, latitude = int(word[1]), float(word[2]), math.radians(float(word[3]))
            tilt = math.radians(-23.44) * math.cos(2 * math.pi * (day + 10) / 365)
            angle = math.radians(15 * (hour - 12))
            height = math.asin(math.sin(latitude) * math.sin(tilt) + math.cos(latitude) * math.cos(tilt) * math.cos(angle))
            shadow = math.atan2(math.sin(latitude) * math.sin(angle), math.cos(angle))
            self.wfile.write(b"%.6f %.6f\n" % (height, shadow))


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 64


Server(("127.0.0.1", @{port}), Session).serve_forever()
