"""Figures as pictures: an SVG of bars that needs nothing beside it, legible on light and dark pages."""

import math
from html import escape

WIDTH, LABELS, ROW, TOP = 860, 430, 24, 44
LEAST, MOST = 0.1, 32.0  # the scale is logarithmic: twice as much is as wide everywhere
MET, MISSED = "#2e7d4f", "#b3541e"


def place(value):
    share = math.log(min(max(value, LEAST), MOST) / LEAST) / math.log(MOST / LEAST)
    return LABELS + share * (WIDTH - LABELS - 70)


def bars(title, figures):
    """`figures`: (name, value); 1 is drawn as a line, and what is under it in another colour."""
    height = TOP + ROW * len(figures) + 16
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" '
           'font-family="sans-serif" font-size="12" role="img">',
           f"<title>{escape(title)}</title>", f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
           f'<text x="10" y="24" font-size="15" fill="#222222">{escape(title)}</text>']
    for at, (name, value) in enumerate(figures):
        y = TOP + ROW * at
        short = name if len(name) <= 66 else name[:65] + "…"
        out += [f'<text x="{LABELS - 8}" y="{y + 14}" text-anchor="end" fill="#222222">{escape(short)}</text>',
                f'<rect x="{LABELS}" y="{y + 3}" width="{max(place(value) - LABELS, 1):.1f}" height="15" '
                f'fill="{MET if value >= 1 else MISSED}"/>',
                f'<text x="{place(value) + 6:.1f}" y="{y + 14}" fill="#222222">{value:.2f}</text>']
    out += [f'<line x1="{place(1):.1f}" y1="{TOP - 6}" x2="{place(1):.1f}" y2="{height - 8}" stroke="#222222" '
            'stroke-dasharray="4 3"/>', "</svg>"]
    return "\n".join(out) + "\n"
