"""Draws what `make bench` has measured: all ratios to the floors, with every round and the targets; and what
`make bench-growth` has: how the cost of one grows with their number.

Usage: plot.py BENCH-JSON PICTURE
"""

import json
import statistics
import sys

import matplotlib
import matplotlib.ticker

matplotlib.use("svg")
import matplotlib.pyplot as plot  # noqa: E402  (the backend is chosen before)

INK, QUIET, GOOD, LATE = "#1f2933", "#9aa5b1", "#0b7a75", "#b44d12"


def target_of(row):
    """A target is kept as an enumeration with one value."""
    ((kind, value),) = row["target"].items()
    return kind, value["_0"]


def ratios_of(row):
    """Each round beside its floor; where there is none, beside the figure that was to be reached."""
    kind, target = target_of(row)
    ours = [sample["value"] for sample in row["rollcall"]]
    if kind == "value":
        return [value / target for value in ours], 1
    floors = [sample["value"] for sample in row["floor"]]
    return [value / floor for value, floor in zip(ours, floors)], target


def draw_ratios(rows):
    figure, axes = plot.subplots(figsize=(9, 0.5 * len(rows) + 1.3))
    for place, row in enumerate(reversed(rows)):
        ratios, target = ratios_of(row)
        median = statistics.median(ratios)
        colour = GOOD if median <= target else LATE
        axes.barh(place, median - 1, left=1, height=0.5, color=colour, alpha=0.35)
        axes.plot(ratios, [place] * len(ratios), "o", color=colour, markersize=4)
        axes.plot([target, target], [place - 0.38, place + 0.38], color=INK, linewidth=2)
        axes.text(max([*ratios, target]) * 1.06, place, f"{median:.2f}", va="center", color=INK)
    names = [f"{row['name']}{' *' if target_of(row)[0] == 'value' else ''}" for row in reversed(rows)]
    axes.set_yticks(range(len(rows)), names)
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(matplotlib.ticker.FixedLocator([0.25, 0.5, 1, 1.5, 2, 3, 4, 6, 8, 12, 16]))
    axes.xaxis.set_minor_locator(matplotlib.ticker.NullLocator())
    axes.xaxis.set_major_formatter(matplotlib.ticker.FormatStrFormatter("%g×"))
    axes.axvline(1, color=QUIET, linewidth=1)
    axes.set_xlabel(
        "ratio to the floor, less is better; a dot is a round, a stroke the target\n"
        "* to the figure that was to be reached, where there is no floor",
        color=INK,
    )
    axes.tick_params(which="both", length=0, labelcolor=INK)
    axes.spines[:].set_visible(False)
    axes.margins(x=0.15)
    return figure


def draw_growth(rows):
    """A small picture for each, all to the same scale: the cost of one among the fewest is 1."""
    columns = 4
    lines = -(-len(rows) // columns)
    figure, panels = plot.subplots(lines, columns, figsize=(11, 2.6 * lines), sharey=True, squeeze=False)
    for panel in panels.flat[len(rows):]:
        panel.set_visible(False)
    for row, axes in zip(rows, panels.flat):
        sizes = [step["size"] for step in row["steps"]]
        rounds = [[sample["value"] for sample in step["samples"]] for step in row["steps"]]
        if row["unit"].startswith("%"):
            rounds = [[value / size for value in values] for size, values in zip(sizes, rounds)]
        least = statistics.median(rounds[0])
        for size, values in zip(sizes, rounds):
            axes.plot([size] * len(values), [value / least for value in values], "o", color=GOOD, markersize=3)
        axes.plot(sizes, [statistics.median(values) / least for values in rounds], color=GOOD, alpha=0.5)
        axes.axhline(1, color=QUIET, linewidth=1)
        axes.set_xscale("log")
        axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
        axes.set_xticks([], minor=True)
        axes.set_ylim(0, 1.5)
        axes.set_title(f"{row['of']}:\n{row['what']}", fontsize=9, color=INK)
        axes.tick_params(which="both", length=0, labelcolor=INK, labelsize=8)
        axes.spines[:].set_visible(False)
    figure.tight_layout()
    return figure


def draw(rows, picture):
    plot.rcParams.update({"font.family": "sans-serif", "svg.fonttype": "none", "text.color": INK})
    figure = draw_growth(rows) if "steps" in rows[0] else draw_ratios(rows)
    figure.savefig(picture, bbox_inches="tight", metadata={"Date": None})


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with open(sys.argv[1]) as file:
        draw(json.load(file), sys.argv[2])
