"""Joins the outputs of several rounds of the peers into one table.

    python table.py NAME=FILE [NAME=FILE ...]

FILE holds the lines "n median min checksum" of all rounds of one program. Shown per n: the
smallest over the rounds of the medians (the least disturbed round), and the smallest minimum.
The last column is the best of the columns of Pinocchio, those not named mj_forward. The
checksums of all programs must agree, or the numbers are not of the same computation.
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
print("microseconds per evaluation: median (minimum)")
print(f"{'n':>4}" + "".join(f"{name:>18}" for name in [*names, "best of aba"]))
bad = False
for n in sorted(tables[names[0]]):
    figures = [(min(r[0] for r in tables[k][n]), min(r[1] for r in tables[k][n]))
               for k in names]
    aba = [f for k, f in zip(names, figures) if k != "mj_forward"]
    if aba:
        figures.append((min(f[0] for f in aba), min(f[1] for f in aba)))
    cells = "".join(f"{f'{med:.2f} ({low:.2f})':>18}" for med, low in figures)
    sums = [r[2] for name in names for r in tables[name][n]]
    differ = max(sums) - min(sums) > 1e-8 * max(sums)
    bad = bad or differ
    print(f"{n:4d}{cells}" + ("   CHECKSUMS DIFFER" if differ else ""))
sys.exit(1 if bad else 0)
