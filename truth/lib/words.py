"""Names to draw from: of programs, functions, files and fields, as real programs have them."""

APPS = (
    "orderd billing mailer indexer gateway reports imports shipping catalog pricing ledger audits sessions uploads thumbs "
    "feeds search invoices stock payments events metrics notify digest exports sync crawler basket quotes tickets rooms "
    "timetable archive labels letters claims payroll surveys coupons refunds routes parcels sensors readings meters"
).split()

VERBS = "load fetch build handle update apply collect resolve compute render store check merge convert refresh scan prepare publish".split()

NOUNS = (
    "order customer item price invoice report session label message record entry product account reading batch page chunk "
    "event rate quote parcel route ticket claim profile image letter"
).split()

FOLDERS = "data spool var cache store queue inbox outbox state work pool items blobs parts".split()


def identifier(random, separator="_"):
    """A function's name: `load_order`."""
    return separator.join([random.choice(VERBS), random.choice(NOUNS)])


def file_name(random, ending):
    """A file's name: `prices-3.dat`."""
    name = random.choice(NOUNS) + random.choice(["s", "_list", "-data", "s-new", ".main", "s-all"])
    number = random.choice(["", "", f"-{random.randint(1, 40)}"])
    return f"{name}{number}{ending}"
