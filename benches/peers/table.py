"""Joins the outputs of several rounds of the peers into one table.

    python table.py NAME=FILE [NAME=FILE ...]

FILE holds the lines "n median min checksum" of all rounds of one program. Printed for each n: the
smallest of the rounds' medians (the round with the least other load), and the smallest minimum. The
last columns are grapple's times over those of the fastest peer: first of the plain peers (a call of
aba as its authors write it, and mj_forward), then of all variants. The checksums of all programs
must agree; otherwise they have not done the same computation.
"""

import sys
from collections import defaultdict

tables = {}
for argument in sys.argv[1:]:
    name, path = argument.split("=", 1)
    rows = defaultdict(list)
    for line in open(path):
        n, med, low, checksum = line.split()
        rows[int(n)].append((float(med), float(low), float(checksum)))
    tables[name] = rows

names = list(tables)
peers = [name for name in names if name != "grapple"]
plain = [name for name in peers if name in ("aba local", "mj_forward", "native")]
print("microseconds per evaluation: median (minimum)")
print(f"{'n':>4}" + "".join(f"{name:>18}" for name in names) + f"{'/ plain peers':>18}{'/ best variant':>18}")
bad = False
for n in sorted(tables[names[0]]):
    figures = {k: [min(r[i] for r in tables[k][n]) for i in (0, 1)] for k in names}
    cells = "".join(f"{f'{figures[k][0]:.2f} ({figures[k][1]:.2f})':>18}" for k in names)
    for group in (plain, peers):
        ratios = [figures["grapple"][i] / min(figures[k][i] for k in group) for i in (0, 1)]
        cells += f"{f'{ratios[0]:.2f} ({ratios[1]:.2f})':>18}"
    sums = [r[2] for name in names for r in tables[name][n]]
    differ = not all(abs(checksum - sums[0]) <= 1e-8 * sums[0] for checksum in sums)
    bad = bad or differ
    print(f"{n:4d}{cells}" + ("   CHECKSUMS DIFFER" if differ else ""))
sys.exit(1 if bad else 0)
