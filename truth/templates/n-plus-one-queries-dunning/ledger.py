"""The ledger of a wholesaler. A statement is a line; its answer are rows, with tabs between the fields, and an empty line at the end."""
import re
import socketserver
import time


def invoices(customer):
    for i in range(1 + (customer * 7 + 3) % @{invoices}):
        yield f"{customer}\t{customer * 100 + i}\t{(customer * 13 + i * 29) % 180}\t{995 + (customer * 97 + i * 1013) % 90000}"


def rows(statement):
    if found := re.fullmatch(r"SELECT id FROM customers WHERE district = (\d+)", statement):
        return [str(int(found[1]) * 1000 + i) for i in range(@{living})]
    if found := re.fullmatch(r"SELECT customer, number, age, cents FROM invoices WHERE customer (?:= |IN \()([\d, ]+)\)?", statement):
        return [row for customer in found[1].split(",") for row in invoices(int(customer))]
    return ["ERROR"]


class Session(socketserver.StreamRequestHandler):
    disable_nagle_algorithm = True

    def handle(self):
        for line in self.rfile:
            # A page of the disk, whichever it is.
            time.sleep(@{answer} / 1000)
            self.wfile.write("".join(f"{row}\n" for row in [*rows(line.decode().strip()), ""]).encode())


class Ledger(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


Ledger(("127.0.0.1", @{ledger}), Session).serve_forever()
