#!/usr/bin/env python3
"""Makes values.json: what the schemes' quantizers, norms and updates give, from their equations.

Plain Python in double precision, written from the papers' definitions (docs/numerics.md has them)
and not from the C++ code. Pictures are lists in the order samples, rows, columns, channels.
    python3 make.py > values.json
"""

import json
import math
import random


def rne(x):
    return float(round(x))  # Python rounds halves to even


def noise(key, i):
    """Note [Rounding noise] of bitcycle/base/random.h: uniform in (-0.5, 0.5)."""
    first, second = key
    mask = 0xFFFFFFFF
    x = (i >> 1) ^ first
    x = ((x ^ (x >> 16)) * 0x7FEB352D) & mask
    x = (((x ^ (x >> 15)) + second) * 0x846CA68B) & mask
    x ^= x >> 16
    bits = x >> 16 if i & 1 else x & 0xFFFF
    return (bits - 32767.5) / 65536


def clamp(x, low, high):
    return min(max(x, low), high)


# A uniform grid over a range, as in SBM.
def grid(values, low, high, bits, key=None):
    n = 2**bits - 1
    s = max((high - low) / n, 1e-8)
    u = [noise(key, i) if key else 0.0 for i in range(len(values))]
    return [rne(clamp((x - low) / s + v, 0, n)) * s + low for x, v in zip(values, u)]


# DoReFa.
def q_k(r, k):
    return rne((2**k - 1) * r) / (2**k - 1)


def dorefa_weight(w, k):
    if k == 1:
        e = sum(map(abs, w)) / len(w)
        return [-e if x < 0 else e for x in w]
    t = [math.tanh(x) for x in w]
    m = max(map(abs, t))
    return [2 * q_k(x / (2 * m) + 0.5, k) - 1 for x in t]


def dorefa_weight_gradient(go, w):
    """By central differences of the weights without rounding, t / max|t|."""

    def loss(v):
        t = [math.tanh(x) for x in v]
        m = max(map(abs, t))
        return sum(g * x / m for g, x in zip(go, t))

    result = []
    for i in range(len(w)):
        h = 1e-6
        up, down = list(w), list(w)
        up[i] += h
        down[i] -= h
        result.append((loss(up) - loss(down)) / (2 * h))
    return result


def dorefa_error(rows, k, key):
    n, result, i = 2**k - 1, [], 0
    for row in rows:
        m = max(map(abs, row))
        for x in row:
            r = clamp(x / (2 * m) + 0.5 + noise(key, i) / n, 0, 1)
            result.append(2 * m * (q_k(r, k) - 0.5))
            i += 1
    return result


# Range batch norm.
CHUNKS = 16
KAPPA = 0.5 * 0.35 * (1 + math.sqrt(math.pi * math.log(4)))


def range_norm(x, channels, gamma, beta, error, key):
    """x: samples of lists. Returns output, gradients and statistics; the gradient of the
    normalisation is taken by central differences around the quantized input."""
    low = sum(min(sample) for sample in x) / len(x)
    high = sum(max(sample) for sample in x) / len(x)
    flat = [v for sample in x for v in sample]
    xq = grid(flat, low, high, 8)
    e = grid(error, min(error), max(error), 8, key)

    def statistics(values):
        pixels = len(values) // channels
        n = pixels / CHUNKS
        mean, spread = [], []
        for c in range(channels):
            column = values[c::channels]
            parts = [column[i * pixels // CHUNKS : (i + 1) * pixels // CHUNKS] for i in range(CHUNKS)]
            extent = sum(max(p) for p in parts) / CHUNKS - sum(min(p) for p in parts) / CHUNKS
            mean.append(sum(column) / pixels)
            spread.append(extent * KAPPA / math.sqrt(2 * math.log(n)))
        return mean, spread

    def normal(values):
        mean, spread = statistics(values)
        return [
            (v - mean[i % channels]) / (spread[i % channels] + 1e-5) for i, v in enumerate(values)
        ]

    normals = normal(xq)
    out = [v * gamma[i % channels] + beta[i % channels] for i, v in enumerate(normals)]
    of_gamma = [sum(e[i] * normals[i] for i in range(c, len(e), channels)) for c in range(channels)]
    of_beta = [sum(e[i] for i in range(c, len(e), channels)) for c in range(channels)]

    # Of equal extremes of a chunk the first has the derivative. Ties are broken so, by more than the
    # step of the differences.
    def first_extremes(values):
        moved = list(values)
        pixels = len(values) // channels
        for c in range(channels):
            for i in range(CHUNKS):
                rows = range(i * pixels // CHUNKS, (i + 1) * pixels // CHUNKS)
                top = max(rows, key=lambda r: (values[r * channels + c], -r))
                bottom = min(rows, key=lambda r: (values[r * channels + c], r))
                moved[top * channels + c] += 1e-6
                moved[bottom * channels + c] -= 1e-6
        return moved

    base = first_extremes(xq)
    of_x = []
    for i in range(len(base)):
        h = 1e-7
        values = []
        for step in (h, -h):
            shifted = list(base)
            shifted[i] += step
            values.append(sum(e[j] * gamma[j % channels] * v for j, v in enumerate(normal(shifted))))
        of_x.append((values[0] - values[1]) / (2 * h))
    mean, spread = statistics(xq)
    return {
        "input_range": [low, high],
        "output": out,
        "of_x": of_x,
        "of_gamma": of_gamma,
        "of_beta": of_beta,
        "mean": mean,
        "spread": spread,
    }


# WAGEUBN.
def direct(x, k):
    return rne(x * 2 ** (k - 1)) / 2 ** (k - 1)


def clipped(x, k):
    d = 2.0 ** (1 - k)
    return clamp(direct(x, k), d - 1, 1 - d)


def power(x):
    return 2.0 ** rne(math.log2(max(map(abs, x))))


def shift(x, k, bound):
    r = power(x)
    return [r * clamp(direct(v / r, k), -bound, bound) for v in x]


def flag(x, k):
    s = power(x) / 2 ** (k - 1)
    result = []
    for v in x:
        y, sign = abs(v / s), math.copysign(1, v)
        if y < 1:
            result.append(s * sign * clamp(direct(y, k), -1, 1))
        else:
            result.append(s * sign * clamp(rne(y), 0, 2 ** (k - 1) - 1))
    return result


def levels(x, dr, key):
    r = power(x)
    result = []
    for i, v in enumerate(x):
        y = abs(dr * v / r)
        up = 1 if y - math.floor(y) > noise(key, i) + 0.5 else 0
        result.append(math.copysign(clamp(math.floor(y) + up, 0, dr - 1), v))
    return result


def constant(x, k, dr, key):
    return [direct(y / (128 * 2 ** (k - 1)), 15) for y in levels(x, dr, key)]


def wageubn_norm(x, channels, gamma, beta, error):
    """Quantizers are straight through: the derivative is that of the function in which each
    quantizer is replaced by the addition of what it added."""
    pixels = len(x) // channels

    def moments(values, c):
        column = values[c::channels]
        mean = sum(column) / pixels
        return mean, math.sqrt(sum((v - mean) ** 2 for v in column) / pixels)

    added_mean = [direct(moments(x, c)[0], 16) - moments(x, c)[0] for c in range(channels)]
    added_deviation = [direct(moments(x, c)[1], 16) - moments(x, c)[1] for c in range(channels)]
    g = [direct(v, 8) for v in gamma]
    b = [direct(v, 8) for v in beta]

    def normal(values):
        result = []
        both = [moments(values, c) for c in range(channels)]
        for i, v in enumerate(values):
            c = i % channels
            mean, deviation = both[c][0] + added_mean[c], both[c][1] + added_deviation[c]
            result.append((v - mean) / (deviation + 2**-15))
        return result

    normals = [direct(v, 8) for v in normal(x)]
    out = [v * g[i % channels] + b[i % channels] for i, v in enumerate(normals)]
    of_x = []
    for i in range(len(x)):
        h = 1e-5
        values = []
        for step in (h, -h):
            moved = list(x)
            moved[i] += step
            values.append(sum(error[j] * g[j % channels] * v for j, v in enumerate(normal(moved))))
        of_x.append((values[0] - values[1]) / (2 * h))
    return {
        "output": out,
        "of_x": of_x,
        "of_gamma": [
            sum(error[i] * normals[i] for i in range(c, len(x), channels)) for c in range(channels)
        ],
        "of_beta": [sum(error[i] for i in range(c, len(x), channels)) for c in range(channels)],
    }


def wageubn_updates(w, gradients, lr, momentum, decay, bits, progress, keys, role):
    rate, v, path = clipped(lr, 10), [0.0] * len(w), []
    for gradient, part, key in zip(gradients, progress, keys):
        g = [a + decay * b for a, b in zip(gradient, w)]
        if role == "weight":
            dr = 128 if part < 0.6 else 32 if part < 0.8 else 8 if part < 0.9 else 2
            g = constant(g, bits, dr, key)
        else:
            g = [direct(x, 15) for x in g]
        v = [direct(momentum * a + b, 13) for a, b in zip(v, g)]
        w = [direct(a - rate * b, 24) for a, b in zip(w, v)]
        path.append({"momentum": v, "parameter": w})
    return path


def main():
    rng = random.Random(12)

    def draw(count, scale=1.0, digits=3):
        return [round(rng.gauss(0, scale), digits) for _ in range(count)]

    key = (0x12345678, 0x9ABCDEF0)
    weights = [-0.9, 0.1, 0.35, 0.7, 0.02, -0.01, 0.05, -0.04]
    rows = [draw(7, 0.01, 5), draw(7, 0.3, 5)]
    values = {"key": key, "weights": weights, "rows": rows}
    values["dorefa"] = {
        "weight": {k: dorefa_weight(weights, k) for k in range(1, 9)},
        "weight_gradient": dorefa_weight_gradient(list(range(1, 9)), weights),
        "error": {k: dorefa_error(rows, k, key) for k in range(1, 9)},
    }
    flat = rows[0] + rows[1]
    low = sum(map(min, rows)) / 2
    high = sum(map(max, rows)) / 2
    values["sbm-banner"] = {
        "range": [low, high],
        "activation": {k: grid(flat, low, high, k) for k in range(1, 9)},
        "bias_2_3": grid(weights, min(weights), max(weights), 5),
        "error": {k: grid(flat, min(flat), max(flat), k, key) for k in range(1, 9)},
        "weight_error": grid(flat, min(flat), max(flat), 16, key),
    }
    samples, side, channels = 4, 6, 2
    pictures = [draw(side * side * channels) for _ in range(samples)]
    gamma, beta = [1.25, 0.8], [0.1, -0.3]
    error = draw(samples * side * side * channels, 0.05, 4)
    values["pictures"] = {
        "shape": [samples, side, side, channels],
        "x": pictures,
        "gamma": gamma,
        "beta": beta,
        "error": error,
    }
    values["range_norm"] = range_norm(pictures, channels, gamma, beta, error, key)
    values["wageubn"] = {
        "weight": {k: [clipped(x, k) for x in weights] for k in range(2, 9)},
        "activation": {k: [direct(x, k) for x in flat] for k in range(2, 9)},
        "shift": {k: shift(flat, k, 1) for k in range(2, 9)},
        "shift_lite": {k: shift(flat, k, 1 - 2.0 ** (1 - k)) for k in range(2, 9)},
        "flag": {k: flag(flat, k) for k in range(2, 9)},
        "gradient_lite": [y / 128 for y in levels(flat, 128, key)],
        "gradient": {k: constant(flat, k, 128, key) for k in range(2, 9)},
    }
    values["wageubn_norm"] = wageubn_norm(
        [v for picture in pictures for v in picture], channels, gamma, beta, error
    )
    steps = 4
    update = {
        "lr": 0.05,
        "momentum": 0.25,
        "decay": 0.01,
        "bits": 8,
        "progress": [0.0, 0.6, 0.8, 0.9],
        "keys": [(rng.getrandbits(32), rng.getrandbits(32)) for _ in range(steps)],
        "gradients": [draw(len(weights), 0.02, 6) for _ in range(steps)],
    }
    for role in ("weight", "norm"):
        update[role] = wageubn_updates(weights, *(update[k] for k in (
            "gradients", "lr", "momentum", "decay", "bits", "progress", "keys")), role)
    values["wageubn_update"] = update
    parts = (f"{json.dumps(name)}: {json.dumps(value)}" for name, value in values.items())
    print("{" + ",\n".join(parts) + "}")


main()
