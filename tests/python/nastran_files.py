"""Writes files as Nastran does: binary results (`.op2`) and printed output (`.f06`) of given modes."""

import struct

import numpy as np


class Op2:
    """Binary results file; words of 4 or 8 bytes, byte order `<` or `>`."""

    def __init__(self, size=4, order="<", header=True):
        self.size, self.order, self.data = size, order, b""
        if header:
            self.record(self.integers(11, 28, 26), self.text("NASTRAN FORT TAPE ID CODE - "), self.name("XXXXXXXX"), number=-1)
            self.marker(0)

    def part(self, raw):
        length = struct.pack(f"{self.order}i", len(raw))
        self.data += length + raw + length

    def marker(self, number):
        self.part(struct.pack(self.order + ("i" if self.size == 4 else "q"), number))

    def record(self, *parts, number, less=0):
        for raw in parts:
            self.marker(len(raw) // self.size - less)
            self.part(raw)
        self.marker(number)

    def integers(self, *values):
        return np.array(values, f"{self.order}i{self.size}").tobytes()

    def reals(self, values):
        return np.array(values, f"{self.order}f{self.size}").tobytes()

    def doubles(self, values):
        return np.array(values, f"{self.order}f8").tobytes()

    def text(self, text):
        raw = text.encode()
        return raw if self.size == 4 else b"".join(raw[i : i + 4].ljust(8) for i in range(0, len(raw), 4))

    def name(self, text):
        return self.text(text.ljust(8))

    def table(self, name, records, trailer=(101, 0, 0, 0, 0, 0, 0)):
        """Writes a block of records of bytes."""
        self.start(name, trailer)
        for k, raw in enumerate(records):
            self.record(self.integers(0), raw, number=-4 - k)
        self.record(self.integers(0), number=0)

    def start(self, name, trailer):
        self.record(self.name(name), number=-1)
        self.record(self.integers(*trailer), number=-2)
        self.record(self.integers(0), self.name(name), number=-3)

    def matrix(self, name, values, form=6, kind=2):
        """Writes a matrix by columns, of one string each; kind 1 has words of 4 bytes, 2 numbers of 8 bytes."""
        rows, columns = values.shape
        self.start(name, (101, columns, rows, form, kind, 0, 0))
        number = self.reals if kind == 1 else self.doubles
        for j in range(columns):
            self.marker(1)
            self.part(self.integers(1))
            raw = number(values[:, j])
            self.marker(len(raw) // self.size)
            self.part(self.integers(1) + raw)
            self.marker(-4 - j)
        self.record(self.integers(0), number=0)

    def dmig(self, name, values, rows):
        """Returns the record of a symmetric matrix in the form of DMIG, of numbers of 8 bytes."""
        raw = self.name(name) + self.integers(0, 6, 2, 2, 0, 0, 0)
        for j, column in enumerate(rows):
            raw += self.integers(*column)
            for i in range(j, len(rows)):
                raw += self.integers(*rows[i]) + self.doubles([values[i, j]])
            raw += self.integers(-1, -1)
        return raw + self.integers(-1, -1)

    def end(self):
        self.marker(0)
        return self.data


def ident(file, approach, table, subcase, mode=0, eigenvalue=0.0, word3=0, form=1, width=8):
    """Returns the heading of a table, 146 words."""
    words = [file.integers(10 * approach + 2, table, word3, subcase, mode), file.reals([eigenvalue, 0.0])]
    words += [file.integers(0, form, width, *(0,) * 40), file.text(" " * 4 * 96)]
    return b"".join(words)


def points(file, nodes, values):
    """Returns rows of grid point, type and six numbers."""
    return b"".join(file.integers(10 * node + 2, 1) + file.reals(row) for node, row in zip(nodes, values))


def op2(modes, size=4, order="<", subcase=1, leave=(), double_grids=False, **change):
    """Returns the bytes of a file with the modes (`Modes`); `leave` names blocks to leave out."""
    file = Op2(size, order)
    if "GEOM1" not in leave:
        records = []
        if modes.cylinder is not None:
            records.append(file.integers(2001, 20, 9, 5, 2, 2, 0) + file.reals(modes.cylinder.ravel()))
        code = (4501, 45, 1120001) if double_grids else (4501, 45, 1)
        numbers = file.doubles if double_grids else file.reals
        cd = 0 if modes.cylinder is None else 5
        records.append(
            file.integers(*code)
            + b"".join(file.integers(node, 0) + numbers(x) + file.integers(cd, 0, 0) for node, x in modes.nodes.items())
        )
        file.table("GEOM1", records)
    if "OGPWG" not in leave:
        data = file.reals(np.concatenate([modes.rigid.ravel(), np.zeros(42)]))
        file.table("OGPWG", [ident(file, 0, 13, 0, word3=change.get("reference", 0), width=78), data])
    if "wtmass" in change:
        words = file.name("POST") + file.integers(1, -1) + file.name("WTMASS") + file.integers(2) + file.reals([change["wtmass"]])
        file.table("PVT0", [words])
    if "LAMA" not in leave:
        rows = b"".join(
            file.integers(k + 1, k + 1) + file.reals([w, np.sqrt(w), np.sqrt(w) / 2 / np.pi, m, m * w])
            for k, (w, m) in enumerate(zip(modes.eigenvalues, modes.mu))
        )
        file.table("LAMA", [ident(file, 2, 6, subcase, width=7), rows])
    for name, table, nodes, values in (("OQG1", 3, [modes.clamped], modes.forces[:, None]), ("OUGV1", 7, list(modes.nodes), modes.shapes)):
        if name in leave:
            continue
        records = []
        for k, w in enumerate(modes.eigenvalues):
            records += [ident(file, change.get("approach", 2), table, subcase, k + 1, w, form=change.get("form", 1))]
            records += [points(file, nodes, values[k])]
        file.table(name, records)
    return file.end()


def f06(modes, subcase=1, digits=6):
    """Returns the text of a printed output."""
    page, lines = 0, []

    def start():
        nonlocal page
        page += 1
        lines.append(f"1    FRAME{'':60}NOVEMBER  28, 2026  MSC Nastran  1/ 1/20   PAGE {page:5d}")
        lines.extend([" " * 130, f"0{'':108}SUBCASE {subcase:<15d}", " "])

    def number(x):
        return f"{x:15.{digits}E}" if x != 0.0 else "      0.0      "

    def table(nodes, values):
        lines.append(" ")
        lines.append("      POINT ID.   TYPE          T1             T2             T3             R1             R2             R3")
        for node, row in zip(nodes, values):
            lines.append(f"{node:14d}      G" + "".join(number(x) for x in row))

    start()
    lines.append("                           O U T P U T   F R O M   G R I D   P O I N T   W E I G H T   G E N E R A T O R")
    lines.append("0                                                     REFERENCE POINT =        0")
    lines.append(f"{'':64}M O")
    lines.extend(f"{'':22}*" + "".join(f"{x:14.6E}" for x in row) + " *" for row in modes.rigid)
    start()
    lines.append("                                              R E A L   E I G E N V A L U E S")
    lines.append("   MODE    EXTRACTION      EIGENVALUE            RADIANS             CYCLES            GENERALIZED         GENERALIZED")
    lines.append("    NO.       ORDER                                                                       MASS              STIFFNESS")
    for k, (w, m) in enumerate(zip(modes.eigenvalues, modes.mu)):
        row = "".join(f"{x:20.6E}" for x in (w, np.sqrt(w), np.sqrt(w) / 2 / np.pi, m, m * w))
        lines.append(f"{k + 1:9d}{k + 1:10d}{row}")
    for k, w in enumerate(modes.eigenvalues):
        start()
        lines.append(f"      EIGENVALUE = {w:13.6E}")
        heading = f"          CYCLES = {np.sqrt(w) / 2 / np.pi:13.6E}         R E A L   E I G E N V E C T O R   N O . {k + 1:10d}"
        lines.append(heading)
        table_lines = list(zip(modes.nodes, modes.shapes[k]))
        for at in range(0, len(table_lines), 10):
            if at:
                start()
                lines.append(f"      EIGENVALUE = {w:13.6E}")
                lines.append(heading)
            part = table_lines[at : at + 10]
            table([node for node, _ in part], [row for _, row in part])
    for k, w in enumerate(modes.eigenvalues):
        start()
        lines.append(f"      EIGENVALUE = {w:13.6E}")
        lines.append("                               F O R C E S   O F   S I N G L E - P O I N T   C O N S T R A I N T")
        table([modes.clamped], [modes.forces[k]])
    start()
    return "\n".join(lines) + "\n"
