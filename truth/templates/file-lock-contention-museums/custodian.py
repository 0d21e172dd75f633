"""The custodian: takes the last pages of the register, and hands them to the archive."""
import fcntl
import os
import time
import zlib


def page_to_archive(page):
    # The line to the archive is as slow as it is.
    time.sleep(@{page_ms} / 1000)
    return zlib.crc32(page)


def last_pages(register):
    register.seek(max(0, register.seek(0, os.SEEK_END) - 8192))
    text = register.read()
    size = max(1, len(text) // @{pages})
    return [text[n * size:(n + 1) * size] for n in range(@{pages})]


def @{fn}(register):
    fcntl.flock(register, fcntl.LOCK_EX)
    pages = last_pages(register)
    if not @{whole}:
        fcntl.flock(register, fcntl.LOCK_UN)
    sums = [page_to_archive(page) for page in pages]
    if @{whole}:
        fcntl.flock(register, fcntl.LOCK_UN)
    return sums


chief = open("@{work}/@{leader}", "a")
fcntl.flock(chief, fcntl.LOCK_EX)
with open("@{work}/@{register}", "a+b") as register:
    while True:
        @{fn}(register)
        time.sleep(@{rest_ms} / 1000)
