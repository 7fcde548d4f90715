"""Makes fields.json: potentials at some points, computed without the library.

    python3 tests/golden/fields.py > tests/golden/fields.json

Charges are summed up. The capacitor's equations, on the paper's grid of 300 x 200 nodes, are put
together from the flux between cells and solved directly, by elimination in a band; the library
solves them by iteration. It takes some minutes.
"""

import json
import math

WIDTH, HEIGHT = 300, 200
H1, H2 = 8 / (WIDTH - 1), 4 / (HEIGHT - 1)
DIPOLE = [(-3.0, 0.0, 1), (0.2, -0.1, 1), (-0.2, -0.1, -1)]


def dipole(phi, points):
    return [sum(q * s / math.dist((x, y), p) for q, (x, y, s) in zip(phi, DIPOLE)) for p in points]


def position(i, j):
    return -4 + i * H1, -2 + j * H2


def plate(x, y, centre, angle):
    """Whether a point lies in a plate of 4 m x 0.1 m."""
    dx, dy = x - centre[0], y - centre[1]
    along = dx * math.cos(angle) + dy * math.sin(angle)
    across = dy * math.cos(angle) - dx * math.sin(angle)
    return abs(along) <= 2 and abs(across) <= 0.05


def given(phi, i, j):
    x, y = position(i, j)
    if plate(x, y, (phi[1], 0.55), phi[0]):
        return 2.0
    return -2.0 if plate(x, y, (0.0, -0.55), 0.0) else None


def neighbours(i, j):
    """Nodes beside a node with the width of the gate between their cells over their distance."""
    half = lambda k, n: 0.5 if k in (0, n - 1) else 1.0
    for k in (i - 1, i + 1):
        if 0 <= k < WIDTH:
            yield k, j, half(j, HEIGHT) * H2 / H1
    for k in (j - 1, j + 1):
        if 0 <= k < HEIGHT:
            yield i, k, half(i, WIDTH) * H1 / H2


def capacitor(phi):
    """All potentials: the upper half of a band is eliminated, one node after the other."""
    fixed = {(i, j): given(phi, i, j) for i in range(WIDTH) for j in range(HEIGHT)}
    band, right = [], []
    for i in range(WIDTH):
        for j in range(HEIGHT):
            row, value = [0.0] * (HEIGHT + 1), 0.0
            if fixed[i, j] is not None:
                row[0], value = 1.0, fixed[i, j]
            else:
                for a, b, gate in neighbours(i, j):
                    row[0] += gate
                    distance = (a - i) * HEIGHT + b - j
                    if fixed[a, b] is not None:
                        value += gate * fixed[a, b]
                    elif distance > 0:
                        row[distance] = -gate
            band.append(row)
            right.append(value)
    count = len(band)
    for k in range(count):
        pivot = band[k]
        for d in range(1, min(HEIGHT, count - 1 - k) + 1):
            if pivot[d] != 0.0:
                factor, row = pivot[d] / pivot[0], band[k + d]
                row[: HEIGHT + 1 - d] = [a - factor * b for a, b in zip(row, pivot[d:])]
                right[k + d] -= factor * right[k]
    for k in reversed(range(count)):
        known = sum(a * b for a, b in zip(band[k][1:], right[k + 1 : k + 1 + HEIGHT]))
        right[k] = (right[k] - known) / band[k][0]
    return right


def case(name, phi, points, potentials):
    return {"field": name, "parameters": phi, "points": points, "potentials": potentials}


POINTS = [(-1.0, 0.0), (-0.3, 0.01), (0.0, 0.5), (0.7, 0.2), (1.0, 1.0)]
NODES = [(0, 0), (150, 100), (90, 110), (200, 90), (222, 125), (148, 160), (299, 140), (60, 10)]

if __name__ == "__main__":
    cases = [case("charges-dipole", phi, POINTS, dipole(phi, POINTS)) for phi in ([2.0, 1.0, 3.0], [1.5, -4.0, 0.25])]
    for name, phi in [("capacitor", [0.3, -0.2]), ("capacitor-eps", [0.04, 0.03])]:
        solution = capacitor(phi)
        potentials = [solution[i * HEIGHT + j] for i, j in NODES]
        cases.append(case(name, phi, [position(i, j) for i, j in NODES], potentials))
    print("[\n" + ",\n".join("  " + json.dumps(case) for case in cases) + "\n]")
