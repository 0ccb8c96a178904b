"""Line charts as SVG text, without a plotting library."""

import math
from collections.abc import Callable, Mapping, Sequence

Points = Sequence[tuple[float, float]]
COLOURS = ("#0b62a4", "#c4421a", "#3c8c40", "#777777")
WIDTH, HEIGHT = 640, 380
LEFT, RIGHT, TOP, BOTTOM = 60, 90, 40, 50


def line_chart(
    title: str, x_title: str, y_title: str, series: Mapping[str, Points], log: str = ""
) -> str:
    """A chart of named lines; ``log`` names the logarithmic axes: "", "x", "y" or "xy"."""
    points = [point for line in series.values() for point in line]
    place_x, ticks_x = _axis([x for x, _ in points], "x" in log, LEFT, WIDTH - RIGHT)
    place_y, ticks_y = _axis([y for _, y in points], "y" in log, HEIGHT - BOTTOM, TOP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}"'
        ' font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
        f'<text x="{LEFT}" y="20" font-size="14">{title}</text>',
        _text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 10, x_title, "middle"),
        f'<text transform="translate(14 {HEIGHT / 2}) rotate(-90)" text-anchor="middle">'
        f"{y_title}</text>",
    ]
    for tick in ticks_x:
        parts.append(_text(place_x(tick), HEIGHT - BOTTOM + 18, _short(tick), "middle"))
    for tick in ticks_y:
        y = place_y(tick)
        parts.append(f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>')
        parts.append(_text(LEFT - 6, y + 4, _short(tick), "end"))
    label_y = math.inf
    ends = sorted(series, key=lambda name: series[name][-1][1])
    colours = dict(zip(series, COLOURS, strict=False))
    for name in ends:
        line = [(place_x(x), place_y(y)) for x, y in series[name]]
        path = "L".join(f"{x:.1f} {y:.1f}" for x, y in line)
        parts.append(f'<path d="M{path}" fill="none" stroke="{colours[name]}" stroke-width="2"/>')
        parts += [
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colours[name]}"/>' for x, y in line
        ]
        label_y = min(line[-1][1] + 4, label_y - 14)  # from below, none over another
        parts.append(_text(WIDTH - RIGHT + 8, label_y, name, "start", colours[name]))
    return "\n".join([*parts, "</svg>", ""])


def _axis(
    values: Sequence[float], log: bool, start: float, end: float
) -> tuple[Callable[[float], float], list[float]]:
    """A function from values to places, and the values to name."""
    if not log:
        top = max(values) or 1
        step = 10 ** math.floor(math.log10(top))
        step /= 1 if top / step > 3 else 2 if top / step > 1.5 else 5
        ticks = [step * n for n in range(math.ceil(top / step) + 1)]
        return (lambda value: start + (end - start) * value / ticks[-1]), ticks
    low = math.floor(math.log10(min(values)))
    high = max(math.ceil(math.log10(max(values))), low + 1)
    scale = (end - start) / (high - low)
    return (
        lambda value: start + scale * (math.log10(value) - low),
        [10.0**power for power in range(low, high + 1)],
    )


def _short(value: float) -> str:
    for size, letter in ((1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:g}{letter}"
    return f"{value:g}"


def _text(x: float, y: float, text: str, anchor: str, colour: str = "#333") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}">{text}</text>'
