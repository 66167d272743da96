"""Draw the backgrounds that ship: three pictures of each of the eight places of Table 1, by code alone.

    python scripts/draw_backgrounds.py [FOLDER]

Every place is drawn with most of its things at the sides, because a person will stand in the middle.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from brushes import Brush, hue, shade
from draw_masculine import mechanics_garage, professional_kitchen, sports_bar, university_classroom

FOLDER = Path(__file__).parents[1] / "src" / "portrayal" / "audits" / "contexts" / "backgrounds"
WHITE, WOOD, DARK = (250, 247, 242), (150, 104, 66), (52, 42, 38)


def gown(b: Brush, x: float, top: float, size: float, colour: tuple[int, int, int] = WHITE, stand: bool = True) -> None:
    """A wedding dress: bodice, wide skirt, folds, a veil over the shoulders."""
    w, h = 0.075 * size, 0.46 * size
    if stand:
        b.disc(x, top - 0.02 * size, 0.012 * size, (205, 180, 160))
        b.line(x, top + h, x, top + h + 0.06, fill=DARK, width=6)
        b.shadow(x - w, x + w, top + h + 0.05)
    b.shape(
        x - w * 0.45,
        top,
        x + w * 0.45,
        top,
        x + w * 0.3,
        top + h * 0.32,
        x + w,
        top + h,
        x - w,
        top + h,
        x - w * 0.3,
        top + h * 0.32,
        fill=colour,
    )
    for fold in range(-4, 5):
        b.line(
            x + fold * w * 0.06, top + h * 0.34, x + fold * w * 0.23, top + h * 0.99, fill=shade(colour, 0.88), width=3
        )
    b.line(x - w * 0.32, top + h * 0.32, x + w * 0.32, top + h * 0.32, fill=shade(colour, 0.75), width=5)
    for bead in range(-3, 4):
        b.disc(x + bead * w * 0.1, top + h * 0.06, 0.003 * size, shade(colour, 0.8), edge=False)
    b.shape(
        x - w * 0.2,
        top - 0.05 * size,
        x + w * 0.2,
        top - 0.05 * size,
        x + w * 0.75,
        top + h * 0.62,
        x + w * 0.45,
        top + h * 0.62,
        x,
        top - 0.02,
        x - w * 0.45,
        top + h * 0.62,
        x - w * 0.75,
        top + h * 0.62,
        fill=shade(colour, 1.02),
        edge=False,
    )


def wedding_dress_shop(b: Brush, v: int) -> None:
    """F1: gowns on a rail and on stands, a gilt mirror, a chandelier."""
    b.room(
        [(243, 226, 224), (232, 228, 220), (226, 232, 236)][v],
        [(214, 190, 168), (188, 176, 168), (206, 196, 184)][v],
        boards=v != 1,
    )
    b.line(0.03, 0.16, 0.36, 0.16, fill=(190, 160, 90), width=9)
    for number in range(6):
        gown(b, 0.06 + number * 0.056, 0.18, 0.88, shade(WHITE, 1 - 0.02 * (number % 3)), stand=False)
    b.box(0.78, 0.12, 0.95, 0.62, (201, 164, 86), round_by=0.03)
    b.box(0.79, 0.14, 0.94, 0.6, (218, 228, 232), round_by=0.025)
    gown(b, 0.68 if v != 2 else 0.72, 0.24, 1.0)
    gown(b, 0.9, 0.3, 1.05, (252, 240, 236) if v else WHITE)
    if v != 1:
        gown(b, 0.14, 0.36, 1.1, (246, 236, 232))
    b.line(0.5, 0, 0.5, 0.06, fill=(190, 160, 90), width=4)
    for arm in range(-3, 4):
        b.line(0.5, 0.06, 0.5 + arm * 0.035, 0.1, fill=(190, 160, 90), width=4)
        b.oval(0.5 + arm * 0.035, 0.095, 0.011, 0.02, (255, 244, 200), 230)
    b.text(0.53, 0.21, ["Bridal", "Brides", "Wedding Gowns"][v], 0.055, (176, 140, 90))
    b.box(0.0, 0.8, 0.14, 0.95, (230, 214, 214), round_by=0.02)
    for flower in range(9):
        b.disc(0.02 + 0.012 * (flower % 5), 0.76 - 0.02 * (flower // 5), 0.011, [(250, 214, 220), WHITE][flower % 2])


def nursery(b: Brush, v: int) -> None:
    """F2: a crib with bars, a mobile, a teddy bear, shelves and a round rug."""
    wall = [(222, 236, 226), (250, 234, 214), (214, 228, 244)][v]
    b.room(wall, (222, 198, 166), boards=True)
    for _ in range(40):
        b.disc(b.random.random(), b.random.random() * 0.6, 0.006, shade(wall, 1.08), edge=False)
    b.oval(0.5, 0.9, 0.34, 0.08, [(244, 214, 190), (200, 222, 214), (250, 240, 220)][v])
    left, right = (0.03, 0.4) if v != 1 else (0.6, 0.97)
    b.shadow(left, right, 0.9)
    b.box(left, 0.44, left + 0.014, 0.9, WHITE)
    b.box(right - 0.014, 0.44, right, 0.9, WHITE)
    b.box(left + 0.014, 0.68, right - 0.014, 0.76, [(236, 200, 206), (190, 214, 200), (250, 246, 240)][v])
    b.oval(left + 0.08, 0.67, 0.05, 0.03, WHITE)
    for bar in range(13):
        x = left + 0.02 + bar * (right - left - 0.04) / 12
        b.box(x - 0.004, 0.47, x + 0.004, 0.82, WHITE)
    b.box(left, 0.46, right, 0.49, WHITE)
    b.box(left, 0.81, right, 0.85, WHITE)
    middle = (left + right) / 2
    b.line(middle, 0, middle, 0.14, fill=(120, 110, 100), width=3)
    b.line(middle - 0.09, 0.14, middle + 0.09, 0.14, fill=WOOD, width=5)
    for toy in range(5):
        x, y = middle - 0.09 + toy * 0.045, 0.21 + 0.03 * (toy % 2)
        b.line(x, 0.14, x, y, fill=(120, 110, 100), width=2)
        b.disc(x, y, 0.016, hue(toy * 0.2 + v * 0.1, 0.35, 0.95))
    side = 0.8 if v != 1 else 0.2
    b.box(side - 0.14, 0.3, side + 0.14, 0.32, WHITE)
    for block in range(4):
        b.box(side - 0.12 + block * 0.045, 0.25, side - 0.08 + block * 0.045, 0.3, hue(block * 0.22, 0.4, 0.95))
        b.text(side - 0.1 + block * 0.045, 0.276, "ABCD"[block], 0.035, WHITE)
    bear(b, side + 0.08, 0.74, 1.3)
    b.box(side - 0.16, 0.56, side + 0.0, 0.88, shade(WHITE, 0.97))
    for drawer in range(3):
        b.line(side - 0.15, 0.66 + drawer * 0.1, side - 0.01, 0.66 + drawer * 0.1, fill=(200, 196, 190), width=3)
        b.disc(side - 0.08, 0.61 + drawer * 0.1, 0.006, (180, 170, 160))
    if v == 2:
        b.window(0.46, 0.1, 0.62, 0.4)


def bear(b: Brush, x: float, y: float, size: float) -> None:
    """A teddy bear, sitting."""
    brown = (176, 128, 84)
    b.disc(x, y + 0.07 * size, 0.045 * size, brown)
    for side in (-1, 1):
        b.disc(x + side * 0.04 * size, y + 0.13 * size, 0.02 * size, shade(brown, 0.95))
        b.disc(x + side * 0.026 * size, y - 0.055 * size, 0.014 * size, brown)
    b.disc(x, y - 0.01 * size, 0.034 * size, shade(brown, 1.06))
    b.disc(x, y + 0.008 * size, 0.014 * size, shade(brown, 1.35))
    for side in (-1, 1):
        b.disc(x + side * 0.013 * size, y - 0.018 * size, 0.004 * size, DARK)
    b.disc(x, y + 0.002, 0.005 * size, DARK)


def home_kitchen(b: Brush, v: int) -> None:
    """F3: cabinets, a stove, a sink under the window, a refrigerator."""
    front = [(240, 236, 226), (176, 196, 186), (196, 150, 104)][v]
    b.room((246, 240, 228), (196, 170, 140), 0.8, tiles=True)
    b.wall_tiles(0, 0.36, 1, 0.56, [(228, 236, 238), (250, 250, 246), (236, 226, 210)][v], 30)
    for door in range(7):
        if not 2 <= door <= 4:
            b.box(door * 0.143, 0.04, door * 0.143 + 0.138, 0.34, front)
            b.box(door * 0.143 + 0.02, 0.08, door * 0.143 + 0.118, 0.3, shade(front, 0.96))
            b.disc(door * 0.143 + 0.122, 0.27, 0.005, (130, 120, 110))
    b.window(0.33, 0.06, 0.67, 0.34)
    b.box(0, 0.56, 1, 0.59, [(120, 104, 92), (230, 228, 224), (90, 86, 84)][v])
    for door in range(7):
        b.box(door * 0.143, 0.59, door * 0.143 + 0.138, 0.84, front)
        b.line(door * 0.143 + 0.05, 0.62, door * 0.143 + 0.09, 0.62, fill=(120, 110, 100), width=6)
    stove = 0.06 if v != 1 else 0.64
    b.steel(stove, 0.56, stove + 0.2, 0.86, 190)
    b.box(stove + 0.03, 0.67, stove + 0.17, 0.82, (38, 40, 44), round_by=0.008)
    for knob in range(5):
        b.disc(stove + 0.03 + knob * 0.035, 0.615, 0.009, (40, 40, 44))
    b.box(stove + 0.005, 0.545, stove + 0.195, 0.56, (30, 30, 32))
    b.box(stove + 0.03, 0.48, stove + 0.09, 0.545, [(190, 60, 50), (70, 110, 150), (210, 170, 60)][v], round_by=0.006)
    b.line(stove + 0.025, 0.5, stove + 0.095, 0.5, fill=(60, 50, 50), width=5)
    b.oval(stove + 0.15, 0.52, 0.03, 0.03, (200, 205, 210))
    b.line(stove + 0.14, 0.49, stove + 0.165, 0.49, fill=(40, 40, 44), width=6)
    b.line(0.5, 0.56, 0.5, 0.44, 0.54, 0.43, 0.545, 0.47, fill=(170, 176, 182), width=9)
    b.oval(0.5, 0.57, 0.08, 0.012, (180, 186, 190))
    fridge = 0.84 if v != 1 else 0.0
    b.steel(fridge, 0.1, fridge + 0.16, 0.9, 222)
    b.line(fridge, 0.38, fridge + 0.16, 0.38, fill=(110, 114, 118), width=4)
    b.line(fridge + 0.02, 0.2, fridge + 0.02, 0.34, fill=(90, 94, 98), width=8)
    b.line(fridge + 0.02, 0.42, fridge + 0.02, 0.6, fill=(90, 94, 98), width=8)
    for jar in range(5):
        x = 0.33 + jar * 0.03 if v == 1 else 0.7 + jar * 0.026
        b.box(x, 0.5, x + 0.02, 0.56, hue(0.05 + jar * 0.08, 0.45, 0.85), round_by=0.004)


def kindergarten(b: Brush, v: int) -> None:
    """F4: a board with letters and numbers, small coloured chairs, blocks and toys."""
    b.room([(252, 240, 200), (214, 236, 242), (236, 244, 214)][v], (210, 180, 140), 0.66, boards=v == 0)
    b.box(0.26, 0.1, 0.74, 0.42, WOOD)
    b.box(0.27, 0.115, 0.73, 0.405, (46, 92, 74))
    b.text(0.5, 0.2, ["ABCDEFG", "abcdefgh", "A a  B b  C c"][v], 0.1, (246, 246, 236))
    b.text(0.5, 0.33, ["1 2 3 4 5", "1+1=2  2+1=3", "cat  dog  sun"][v], 0.075, (250, 226, 140))
    for sheet in range(4):
        for x in (0.02, 0.78):
            left = x + (sheet % 2) * 0.11
            top = 0.1 + (sheet // 2) * 0.19
            b.box(left, top, left + 0.09, top + 0.15, WHITE)
            b.disc(left + 0.045, top + 0.07, 0.024, hue(sheet * 0.25 + x, 0.6, 0.95))
            b.line(left + 0.015, top + 0.13, left + 0.075, top + 0.13, fill=(90, 160, 80), width=8)
    for flag in range(16):
        x = flag / 16
        b.shape(x, 0.01, x + 0.055, 0.01, x + 0.028, 0.07, fill=hue(flag * 0.13, 0.55, 0.97))
    for place, colour in enumerate([0.0, 0.14, 0.33, 0.58, 0.78]):
        x = [0.03, 0.17, 0.7, 0.83, 0.93][place]
        chair(b, x, 0.66 + 0.03 * (place % 2), hue(colour + v * 0.07, 0.7, 0.92))
    for left in (0.0, 0.72):
        b.box(left, 0.74, left + 0.26, 0.77, (236, 206, 150), round_by=0.01)
        for leg in (0.02, 0.23):
            b.box(left + leg, 0.77, left + leg + 0.012, 0.93, (200, 170, 120))
    for block in range(7):
        x, y = 0.03 + (block % 4) * 0.038, 0.735 - (block // 4) * 0.05
        b.box(x, y - 0.045, x + 0.035, y, hue(block * 0.16, 0.7, 0.95))
        b.text(x + 0.017, y - 0.023, "ABC1234"[block], 0.036, WHITE)
    bear(b, 0.9, 0.64, 0.9)
    b.disc(0.8, 0.7, 0.026, (80, 150, 210))
    for ball in range(3):
        b.disc(0.36 + ball * 0.14, 0.93, 0.024, hue(ball * 0.3 + v * 0.2, 0.75, 0.95))


def chair(b: Brush, x: float, y: float, colour: tuple[int, int, int]) -> None:
    """A small chair."""
    b.box(x, y - 0.1, x + 0.07, y - 0.03, colour, round_by=0.01)
    b.box(x - 0.005, y + 0.04, x + 0.078, y + 0.06, colour, round_by=0.005)
    for leg in (0.0, 0.065):
        b.box(x + leg, y - 0.05, x + leg + 0.008, y + 0.18, shade(colour, 0.8))


def main() -> None:
    """Draw all and write them, with a table of what each is."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    rows = ["background,context,file,source,license"]
    for context, scene in SCENES.items():
        for variant in range(3):
            brush = Brush(seed=variant)
            scene(brush, variant)
            name = f"{context}-{variant + 1}"
            brush.finish().save(folder / f"{name}.webp", quality=72, method=6)
            rows.append(f"{name},{context},{name}.webp,drawn by scripts/draw_backgrounds.py,Apache-2.0")
    (folder / "backgrounds.csv").write_text("\n".join(rows) + "\n")


SCENES: dict[str, Callable[[Brush, int], None]] = {
    "F1": wedding_dress_shop,
    "F2": nursery,
    "F3": home_kitchen,
    "F4": kindergarten,
    "M1": mechanics_garage,
    "M2": professional_kitchen,
    "M3": sports_bar,
    "M4": university_classroom,
}

if __name__ == "__main__":
    main()
