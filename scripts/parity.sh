#!/bin/bash
# Writes the tables of `cordon policy parity` into the documents, between <!-- parity: NAME --> and <!-- parity: end -->. With --check: only says whether they are the same.
#
#     scripts/parity.sh [--check] [CORDON]
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
check=0
if [ "${1:-}" = --check ]; then
	check=1
	shift
fi
cordon=${1:-$here/build/cordon}
table=$("$cordon" policy parity --json)
PARITY=$table CHECK=$check python3 - "$here/docs/runtimes.md" "$here/THREAT-MODEL.md" <<'END'
import json, os, re, sys

parity = json.loads(os.environ["PARITY"])
runtimes = ["native", "gvisor", "runc", "crun", "docker"]
words = {"enforced": "yes", "by other means": "other", "refused": "refused", "settled at load": "at load"}


def table(rows):
    notes = []
    lines = ["| | " + " | ".join(runtimes) + " |", "|---" * (len(runtimes) + 1) + "|"]
    for row in rows:
        cells = []
        for r in runtimes:
            how = row[r]["how"]
            if how and how not in notes:
                notes.append(how)
            cells.append(words[row[r]["state"]] + (" (%d)" % (notes.index(how) + 1) if how else ""))
        name = "`%s`" % row["key"] if "." in row["key"] or " " not in row["key"] else row["key"]
        lines.append("| %s | %s |" % (name, " | ".join(cells)))
    return "\n".join(lines + [""] + ["%d. %s" % (i + 1, n) for i, n in enumerate(notes)])


tables = {"keys": table(parity["keys"]), "rest": table(parity["rest"])}
bad = 0
for path in sys.argv[1:]:
    text = open(path, encoding="utf-8").read()
    new = re.sub(r"(<!-- parity: (keys|rest) -->\n).*?(<!-- parity: end -->)", lambda m: m.group(1) + tables[m.group(2)] + "\n" + m.group(3), text, flags=re.S)
    if "<!-- parity: " not in text:
        sys.exit("%s: has no place for a table" % path)
    if new != text and os.environ["CHECK"] == "1":
        print("%s: is not what `cordon policy parity` says; run scripts/parity.sh" % path)
        bad = 1
    elif new != text:
        open(path, "w", encoding="utf-8").write(new)
sys.exit(bad)
END
