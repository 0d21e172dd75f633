"""Passes entries on to the ledger: gateway.py SOCKET LEDGER_SOCKET."""
import socket
import socketserver
import sys


class Gateway(socketserver.StreamRequestHandler):
    def handle(self):
        with socket.socket(socket.AF_UNIX) as ledger:
            ledger.connect(sys.argv[2])
            answers = ledger.makefile("rb")
            for entry in self.rfile:
                ledger.sendall(entry)
                self.wfile.write(answers.readline())


socketserver.ThreadingUnixStreamServer(sys.argv[1], Gateway).serve_forever()
