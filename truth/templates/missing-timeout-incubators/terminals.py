"""The terminal server of the ward: a line of text for each question about a bed."""
import socketserver
import time

lost = False


class Line(socketserver.StreamRequestHandler):
    disable_nagle_algorithm = True

    def handle(self):
        global lost
        answers = 0
        for question in self.rfile:
            words = question.split()
            if words[0] == b"bell":
                continue
            if answers >= @{dead} and not lost:
                lost = True
                # The cable is out: neither an answer nor an end.
                time.sleep(3600)
            answers += 1
            bed = int(words[1])
            minute = time.time() / 60
            self.wfile.write(b"bed %d temp %.2f hum %.1f spo2 %d\n" % (bed, 35.8 + (bed * 13 + minute) % 1.7, 55 + bed % 9, 91 + bed % 8))


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = daemon_threads = True


Server(("127.0.0.1", @{port}), Line).serve_forever()
