#!/usr/bin/env python3
"""toml_suite.py DECODER SUITE LIST [EXCEPT...]: holds a decoder of TOML to toml-test's suite.

SUITE has valid/ (each FILE.toml with a FILE.json beside it) and invalid/. LIST names the files that count, one a line, relative to SUITE; "-" takes them all, EXCEPT those.
Prints one line for each that fails, and then how many passed.
"""

import json
import math
import os
import subprocess
import sys


def files(suite, listed):
    if listed != "-":
        with open(listed, encoding="utf-8") as f:
            names = [line.strip() for line in f]
        return sorted(n for n in names if n.endswith(".toml"))
    found = []
    for folder, _, names in os.walk(suite):
        found += [os.path.relpath(os.path.join(folder, n), suite) for n in names if n.endswith(".toml")]
    return sorted(found)


def time_of(text):
    """One form for equal times: no trailing zeros in fractions."""
    head, dot, tail = text.upper().replace(" ", "T").partition(".")
    if dot:
        digits = ""
        while tail and tail[0].isdigit():
            digits, tail = digits + tail[0], tail[1:]
        digits = digits.rstrip("0")
        head += ("." + digits if digits else "") + tail
    return head.replace("+00:00", "Z").replace("-00:00", "Z")


def same_value(kind, got, want):
    if kind == "float":
        got, want = float(got), float(want)
        return math.isnan(got) if math.isnan(want) else got == want
    if kind == "integer":
        return got == str(int(want))
    if kind.startswith(("date", "time")):
        return time_of(got) == time_of(want)
    return got == want


def same(got, want):
    if isinstance(want, list) or isinstance(got, list):
        return isinstance(got, list) and isinstance(want, list) and len(got) == len(want) and all(map(same, got, want))
    if set(want) == {"type", "value"} and isinstance(want["value"], str):
        return set(got) == {"type", "value"} and got["type"] == want["type"] and same_value(want["type"], got["value"], want["value"])
    return set(got) == set(want) and all(same(got[k], want[k]) for k in want)


def main():
    decoder, suite, listed = sys.argv[1:4]
    names = [n for n in files(suite, listed) if n not in sys.argv[4:]]
    out = subprocess.run([decoder] + [os.path.join(suite, n) for n in names], stdout=subprocess.PIPE, check=True).stdout
    answers = out.decode("utf-8").split("\n")[:-1]
    if len(answers) != len(names):
        sys.exit(f"{len(answers)} answers to {len(names)} files")
    failed = 0
    for name, answer in zip(names, answers):
        if name.startswith("invalid/"):
            good = answer.startswith("!")
        elif answer.startswith("!"):
            good = False
        else:
            with open(os.path.join(suite, name[:-5] + ".json"), encoding="utf-8") as f:
                good = same(json.loads(answer), json.load(f))
        if not good:
            failed += 1
            print(f"{name}: {answer[:200]}")
    print(f"{len(names) - failed} of {len(names)} as they should be")
    sys.exit(1 if failed or not names else 0)


if __name__ == "__main__":
    main()
