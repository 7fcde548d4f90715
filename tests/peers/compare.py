#!/usr/bin/env python3
"""Puts training steps side by side. Reads records of `steps.py` and of the browser's benchmark from the files
named on the command line, wherever in a line they stand, and prints how many times as long each peer takes
as our own step in the browser, by tenth percentiles."""
import json
import re
import sys

RECORD = re.compile(r'\{"peer".*?\}')


def records(paths):
    for path in paths:
        with open(path, encoding="utf-8") as lines:
            for line in lines:
                for text in RECORD.findall(line):
                    yield json.loads(text)


def main():
    best = {}
    for record in records(sys.argv[1:]):
        key = record["system"], *record["peer"].split(" ", 1)
        best[key] = min(record["p10_ms"], best.get(key, float("inf")))
    print(f"{'system':14} {'learner':8} {'peer':14} {'ms a step':>10} {'times ours':>11}")
    for (system, learner, peer), time in best.items():
        ours = best.get((system, learner, "ours"))
        ratio = "" if ours is None or peer == "ours" else f"{time / ours:11.1f}"
        print(f"{system:14} {learner:8} {peer:14} {time:10.4f} {ratio}")


if __name__ == "__main__":
    main()
