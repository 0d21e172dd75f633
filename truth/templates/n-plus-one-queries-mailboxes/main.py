"""Writes a digest of what is new in each of the firm's shared mailboxes."""
import email.parser
import imaplib
import json
import re
import time

BOXES = [f"team{number}" for number in range(@{boxes})]
WHAT = "(UID RFC822.SIZE BODY.PEEK[HEADER.FIELDS (FROM SUBJECT DATE TO)])"
SIZE = re.compile(rb"RFC822\.SIZE (\d+)")


class Office:
    def __init__(self):
        self.imap = imaplib.IMAP4("127.0.0.1", @{imap})
        self.imap.login("digest", "secret")
        self.fetching = 0.0

    def unseen(self, box):
        self.imap.select(box, readonly=True)
        _, [found] = self.imap.uid("SEARCH", "UNSEEN")
        return found.decode().split()

    def fetched(self, names):
        _, parts = self.imap.uid("FETCH", names, WHAT)
        return [part for part in parts if isinstance(part, tuple)]

    def @{fn}(self, uids):
        began = time.monotonic()
        if "@{fetch}" == "set":
            letters = self.fetched(",".join(uids))
        else:
            letters = [letter for uid in uids for letter in self.fetched(uid)]
        self.fetching += time.monotonic() - began
        return letters


def digest(box, letters):
    threads = {}
    size = 0
    for about, head in letters:
        fields = email.parser.BytesHeaderParser().parsebytes(head)
        topic = re.sub(r"^(re|fwd?): *", "", fields["Subject"], flags=re.IGNORECASE).rstrip(" 0123456789")
        threads.setdefault(topic, []).append(f"{fields['Date']}  {fields['From']}")
        size += int(SIZE.search(about)[1])
    lines = [f"{box}: {len(letters)} new letters, {size} bytes"]
    for topic, entries in sorted(threads.items()):
        lines += [f"  {topic} ({len(entries)})", *("    " + entry for entry in sorted(entries))]
    return "\n".join(lines) + "\n"


def main():
    office = Office()
    units, busy = 0, 0.0
    began = time.monotonic()
    while (start := time.monotonic()) - began < @{seconds}:
        box = BOXES[units % len(BOXES)]
        text = digest(box, office.@{fn}(office.unseen(box)))
        with open(f"@{work}/{box}.digest", "w") as out:
            out.write(text)
        units += 1
        busy += time.monotonic() - start
        time.sleep(max(0.0, began + units / @{rate} - time.monotonic()))
    with open("@{report}", "w") as out:
        json.dump({"units": units, "seconds": busy, "culprit": office.fetching}, out)


main()
