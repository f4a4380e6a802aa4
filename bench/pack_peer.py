#!/usr/bin/env python3
"""A peer for `bench/pack --peer bench/pack_peer.py`: the largest buffers first, each at the lowest place that is free.

It takes what MiniMalloc takes, `--input=FILE --output=FILE --capacity=N`, and so shows what a peer has to do.
"""
import argparse
import csv
import sys


def place(buffers, order):
    """Offsets of the buffers, each as low as those before it leave it."""
    offsets = {}
    for k in order:
        lower, upper, size = buffers[k]
        busy = sorted(
            (at, at + buffers[o][2]) for o, at in offsets.items() if buffers[o][0] < upper and lower < buffers[o][1]
        )
        end = 0
        for low, high in busy:
            if end + size <= low:
                break
            end = max(end, high)
        offsets[k] = end
    return offsets


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--input", required=True)
    options.add_argument("--output", required=True)
    options.add_argument("--capacity", type=int, required=True)
    options = options.parse_args()
    with open(options.input, newline="") as file:
        rows = list(csv.DictReader(file))
    buffers = [tuple(int(row[name]) for name in ("lower", "upper", "size")) for row in rows]
    keys = [
        lambda b: -b[2] * (b[1] - b[0]),
        lambda b: -b[2],
        lambda b: b[0] - b[1],
        lambda b: b[0],
    ]
    for key in keys:
        offsets = place(buffers, sorted(range(len(buffers)), key=lambda k: key(buffers[k])))
        if all(at + buffers[k][2] <= options.capacity for k, at in offsets.items()):
            break
    else:
        sys.exit(1)
    with open(options.output, "w", newline="") as file:
        out = csv.DictWriter(file, [*rows[0], "offset"])
        out.writeheader()
        out.writerows({**row, "offset": offsets[k]} for k, row in enumerate(rows))


if __name__ == "__main__":
    main()
