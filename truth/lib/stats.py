"""Shares with their intervals, and how they are printed."""
import math
import statistics

# Of the normal distribution: 95 % lie within.
Z_95 = 1.959964


def wilson(hits, of):
    """The 95 % interval of a share (Wilson, 1927: it holds for few trials and shares near 0 and 1)."""
    if not of:
        return (0.0, 1.0)
    share, z2 = hits / of, Z_95**2
    middle = (share + z2 / (2 * of)) / (1 + z2 / of)
    half = Z_95 / (1 + z2 / of) * math.sqrt(share * (1 - share) / of + z2 / (4 * of * of))
    return (max(0.0, middle - half), min(1.0, middle + half))


def share(hits, of):
    """`57 % (43 to 70; 29 of 51)`; `-` of none."""
    if not of:
        return "-"
    low, high = wilson(hits, of)
    return f"{hits / of:.0%} ({low:.0%} to {high:.0%}; {hits} of {of})".replace("%", " %").replace(" %)", ")")


def median(values):
    """The median; None of none."""
    return statistics.median(values) if values else None


def percent(value):
    return "-" if value is None else f"{value * 100:.0f} %"


def overlap(first, second):
    """True where two intervals have a part in common."""
    return first[0] <= second[1] and second[0] <= first[1]
