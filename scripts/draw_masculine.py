"""The other four places of Table 1, drawn the same way."""

from __future__ import annotations

from brushes import Brush, hue, shade

WHITE, WOOD, DARK = (250, 247, 242), (150, 104, 66), (52, 42, 38)


def car(b: Brush, x: float, y: float, size: float, colour: tuple[int, int, int]) -> None:
    """A car from the side."""
    w, h = 0.36 * size, 0.2 * size
    b.shape(
        x,
        y + h * 0.55,
        x + w * 0.06,
        y + h * 0.42,
        x + w * 0.24,
        y + h * 0.38,
        x + w * 0.34,
        y,
        x + w * 0.7,
        y,
        x + w * 0.84,
        y + h * 0.38,
        x + w * 0.98,
        y + h * 0.46,
        x + w,
        y + h * 0.85,
        x,
        y + h * 0.85,
        fill=colour,
    )
    b.shape(
        x + w * 0.29,
        y + h * 0.36,
        x + w * 0.37,
        y + h * 0.07,
        x + w * 0.5,
        y + h * 0.07,
        x + w * 0.5,
        y + h * 0.36,
        fill=(180, 210, 226),
    )
    b.shape(
        x + w * 0.53,
        y + h * 0.36,
        x + w * 0.53,
        y + h * 0.07,
        x + w * 0.67,
        y + h * 0.07,
        x + w * 0.77,
        y + h * 0.36,
        fill=(180, 210, 226),
    )
    b.line(x + w * 0.515, y + h * 0.06, x + w * 0.515, y + h * 0.83, fill=shade(colour, 0.6), width=3)
    b.disc(x + w * 0.97, y + h * 0.56, 0.008 * size, (250, 240, 200))
    for wheel in (0.2, 0.8):
        tyre(b, x + w * wheel, y + h * 0.88, 0.034 * size)


def tyre(b: Brush, x: float, y: float, radius: float) -> None:
    """A tyre with its rim."""
    b.disc(x, y, radius, (34, 34, 36))
    b.disc(x, y, radius * 0.58, (176, 180, 184))
    b.disc(x, y, radius * 0.2, (90, 92, 96))


def wrench(b: Brush, x: float, y: float, length: float) -> None:
    """A spanner on its hook."""
    b.line(x, y, x, y + length, fill=(168, 172, 178), width=9)
    b.disc(x, y, 0.012, (168, 172, 178))
    b.disc(x, y - 0.006, 0.005, (110, 100, 86), edge=False)
    b.disc(x, y + length, 0.01, (168, 172, 178))


def _tyre_stack(b: Brush, stack: float) -> None:
    """Four tyres on top of each other."""
    for number in range(4):
        b.box(stack - 0.06, 0.86 - number * 0.055, stack + 0.06, 0.91 - number * 0.055, (36, 36, 38), round_by=0.016)
        b.line(stack - 0.05, 0.885 - number * 0.055, stack + 0.05, 0.885 - number * 0.055, fill=(66, 66, 70), width=4)


def mechanics_garage(b: Brush, v: int) -> None:
    """M1: a car on a lift, tools on the wall, tyres, a red tool chest, a roller door."""
    b.room([(150, 154, 156), (176, 170, 158), (128, 140, 150)][v], (116, 114, 112), 0.7)
    for slat in range(9):
        b.box(0.36, 0.06 + slat * 0.055, 0.66, 0.11 + slat * 0.055, shade((190, 194, 196), 1 - 0.02 * (slat % 2)))
    board = 0.02 if v != 1 else 0.7
    b.box(board, 0.1, board + 0.28, 0.46, (196, 160, 112))
    for tool in range(8):
        wrench(b, board + 0.025 + tool * 0.033, 0.15, 0.08 + 0.018 * (tool % 4))
    for tool in range(4):
        x = board + 0.04 + tool * 0.06
        b.line(x, 0.35, x, 0.43, fill=(90, 70, 50), width=10)
        b.box(x - 0.018, 0.33, x + 0.018, 0.355, (88, 90, 94))
    post = 0.6 if v != 1 else 0.02
    for x in (post, post + 0.36):
        b.box(x, 0.12, x + 0.02, 0.82, [(40, 90, 170), (200, 60, 40), (220, 170, 40)][v])
    b.box(post, 0.53, post + 0.38, 0.555, (70, 74, 80))
    car(b, post + 0.01, 0.32, 1.0, [(196, 44, 40), (40, 84, 150), (214, 214, 216)][v])
    chest = 0.03 if v != 1 else 0.8
    b.shadow(chest, chest + 0.18, 0.92)
    b.box(chest, 0.58, chest + 0.18, 0.9, (190, 36, 34))
    for drawer in range(5):
        b.box(chest + 0.008, 0.6 + drawer * 0.058, chest + 0.172, 0.648 + drawer * 0.058, (206, 48, 44))
        b.line(
            chest + 0.05, 0.622 + drawer * 0.058, chest + 0.13, 0.622 + drawer * 0.058, fill=(210, 214, 218), width=6
        )
    _tyre_stack(b, 0.26 if v != 1 else 0.7)
    tyre(b, 0.93 if v != 1 else 0.1, 0.86, 0.06)
    b.box(0.44, 0.86, 0.52, 0.95, [(60, 60, 64), (210, 180, 50), (60, 60, 64)][v], round_by=0.006)
    b.text(0.48, 0.9, "OIL", 0.04, (230, 230, 230))
    for spot in range(5):
        b.oval(0.3 + 0.1 * spot, 0.95 - 0.02 * (spot % 2), 0.03, 0.01, (40, 40, 42), 110)
    b.text(0.51, 0.03, ["AUTO REPAIR", "GARAGE", "CAR SERVICE"][v], 0.05, (250, 226, 90))


def professional_kitchen(b: Brush, v: int) -> None:
    """M2: steel counters, a hood, burners, hanging pans, stacks of plates."""
    b.room((226, 228, 228), (150, 140, 134), 0.82, tiles=True)
    b.wall_tiles(0, 0.2, 1, 0.58, [(240, 242, 242), (216, 222, 226), (232, 228, 220)][v], 34)
    b.steel(0.0, 0.0, 1.0, 0.13, 200)
    hood = 0.06 if v != 1 else 0.6
    b.shape(hood, 0.2, hood + 0.05, 0.06, hood + 0.3, 0.06, hood + 0.36, 0.2, fill=(176, 180, 184))
    b.steel(hood, 0.18, hood + 0.36, 0.23, 186)
    b.line(0.02, 0.29, 0.98, 0.29, fill=(120, 124, 128), width=7)
    for pan in range(11):
        x = 0.05 + pan * 0.09
        if pan % 3 == 0:
            b.line(x, 0.29, x, 0.36, fill=(70, 70, 74), width=8)
            b.disc(x, 0.4, 0.034, [(60, 60, 64), (184, 110, 70), (150, 152, 156)][(pan + v) % 3])
        elif pan % 3 == 1:
            b.line(x, 0.29, x, 0.42, fill=(170, 174, 178), width=6)
            b.disc(x, 0.43, 0.015, (180, 184, 188))
        else:
            b.line(x, 0.29, x, 0.38, fill=(170, 174, 178), width=6)
            b.shape(x - 0.014, 0.38, x + 0.014, 0.38, x + 0.012, 0.45, x - 0.012, 0.45, fill=(176, 180, 184))
    b.steel(0.0, 0.58, 1.0, 0.62, 224)
    b.steel(0.0, 0.62, 1.0, 0.9, 188)
    for burner in range(4):
        x = hood + 0.04 + burner * 0.09
        b.box(x - 0.035, 0.565, x + 0.035, 0.58, (30, 30, 32))
        b.oval(x, 0.562, 0.02, 0.012, (70, 130, 240), 220)
        if burner != 2:
            b.steel(x - 0.035, 0.46, x + 0.035, 0.56, 196)
            b.line(x - 0.045, 0.49, x + 0.045, 0.49, fill=(90, 94, 98), width=7)
            b.oval(x, 0.42, 0.03, 0.03, (240, 240, 240), 90)
    b.box(hood + 0.02, 0.66, hood + 0.17, 0.84, (40, 42, 46), round_by=0.006)
    b.box(hood + 0.19, 0.66, hood + 0.34, 0.84, (40, 42, 46), round_by=0.006)
    for knob in range(8):
        b.disc(hood + 0.03 + knob * 0.043, 0.64, 0.008, (180, 40, 36))
    plates = 0.64 if v != 1 else 0.06
    for pile in range(4):
        for plate in range(9):
            b.oval(plates + pile * 0.085, 0.575 - plate * 0.012, 0.036, 0.009, shade(WHITE, 1 - 0.05 * (plate % 2)))
    b.box(plates - 0.04, 0.68, plates + 0.3, 0.7, (150, 154, 158))
    for bowl in range(5):
        b.oval(plates + bowl * 0.06, 0.67, 0.026, 0.02, (206, 210, 214))
    b.box(0.46, 0.5, 0.54, 0.58, (196, 150, 96), round_by=0.004)


def _screens(b: Brush, v: int) -> None:
    """Two screens with a match on them."""
    for screen in ((0.03, 0.3), (0.7, 0.97)):
        b.box(screen[0], 0.03, screen[1], 0.22, (18, 18, 20))
        b.box(screen[0] + 0.008, 0.042, screen[1] - 0.008, 0.208, [(52, 150, 70), (60, 140, 60), (176, 110, 60)][v])
        middle = (screen[0] + screen[1]) / 2
        b.line(middle, 0.042, middle, 0.208, fill=WHITE, width=3)
        b.disc(middle, 0.125, 0.028, [(52, 150, 70), (60, 140, 60), (176, 110, 60)][v])
        for player in range(7):
            b.disc(
                screen[0] + 0.03 + player * 0.033,
                0.07 + 0.11 * b.random.random(),
                0.005,
                [WHITE, (220, 40, 40)][player % 2],
            )
        b.box(screen[0] + 0.012, 0.047, screen[0] + 0.08, 0.068, (30, 30, 40))
        b.text(screen[0] + 0.046, 0.058, "2 - 1", 0.024, WHITE)


def sports_bar(b: Brush, v: int) -> None:
    """M3: a counter with beer taps, bottles on shelves, screens with a match, stools, neon."""
    b.room([(74, 48, 36), (50, 56, 66), (88, 62, 40)][v], (66, 46, 34), 0.72, boards=True)
    for row in range(2):
        b.box(0.0, 0.34 + row * 0.13, 1.0, 0.355 + row * 0.13, (110, 74, 44))
        for bottle in range(34):
            x = 0.012 + bottle * 0.0292
            colour = hue(b.random.choice([0.08, 0.1, 0.3, 0.35, 0.02, 0.12]), 0.75, 0.35 + 0.4 * b.random.random())
            tall = 0.07 + 0.03 * b.random.random()
            b.box(x, 0.34 + row * 0.13 - tall, x + 0.017, 0.34 + row * 0.13, colour, round_by=0.003)
            b.box(x + 0.005, 0.315 + row * 0.13 - tall, x + 0.012, 0.345 + row * 0.13 - tall, colour)
    _screens(b, v)
    b.text(
        0.5,
        0.12,
        ["BAR", "SPORTS BAR", "PUB"][v],
        [0.11, 0.075, 0.11][v],
        [(255, 90, 80), (90, 200, 255), (255, 210, 90)][v],
    )
    b.oval(0.5, 0.12, 0.17, 0.09, [(255, 90, 80), (90, 200, 255), (255, 210, 90)][v], 40)
    b.box(0.0, 0.6, 1.0, 0.65, (146, 92, 50))
    b.box(0.0, 0.65, 1.0, 0.9, (92, 56, 34))
    for panel in range(8):
        b.box(panel * 0.127 + 0.012, 0.68, panel * 0.127 + 0.115, 0.87, (104, 64, 38))
    for tap in range(4):
        x = (0.08 if v != 1 else 0.74) + tap * 0.05
        b.box(x - 0.008, 0.48, x + 0.008, 0.6, (196, 166, 92), round_by=0.005)
        b.line(x, 0.52, x + 0.022, 0.53, fill=(196, 166, 92), width=8)
        b.box(x - 0.009, 0.41, x + 0.009, 0.48, hue(tap * 0.25, 0.8, 0.75), round_by=0.005)
    for glass in range(5):
        x = (0.68 if v != 1 else 0.08) + glass * 0.055
        b.box(x, 0.52, x + 0.034, 0.6, (226, 160, 40), round_by=0.004)
        b.oval(x + 0.017, 0.52, 0.019, 0.017, (252, 248, 236))
    for stool in (0.08, 0.22, 0.76, 0.9):
        b.oval(stool, 0.76, 0.05, 0.022, (150, 40, 36))
        b.line(stool, 0.78, stool, 0.97, fill=(150, 150, 156), width=10)
        b.oval(stool, 0.97, 0.04, 0.012, (130, 130, 136))
    for lamp in (0.16, 0.84):
        b.lamp(lamp, 0.22, (40, 90, 60))


def _benches(b: Brush, v: int) -> None:
    """Three rows of benches with seats, paper and laptops."""
    for row in range(3):
        y, spread = 0.64 + row * 0.13, 0.02 * row
        b.box(-0.02 - spread, y, 1.02 + spread, y + 0.028, shade((186, 140, 92), 1 - 0.06 * row))
        b.box(-0.02, y + 0.028, 1.02, y + 0.09, shade((140, 98, 62), 1 - 0.06 * row))
        for seat in range(9 - row):
            x = (seat + 0.5) / (9 - row)
            b.box(
                x - 0.036, y + 0.05, x + 0.036, y + 0.13, [(70, 84, 120), (120, 50, 50), (60, 60, 66)][v], round_by=0.01
            )
            if (seat + row) % 3 == 0:
                b.shape(x - 0.02, y + 0.012, x + 0.01, y - 0.012, x + 0.036, y - 0.004, x + 0.01, y + 0.02, fill=WHITE)
            if (seat + row) % 4 == 1:
                b.box(x - 0.02, y - 0.03, x + 0.02, y + 0.004, (56, 58, 62))


def university_classroom(b: Brush, v: int) -> None:
    """M4: a board with formulas, a projection screen, rows of benches, a lectern and a clock."""
    b.room([(226, 222, 212), (214, 220, 226), (206, 190, 168)][v], (150, 116, 82), 0.56, boards=v != 1)
    b.box(0.04, 0.08, 0.62 if v != 2 else 0.96, 0.44, WOOD)
    right = 0.61 if v != 2 else 0.95
    b.box(0.05, 0.095, right, 0.425, [(40, 74, 62), (244, 246, 246), (34, 44, 50)][v])
    ink = [(236, 240, 232), (40, 60, 150), (240, 240, 236)][v]
    for line, words in enumerate(["f(x) = a x + b", "E = m c c      dy/dx = a", "P(A|B) = P(A,B) / P(B)"]):
        b.text(0.24, 0.16 + line * 0.09, words, 0.05, ink)
    b.line(0.45, 0.36, 0.45, 0.14, fill=ink, width=4)
    b.line(0.43, 0.34, 0.59, 0.34, fill=ink, width=4)
    b.line(0.45, 0.33, 0.49, 0.3, 0.53, 0.2, 0.57, 0.16, fill=ink, width=4)
    if v != 2:
        b.box(0.67, 0.04, 0.97, 0.4, (60, 60, 64))
        b.box(0.675, 0.055, 0.965, 0.39, (246, 250, 252))
        b.text(0.82, 0.12, ["Lecture 7", "Seminar"][v], 0.055, (30, 50, 110))
        for bar in range(5):
            b.box(0.72 + bar * 0.042, 0.34 - 0.035 * (bar % 4 + 1), 0.75 + bar * 0.042, 0.34, hue(0.58, 0.6, 0.8))
    b.disc(0.645 if v != 2 else 0.5, 0.05, 0.022, WHITE)
    b.line(0.645 if v != 2 else 0.5, 0.05, 0.655 if v != 2 else 0.51, 0.04, fill=DARK, width=4)
    lectern = 0.86 if v != 1 else 0.1
    b.shape(lectern - 0.06, 0.46, lectern + 0.06, 0.44, lectern + 0.05, 0.68, lectern - 0.05, 0.68, fill=(124, 80, 48))
    b.line(lectern, 0.44, lectern + 0.01, 0.36, fill=DARK, width=5)
    _benches(b, v)
