"""A news server: knows GROUP, HEAD and OVER of NNTP."""
import socketserver
import time

KEPT, ANSWER = @{kept}, @{answer} / 1000
SUBJECTS = ("Where to begin", "A question on glue", "Meeting in spring", "For sale: a loom", "On the last issue", "Strange noises")


def identifier(number, thread, group):
    return "<%d.%d@%s>" % (number, thread, group)


def article(group, number):
    thread = number - number % 4
    subject = SUBJECTS[(thread // 4 + len(group)) % len(SUBJECTS)]
    return {
        "Subject": subject if number == thread else f"Re: {subject}",
        "From": f"Writer {number * 7 % 53} <writer{number * 7 % 53}@news.example>",
        "Date": f"{number % 27 + 1} Oct 2026 {number % 24:02}:{number * 7 % 60:02}:00 +0000",
        "Message-ID": identifier(number, thread, group),
        "References": "" if number == thread else identifier(thread, thread, group),
        "Bytes": str(900 + number * 131 % 4000),
        "Lines": str(10 + number * 13 % 90),
    }


class Reader(socketserver.StreamRequestHandler):
    disable_nagle_algorithm = True

    def handle(self):
        self.say("200 news.example ready, posting prohibited")
        group, first = "", 0
        for line in self.rfile:
            command, *words = line.decode().split()
            time.sleep(ANSWER)
            if command == "GROUP":
                group = words[0]
                first = 1000 + 4 * (sum(group.encode()) % 900)
                self.say(f"211 {KEPT} {first} {first + KEPT - 1} {group}")
            elif command == "HEAD":
                head = article(group, int(words[0]))
                self.say(f"221 {words[0]} {head['Message-ID']}", *(f"{name}: {text}" for name, text in head.items() if text), ".")
            elif command == "OVER":
                low, high = map(int, words[0].split("-"))
                rows = ("\t".join([str(number), *article(group, number).values()]) for number in range(low, high + 1))
                self.say("224 overview follows", *rows, ".")
            elif command == "QUIT":
                self.say("205 bye")
                return
            else:
                self.say("500 what?")

    def say(self, *lines):
        self.wfile.write("".join(f"{line}\r\n" for line in lines).encode())


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


Server(("127.0.0.1", @{news}), Reader).serve_forever()
