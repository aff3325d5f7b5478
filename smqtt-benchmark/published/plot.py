# SPDX-License-Identifier: Apache-2.0
"""Plots as SVG text: grouped bars and lines, on white, in colours that colour-blind readers can tell apart. Standard library only."""
import math
from xml.sax.saxutils import escape

WIDTH, LEFT, RIGHT, TOP, BOTTOM = 960, 78, 20, 84, 74
INK, MUTED, GRID = "#1b1b1b", "#4d4d4d", "#d9d9d9"
# Okabe and Ito's palette; the first is for published figures, and is hatched in bars.
COLOURS = ["#8a8a8a", "#0072b2", "#d55e00", "#009e73", "#cc79a7"]
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif"


def shown(value):
    """A figure as a short label: two or three significant digits, k and M for large ones."""
    rounded = float(f"{value:.3g}")
    for size, unit in ((1e6, "M"), (1e3, "k")):
        if rounded >= max(size, 1e4):
            return f"{rounded / size:g}{unit}"
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}" if value >= 10 else f"{value:.2g}"


def step(least):
    """The least of 1, 2 and 5 times a power of ten that is not below."""
    power = 10 ** math.floor(math.log10(least))
    return next(power * digit for digit in (1, 2, 5, 10) if power * digit >= least * (1 - 1e-9))


class Axis:
    """Values to heights, linear from zero or logarithmic."""

    def __init__(self, values, height, logarithmic):
        self.logarithmic, self.height = logarithmic, height
        highest, lowest = max(values), min(value for value in values if value > 0)
        if logarithmic:
            self.low = 10 ** math.floor(math.log10(lowest * 0.8))
            self.high = 10 ** math.ceil(math.log10(highest * 1.3))
            self.ticks = [10**power for power in range(round(math.log10(self.low)), round(math.log10(self.high)) + 1)]
        else:
            apart = step(highest * 1.1 / 5)
            self.low, self.high = 0, apart * math.ceil(highest * 1.08 / apart)
            self.ticks = [apart * number for number in range(round(self.high / apart) + 1)]

    def y(self, value):
        if self.logarithmic:
            part = math.log10(max(value, self.low) / self.low) / math.log10(self.high / self.low)
        else:
            part = value / self.high
        return self.height - BOTTOM - part * (self.height - BOTTOM - TOP)


class Picture:
    def __init__(self, title, unit, description, height=430):
        self.height = height
        self.parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="{FONT}" font-size="14" role="img" aria-labelledby="t d">',
            f'<title id="t">{escape(title)}</title>',
            f'<desc id="d">{escape(description)}</desc>',
            '<defs><pattern id="published" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
            f'<rect width="6" height="6" fill="#ececec"/><rect width="2.4" height="6" fill="{COLOURS[0]}"/></pattern></defs>',
            f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
            f'<text x="20" y="28" font-size="18" font-weight="600" fill="{INK}">{escape(title)}</text>',
            f'<text x="20" y="72" font-size="13" fill="{MUTED}">{escape(unit)}</text>',
        ]

    def legend(self, names, first=0):
        x = 20
        for number, name in enumerate(names, first):
            fill = "url(#published)" if number == 0 else COLOURS[number]
            self.parts.append(f'<rect x="{x}" y="39" width="14" height="14" fill="{fill}" stroke="{COLOURS[number]}"/>'
                              f'<text x="{x + 20}" y="51" fill="{INK}">{escape(name)}</text>')
            x += 42 + 7.6 * len(name)

    def grid(self, axis):
        for tick in axis.ticks:
            y = axis.y(tick)
            self.parts.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="{GRID}"/>'
                              f'<text x="{LEFT - 8}" y="{y + 5:.1f}" text-anchor="end" font-size="13" fill="{MUTED}">{shown(tick)}</text>')

    def label(self, x, lines):
        for number, line in enumerate(lines.split("\n")):
            y = self.height - BOTTOM + 20 + 17 * number
            self.parts.append(f'<text x="{x:.1f}" y="{y}" text-anchor="middle" fill="{INK}">{escape(line)}</text>')

    def note(self, text):
        if text:
            self.parts.append(f'<text x="20" y="{self.height - 10}" font-size="12" fill="{MUTED}">{escape(text)}</text>')

    def text(self):
        return "\n".join([*self.parts, "</svg>", ""])


def description(groups, names, rows):
    """What the picture shows, in words, for readers who cannot see it."""
    return "; ".join(group.replace("\n", " ") + ": " + ", ".join(f"{name} {shown(value)}" for name, value in zip(names, row) if value is not None)
                     for group, row in zip(groups, rows))


def bars(title, unit, groups, names, rows, logarithmic=False, note=""):
    """One group of bars for each of groups, a bar for each of names; rows[group][name] may be None. The first name is the published figure."""
    picture = Picture(title, unit, description(groups, names, rows))
    axis = Axis([value for row in rows for value in row if value is not None], picture.height, logarithmic)
    picture.legend(names)
    picture.grid(axis)
    room = (WIDTH - LEFT - RIGHT) / len(groups)
    width = min(46, room * 0.86 / len(names))
    base = picture.height - BOTTOM
    for group, (label, row) in enumerate(zip(groups, rows)):
        middle = LEFT + room * (group + 0.5)
        picture.label(middle, label)
        for number, value in enumerate(row):
            x = middle + (number - len(row) / 2) * width
            if value is None:
                picture.parts.append(f'<text x="{x + width / 2:.1f}" y="{base - 5}" text-anchor="middle" font-size="12" fill="{MUTED}">–</text>')
                continue
            y = axis.y(value)
            fill = "url(#published)" if number == 0 else COLOURS[number]
            picture.parts.append(f'<rect x="{x + 1.5:.1f}" y="{y:.1f}" width="{width - 3:.1f}" height="{max(base - y, 1):.1f}" fill="{fill}" stroke="{COLOURS[number]}"/>'
                                 f'<text x="{x + width / 2:.1f}" y="{y - 4:.1f}" text-anchor="middle" font-size="11" fill="{INK}">{shown(value)}</text>')
    picture.parts.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{base}" y2="{base}" stroke="{MUTED}"/>')
    picture.note(note)
    return picture.text()


def lines(title, unit, across, names, columns, note=""):
    """A line for each of names through (x, y) of its column."""
    words = [f"{name}: " + ", ".join(f"{x:,} {shown(y)}" for x, y in column) for name, column in zip(names, columns)]
    picture = Picture(title, unit, "; ".join(words))
    axis = Axis([y for column in columns for _, y in column], picture.height, logarithmic=False)
    picture.legend(names, 1)
    picture.grid(axis)
    widest = max(x for column in columns for x, _ in column)
    reach = step(widest / 5) * math.ceil(widest / step(widest / 5))

    def place(x):
        return LEFT + x / reach * (WIDTH - LEFT - RIGHT - 30)

    for number in range(1, math.ceil(widest / step(widest / 5)) + 1):
        picture.label(place(number * step(widest / 5)), f"{number * step(widest / 5):,.0f}")
    for number, column in enumerate(columns, 1):
        way = " ".join(f"{place(x):.1f},{axis.y(y):.1f}" for x, y in column)
        picture.parts.append(f'<polyline points="{way}" fill="none" stroke="{COLOURS[number]}" stroke-width="2.5"/>')
        for x, y in column:
            picture.parts.append(f'<circle cx="{place(x):.1f}" cy="{axis.y(y):.1f}" r="4.5" fill="{COLOURS[number]}"/>')
    last = math.inf
    for x, y in sorted((column[-1] for column in columns), key=lambda point: point[1]):  # labels of close ends stay apart
        last = min(axis.y(y) + 5, last - 13)
        picture.parts.append(f'<text x="{place(x) + 10:.1f}" y="{last:.1f}" font-size="12" fill="{INK}">{shown(y)}</text>')
    base = picture.height - BOTTOM
    picture.parts.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{base}" y2="{base}" stroke="{MUTED}"/>'
                         f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{base + 42}" text-anchor="middle" font-size="13" fill="{MUTED}">{escape(across)}</text>')
    picture.note(note)
    return picture.text()
