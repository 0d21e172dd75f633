"""Makes a feed of 3,000 items: feed.py SETTINGS [keep]."""
import configparser
import sys

keep = sys.argv[2:] == ["keep"]
settings = None
with open("feed.out", "w") as out:
    for item in range(3000):
        if settings is None or not keep:
            settings = configparser.ConfigParser()
            settings.read(sys.argv[1])
        out.write(f"{item % settings.getint('feed', 'size')}\n")
