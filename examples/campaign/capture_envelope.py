"""Capture envelope of a campaign: the fraction of the runs captured over each two quantities.

    grapple campaign examples/campaign/capture_envelope.toml
    python examples/campaign/capture_envelope.py capture_envelope/runs.csv --figure envelope.svg

Reads from the table of capture_envelope.toml the start of the drogue relative to the line of approach:
the offset of its mouth, its misalignment, the speed of approach, tumbling and spin. Prints the fraction
captured over offset and misalignment, and draws a map for each two of the quantities. Needs NumPy, and for the figure Matplotlib.
"""

import argparse
import csv

import numpy as np

BINS = {
    "offset, m": np.linspace(0.0, 0.5, 11),
    "misalignment, deg": np.linspace(0.0, 30.0, 7),
    "speed, m/s": np.linspace(0.02, 0.3, 8),
    "tumbling, rad/s": np.linspace(0.0, 0.025, 6),
    "spin, rad/s": np.linspace(0.0, 0.1, 6),
}


def read(path):
    """Returns the columns of a campaign's table by name without units, of the runs that did not fail."""
    with open(path, encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["status"] == "ok"]
    names = [name for name in rows[0] if name not in ("status", "message")]
    return {name.split(" [")[0]: np.array([float(row[name] or "nan") for row in rows]) for name in names}


def quantities(runs):
    """Returns the quantities of `BINS` for each run."""
    values = [
        runs["initial(aim.offset)"],
        np.degrees(runs["initial(aim.misalignment)"]),
        runs["servicer.v_start[1]"],
        runs["initial(aim.tumbling_rate)"],
        np.abs(runs["initial(aim.w[1])"]),
    ]
    return dict(zip(BINS, values, strict=True))


def fractions(x, y, captured, bins):
    """Returns the fraction of the runs captured in each cell of x and y, NaN without a run, and the numbers
    of runs."""
    count, _, _ = np.histogram2d(x, y, bins)
    hits, _, _ = np.histogram2d(x, y, bins, weights=captured)
    return np.divide(hits, count, out=np.full_like(count, np.nan), where=count > 0), count


def print_map(across, down, values, captured):
    fraction, _ = fractions(values[down], values[across], captured, [BINS[down], BINS[across]])
    print(f"Fraction captured over {down} (rows) and {across}")
    print("| | " + " | ".join(f"{a:g}–{b:g}" for a, b in zip(BINS[across], BINS[across][1:], strict=False)) + " |")
    print("|---" * len(BINS[across]) + "|")
    for a, b, row in zip(BINS[down], BINS[down][1:], fraction, strict=False):
        print(f"| {a:g}–{b:g} | " + " | ".join("" if np.isnan(part) else f"{part:.2f}" for part in row) + " |")


def draw(values, captured, file):
    """Draws the maps of each two quantities."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    names = list(BINS)
    last = len(names) - 1
    figure, axes = plt.subplots(last, last, figsize=(11, 10), layout="constrained")
    image = None
    for row, down in enumerate(names[1:]):
        for column, across in enumerate(names[:-1]):
            plot = axes[row][column]
            if column > row:
                plot.set_visible(False)
                continue
            fraction, _ = fractions(values[down], values[across], captured, [BINS[down], BINS[across]])
            image = plot.pcolormesh(BINS[across], BINS[down], fraction, vmin=0.0, vmax=1.0, cmap="viridis")
            if row == last - 1:
                plot.set_xlabel(across)
            if column == 0:
                plot.set_ylabel(down)
    figure.colorbar(image, ax=axes, label="fraction captured", shrink=0.6)
    figure.savefig(file)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("table", help="runs.csv of the campaign")
    parser.add_argument("--figure", help="file of the maps: .svg, .png or .pdf")
    arguments = parser.parse_args()
    runs = read(arguments.table)
    values, captured = quantities(runs), runs["final(latch.captured)"]
    print(f"{len(captured)} runs, {int(captured.sum())} captured")
    print_map("offset, m", "misalignment, deg", values, captured)
    print_map("offset, m", "speed, m/s", values, captured)
    if arguments.figure:
        draw(values, captured, arguments.figure)


if __name__ == "__main__":
    main()
