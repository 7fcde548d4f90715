#!/usr/bin/env python3
"""Puts training steps side by side. Reads records of `steps.py` and of the browser's benchmark from the files
named on the command line, wherever in a line they stand, and prints how many times as long each peer takes
as our own step in the browser, by tenth percentiles, beside how many times it should be at least. Of what was
measured several times, as our own steps are, the median counts. Then our times to the error of the authors' code
beside the time that their number of steps takes task by task in PyTorch on this machine."""
import json
import re
import statistics
import sys

RECORD = re.compile(r'\{"peer".*?\}')
# As `accuracy.rs` and, of the suite with the settings of the table, `speed.rs` print it.
REACHED = re.compile(r"([a-z-]+)(?:, (\w+), \d+ shots| camel): error \S+ \(the authors' code at its end\) (?:reached )?after ([\d.]+) s")
# Training steps of CAMEL in the authors' code, and the part of their time that ours should be at most.
AUTHORS_STEPS, PART = {"cartpole": 50_000, "charges-pair": 5_000}, 20

# How many times as long as ours a peer should take at least.
CAMEL_LOOP = {"cartpole": 5, "charges-pair": 20}
OTHER_LOOP, BATCH, TENSORFLOW = 3, 1, 2


def target(system, learner, peer):
    if peer == "torch-loop":
        return CAMEL_LOOP.get(system) if learner == "camel" else OTHER_LOOP
    if peer in ("torch-batch", "torch-shared"):
        return BATCH
    return TENSORFLOW if peer in ("tfjs-wasm", "tfjs-cpu") else None


def records(paths):
    for path in paths:
        with open(path, encoding="utf-8") as lines:
            for line in lines:
                for text in RECORD.findall(line):
                    yield json.loads(text)


def compare_times(paths, times):
    for path in paths:
        with open(path, encoding="utf-8") as log:
            for system, optimiser, seconds in REACHED.findall(log.read()):
                step = times.get((system, "camel", "torch-loop"))
                if step is not None:
                    theirs = AUTHORS_STEPS[system] * step / 1e3
                    print(f"{system}, {optimiser or 'as in the table'}: their error after {seconds} s; their steps take {theirs:.0f} s: "
                          f"1/{theirs / float(seconds):.0f} (aim: 1/{PART})")


def main():
    measured = {}
    for record in records(sys.argv[1:]):
        key = record["system"], *record["peer"].split(" ", 1)
        measured.setdefault(key, []).append(record["p10_ms"])
    times = {key: statistics.median(values) for key, values in measured.items()}
    print(f"{'system':14} {'learner':8} {'peer':14} {'ms a step':>10} {'times ours':>11} {'target':>7}")
    for (system, learner, peer), time in times.items():
        ours, aim = times.get((system, learner, "ours")), target(system, learner, peer)
        line = f"{system:14} {learner:8} {peer:14} {time:10.4f}"
        if ours is not None and peer != "ours":
            line += f" {time / ours:11.1f}"
            if aim is not None:
                line += f" {aim:7} {'reached' if time / ours >= aim else 'missed'}"
        print(line)
    compare_times(sys.argv[1:], times)


if __name__ == "__main__":
    main()
