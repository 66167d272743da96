"""Shapes the drawn backgrounds are made of. Coordinates are shares of the picture: x and y from 0 to 1."""

from __future__ import annotations

import colorsys
import math
import random

from PIL import Image, ImageDraw, ImageFilter, ImageFont

WIDTH, HEIGHT = 1440, 960  # drawn at this size, saved at two thirds of it
Colour = tuple[int, int, int]


class Brush:
    """A canvas with a few shapes, light and shadow."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.image = Image.new("RGB", (WIDTH, HEIGHT))
        self.draw = ImageDraw.Draw(self.image, "RGBA")

    def at(self, *points: float) -> list[float]:
        """Turn x, y, x, y ... in shares into pixels."""
        return [value * (WIDTH if place % 2 == 0 else HEIGHT) for place, value in enumerate(points)]

    def box(
        self, x0: float, y0: float, x1: float, y1: float, fill: Colour, edge: bool = True, round_by: float = 0
    ) -> None:
        """Draw a box with a lighter top and a darker rim, as if lit from above."""
        x0, x1 = sorted((x0, x1))
        y0, y1 = sorted((y0, y1))
        self.draw.rounded_rectangle(self.at(x0, y0, x1, y1), round_by * WIDTH, fill=fill)
        if edge:
            self.draw.rounded_rectangle(
                self.at(x0, y0, x1, y1), round_by * WIDTH, outline=(*shade(fill, 0.6), 255), width=2
            )
            self.draw.line(self.at(x0, y0, x1, y0), fill=(*shade(fill, 1.25), 255), width=3)

    def steel(self, x0: float, y0: float, x1: float, y1: float, light: int = 205) -> None:
        """Draw brushed steel: a vertical sheen with fine streaks."""
        for step in range(24):
            tone = int(light - 45 + 45 * math.cos(step / 24 * 3 * math.pi))
            left = x0 + (x1 - x0) * step / 24
            self.draw.rectangle(self.at(left, y0, left + (x1 - x0) / 23, y1), fill=(tone, tone + 3, tone + 6))
        self.draw.rectangle(self.at(x0, y0, x1, y1), outline=(90, 95, 100), width=2)

    def disc(self, x: float, y: float, radius: float, fill: Colour, edge: bool = True) -> None:
        """Draw a disc; the radius is a share of the width."""
        r = radius * WIDTH
        px, py = self.at(x, y)
        self.draw.ellipse(
            (px - r, py - r, px + r, py + r), fill=fill, outline=shade(fill, 0.6) if edge else None, width=2
        )

    def oval(self, x: float, y: float, rx: float, ry: float, fill: Colour, alpha: int = 255) -> None:
        """Draw an ellipse with opacity."""
        px, py = self.at(x, y)
        self.draw.ellipse((px - rx * WIDTH, py - ry * HEIGHT, px + rx * WIDTH, py + ry * HEIGHT), fill=(*fill, alpha))

    def line(self, *points: float, fill: Colour, width: int = 4) -> None:
        """Draw a line through points."""
        self.draw.line(self.at(*points), fill=fill, width=width, joint="curve")

    def shape(self, *points: float, fill: Colour, edge: bool = True) -> None:
        """Draw a polygon."""
        self.draw.polygon(self.at(*points), fill=fill, outline=shade(fill, 0.6) if edge else None)

    def text(self, x: float, y: float, words: str, size: float, fill: Colour) -> None:
        """Write words with their centre at a point."""
        font = ImageFont.load_default(size * HEIGHT)
        self.draw.text(self.at(x, y), words, fill=fill, font=font, anchor="mm")

    def room(
        self, wall: Colour, floor: Colour, horizon: float = 0.68, boards: bool = False, tiles: bool = False
    ) -> None:
        """Paint a wall and a floor in perspective, darker towards the edges."""
        for row in range(HEIGHT):
            share = row / HEIGHT
            base = wall if share < horizon else floor
            tone = 1.06 - 0.18 * share if share < horizon else 0.82 + 0.35 * (share - horizon)
            self.draw.line((0, row, WIDTH, row), fill=shade(base, tone))
        self.box(-0.1, horizon - 0.012, 1.1, horizon + 0.01, shade(wall, 0.75), edge=False)
        lines = range(-30, 31, 2 if boards else 4)
        if boards or tiles:
            for step in lines:
                self.line(0.5 + step * 0.025, horizon, 0.5 + step * 0.11, 1.0, fill=shade(floor, 0.8), width=2)
        if tiles:
            for step in (0.04, 0.1, 0.19, 0.31):
                self.line(0, horizon + step, 1, horizon + step, fill=shade(floor, 0.8), width=2)

    def wall_tiles(self, x0: float, y0: float, x1: float, y1: float, colour: Colour, columns: int = 16) -> None:
        """Paint tiles on a wall."""
        self.box(x0, y0, x1, y1, colour, edge=False)
        step = (x1 - x0) / columns
        rows = max(1, round((y1 - y0) / (step * 1.1)))
        for column in range(columns + 1):
            self.line(x0 + column * step, y0, x0 + column * step, y1, fill=shade(colour, 0.86), width=2)
        for row in range(rows + 1):
            y = y0 + (y1 - y0) * row / rows
            self.line(x0, y, x1, y, fill=shade(colour, 0.86), width=2)

    def window(self, x0: float, y0: float, x1: float, y1: float, frame: Colour = (245, 245, 240)) -> None:
        """Paint a window with sky and a tree."""
        self.box(x0 - 0.01, y0 - 0.015, x1 + 0.01, y1 + 0.015, frame)
        for row in range(int(y0 * HEIGHT), int(y1 * HEIGHT)):
            share = (row / HEIGHT - y0) / (y1 - y0)
            self.draw.line((x0 * WIDTH, row, x1 * WIDTH, row), fill=(int(150 + 70 * share), int(200 + 35 * share), 245))
        self.oval(x0 + (x1 - x0) * 0.7, y1 - (y1 - y0) * 0.26, (x1 - x0) * 0.2, (y1 - y0) * 0.24, (96, 150, 84))
        self.box(x0, (y0 + y1) / 2 - 0.004, x1, (y0 + y1) / 2 + 0.004, frame, edge=False)
        self.box((x0 + x1) / 2 - 0.003, y0, (x0 + x1) / 2 + 0.003, y1, frame, edge=False)

    def lamp(self, x: float, y: float, colour: Colour = (60, 60, 60)) -> None:
        """Hang a lamp with its glow."""
        self.line(x, 0, x, y, fill=(50, 50, 50), width=3)
        self.shape(x - 0.035, y + 0.05, x - 0.012, y, x + 0.012, y, x + 0.035, y + 0.05, fill=colour)
        self.oval(x, y + 0.06, 0.05, 0.035, (255, 236, 170), 150)
        self.oval(x, y + 0.09, 0.12, 0.09, (255, 236, 170), 40)

    def shadow(self, x0: float, x1: float, y: float) -> None:
        """Lay a soft shadow on the floor."""
        self.oval((x0 + x1) / 2, y, (x1 - x0) * 0.55, 0.018, (0, 0, 0), 70)

    def finish(self) -> Image.Image:
        """Soften the edges, add grain and a little vignetting, and scale down."""
        soft = self.image.filter(ImageFilter.GaussianBlur(1.1))
        noise = Image.effect_noise((WIDTH, HEIGHT), 14).convert("L")
        grained = Image.blend(soft, Image.merge("RGB", [noise] * 3), 0.05)
        dark = Image.radial_gradient("L").resize((WIDTH, HEIGHT)).point(lambda value: min(255, value // 3))
        grained.paste((20, 18, 16), (0, 0), dark)
        return grained.resize((WIDTH * 2 // 3, HEIGHT * 2 // 3), Image.Resampling.LANCZOS)


def shade(colour: Colour, by: float) -> Colour:
    """Return the colour made lighter or darker."""
    red, green, blue = (min(255, max(0, int(value * by))) for value in colour)
    return red, green, blue


def hue(position: float, saturation: float = 0.6, value: float = 0.9) -> Colour:
    """Return a colour from the wheel."""
    red, green, blue = colorsys.hsv_to_rgb(position % 1, saturation, value)
    return int(red * 255), int(green * 255), int(blue * 255)
