# The directory of a hospital, some rooms away: LDAP, as much of it as a phone book needs (bind, search by equality and "or").
import random
import socketserver
import time


def tlv(tag, *parts):
    body = b"".join(parts)
    size = len(body)
    return bytes([tag]) + (bytes([size]) if size < 128 else b"\x82" + size.to_bytes(2, "big")) + body


def split(body):
    at, found = 0, []
    while at < len(body):
        tag, size = body[at], body[at + 1]
        at += 2
        if size & 0x80:
            wide = size & 0x7F
            size = int.from_bytes(body[at : at + wide], "big")
            at += wide
        found.append((tag, body[at : at + size]))
        at += size
    return found


def wanted(tag, body):
    parts = split(body)
    if tag == 0xA1:
        return [uid for part in parts for uid in wanted(*part)]
    return [parts[1][1]]


def attribute(name, value):
    return tlv(0x30, tlv(0x04, name), tlv(0x31, tlv(0x04, value)))


def entry(uid):
    number = int(uid[1:])
    fields = (attribute(b"uid", uid), attribute(b"cn", b"Nurse %d" % number), attribute(b"telephoneNumber", b"+49 89 5160-%04d" % (number * 37 % 10000)))
    return tlv(0x64, tlv(0x04, b"uid=%s,ou=staff,o=hospital" % uid), tlv(0x30, *fields))


class Caller(socketserver.StreamRequestHandler):
    disable_nagle_algorithm = True

    def message(self):
        head = self.rfile.read(2)
        if len(head) < 2:
            return None
        size = head[1]
        if size & 0x80:
            size = int.from_bytes(self.rfile.read(size & 0x7F), "big")
        return split(self.rfile.read(size))

    def handle(self):
        done = (tlv(0x0A, b"\0"), tlv(0x04), tlv(0x04))
        while message := self.message():
            number, (tag, body) = tlv(0x02, message[0][1]), message[1]
            if tag == 0x60:
                self.wfile.write(tlv(0x30, number, tlv(0x61, *done)))
            elif tag == 0x63:
                time.sleep(@{answer} / 1000 * random.uniform(0.8, 1.2))
                entries = [tlv(0x30, number, entry(uid)) for uid in wanted(*split(body)[6])]
                self.wfile.write(b"".join(entries) + tlv(0x30, number, tlv(0x65, *done)))


class Directory(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


Directory(("127.0.0.1", @{directory}), Caller).serve_forever()
