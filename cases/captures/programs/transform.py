"""Computes on each block, and hands a digest on."""
import hashlib
import os

while block := os.read(0, 65536):
    digest = block
    for _ in range(150):
        digest = hashlib.sha256(digest + block).digest()
    os.write(1, digest)
