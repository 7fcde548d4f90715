"""Makes robots.json: states after 100 steps, computed without the library, from the Lagrangians.

    python3 tests/golden/robots.py > tests/golden/robots.json

Only the kinetic and the potential energy of each robot are written down here. Mass matrices come
from the kinetic energy by polarisation, all derivatives from complex steps, which are exact to
rounding; nothing is shared with the equations of motion in src/systems.
"""

import cmath
import json
import math

STEPS = 100
G = 9.8


def solve(matrix, right):
    """Gauss elimination with row exchange."""
    n = len(right)
    rows = [list(matrix[i]) + [right[i]] for i in range(n)]
    for k in range(n):
        p = max(range(k, n), key=lambda i: abs(rows[i][k]))
        rows[k], rows[p] = rows[p], rows[k]
        for i in range(k + 1, n):
            f = rows[i][k] / rows[k][k]
            rows[i] = [a - f * b for a, b in zip(rows[i], rows[k])]
    x = [0.0] * n
    for i in reversed(range(n)):
        x[i] = (rows[i][n] - sum(rows[i][j] * x[j] for j in range(i + 1, n))) / rows[i][i]
    return x


def lagrange(kinetic, potential, q, v, force):
    """Accelerations: d/dt ∂T/∂v − ∂T/∂q + ∂V/∂q = force."""
    n, h = len(q), 1e-30

    def shifted(x, j):
        return [complex(x[i], h if i == j else 0.0) for i in range(n)]

    def mass(q):
        unit = lambda i, j: [float(k == i) + float(k == j) for k in range(n)]
        single = [kinetic(q, [float(k == i) for k in range(n)]) for i in range(n)]
        return [
            [kinetic(q, unit(i, j)) - single[i] - single[j] if i != j else 2 * single[i] for j in range(n)]
            for i in range(n)
        ]

    m = [[e.real for e in row] for row in mass(q)]
    slopes = [[[e.imag / h for e in row] for row in mass(shifted(q, k))] for k in range(n)]
    right = []
    for i in range(n):
        turning = sum(slopes[k][i][j] * v[k] * v[j] for j in range(n) for k in range(n))
        pull = 0.5 * sum(slopes[i][j][k] * v[j] * v[k] for j in range(n) for k in range(n))
        slope = potential(shifted(q, i)).imag / h
        right.append(force[i] - turning + pull - slope)
    return solve(m, right)


def pendulum(phi):
    inertia, m = phi
    kinetic = lambda q, v: 0.5 * inertia * v[0] ** 2
    potential = lambda q: -m * G * cmath.cos(q[0])
    return lambda q, v, u: lagrange(kinetic, potential, q, v, [u])


def cartpole(phi):
    cart, pole = phi

    def kinetic(q, v):
        across, up = v[0] + v[1] * cmath.cos(q[1]), v[1] * cmath.sin(q[1])
        return 0.5 * cart * v[0] ** 2 + 0.5 * pole * (across**2 + up**2)

    potential = lambda q: -pole * G * cmath.cos(q[1])
    friction = lambda v: -0.1 * (cart + pole) * G * math.tanh(v[0])
    return lambda q, v, u: lagrange(kinetic, potential, q, v, [u + friction(v), 0.0])


def arm(phi):
    (i2, m2), i1, m1 = phi, 1.0 / 3.0, 1.0

    def kinetic(q, v):
        w1, w2, a, b = v[0], v[0] + v[1], q[0], q[0] + q[1]
        across = w1 * cmath.cos(a) + 0.5 * w2 * cmath.cos(b)
        up = w1 * cmath.sin(a) + 0.5 * w2 * cmath.sin(b)
        return 0.5 * i1 * w1**2 + 0.5 * m2 * (across**2 + up**2) + 0.5 * (i2 - m2 / 4) * w2**2

    def potential(q):
        return -G * (m1 * cmath.cos(q[0]) / 2 + m2 * (cmath.cos(q[0]) + cmath.cos(q[0] + q[1]) / 2))

    return lambda q, v, u: lagrange(kinetic, potential, q, v, [-0.5 * v[0], u - 0.5 * v[1]])


def upkie(phi):
    # (mass, inertia, segment, offsets in tibia, femur and torso: forward, up)
    extra = phi[0] - 1.0
    tibia, femur = 0.175, 0.168
    bodies = [
        (2 * 0.39540, 2 * 0.0021227, 1, [(0, 0.04508), (0, 0), (0, 0)]),
        (2 * 0.69241, 2 * 0.0028012, 2, [(0, tibia), (0, 0.02434), (0, 0)]),
        (2.79450, 0.0131739, 3, [(0, tibia), (0, femur), (-0.01145, 0.04523)]),
        (extra, extra * (0.25**2 + 0.125**2) / 12, 3, [(0, tibia), (0, femur), (0, 0.064)]),
    ]
    radius, gravity = 0.05, 9.81

    def kinetic(q, v):
        wheel = 2 * 0.18455 + 2 * 0.0001746 / radius**2
        total = 0.5 * wheel * v[0] ** 2
        for m, inertia, segment, offsets in bodies:
            across, up = v[0], 0.0
            for j, (x, z) in enumerate(offsets):
                s, c = cmath.sin(q[j + 1]), cmath.cos(q[j + 1])
                across += v[j + 1] * (z * c - x * s)
                up += v[j + 1] * (-x * c - z * s)
            total += 0.5 * m * (across**2 + up**2) + 0.5 * inertia * v[segment] ** 2
        return total

    def potential(q):
        heights = 0.0
        for m, _, _, offsets in bodies:
            for j, (x, z) in enumerate(offsets):
                heights += m * (z * cmath.cos(q[j + 1]) - x * cmath.sin(q[j + 1]))
        return gravity * heights

    def accelerations(q, v, u):
        servo = lambda a, b: max(-16.0, min(16.0, -20.0 * (q[a] - q[b]) - (v[a] - v[b])))
        hip, knee = servo(3, 2), servo(2, 1)
        force = [2 * u / radius, -2 * u - 2 * knee, 2 * knee - 2 * hip, 2 * hip]
        return lagrange(kinetic, potential, q, v, force)

    return accelerations


def run(accelerations, start, wave, step, substeps, semi_implicit):
    q, v = list(start[0::2]), list(start[1::2])
    amplitude, period, phase = wave
    for k in range(STEPS):
        u = amplitude * math.sin(2 * math.pi * (k * step) / period + phase)
        for _ in range(substeps):
            h = step / substeps
            a = accelerations(q, v, u)
            faster = [x + h * d for x, d in zip(v, a)]
            q = [x + h * d for x, d in zip(q, faster if semi_implicit else v)]
            v = faster
    return [x for pair in zip(q, v) for x in pair]


CASES = [
    ("pendulum", pendulum, [1.2, 0.7], [0.4, -0.3], [1.0, 2.5, 0.3], 0.02, 1, True),
    ("cartpole", cartpole, [2.0, 0.3], [0.0, 0.1, 0.1, -0.2], [5.0, 2.0, 0.0], 0.02, 1, False),
    ("cartpole", cartpole, [1.0, 0.5], [0.1, -0.2, 3.0, 0.3], [5.0, 4.0, -1.0], 0.02, 1, False),
    ("arm", arm, [0.35, 1.0], [0.1, 0.0, -0.2, 0.3], [5.0, 2.0, 0.0], 0.02, 1, False),
    ("arm", arm, [0.3, 1.1], [3.0, 0.2, 0.1, -0.1], [5.0, 4.0, 1.0], 0.02, 1, False),
    ("upkie", upkie, [1.0], [0, 0, 0.01, 0, 0.02, 0, 0.03, 0], [0.2, 1.0, 0.5], 0.005, 5, True),
    ("upkie", upkie, [6.0], [0, 0.1, 0, 0, 0, 0.1, -0.02, 0], [0.3, 0.5, 0.0], 0.005, 5, True),
]

if __name__ == "__main__":
    rows = []
    for name, make, phi, start, wave, step, substeps, semi in CASES:
        end = run(make(phi), start, wave, step, substeps, semi)
        case = {"robot": name, "parameters": phi, "start": start, "wave": wave, "end": end}
        rows.append("  " + json.dumps(case))
    print("[\n" + ",\n".join(rows) + "\n]")
