"""Run directories as `bitcycle train` leaves them, made up without training: their numbers are known."""

import json
import math
import subprocess

RECIPE = """{comment}
version = 2
seed = {seed}
steps = {steps}
log_every = {every}
[model]
name = "cifar_resnet8"
[data]
dataset = "fashion_mnist"
[precision]
backend = "integer"
"""
SCHEDULED = """forward = {forward}
backward = 8
"""
GATED = """[precision.dynamic]
options = [[0, 0], [3, 6], [6, 8]]
weight = 4
target = 3.0
"""
WORK = 2.0  # GBitOPs of a step for each product of bits


def schedule(bitcycle, steps, low, cycles):
    """The bits of each step, from the program's own `schedule` command."""
    if low == 8:
        return [8] * steps
    text = subprocess.run(
        [bitcycle, "schedule", "CR", "--min", str(low), "--max", "8", "--cycles", str(cycles),
         "--steps", str(steps), "--csv"], check=True, capture_output=True, text=True).stdout
    rows = [line.split(",") for line in text.splitlines()]
    column = next(i for i, name in enumerate(rows[0]) if "bits" in name)
    return [int(row[column]) for row in rows[1:]]


def loss_at(step, steps, seed):
    return 2.3 * math.exp(-3 * step / steps) + 0.2 + 0.02 * math.sin(step * 1.7 + seed)


def choices_at(step, steps):
    """What the gates of three blocks chose: the shares of skipping, [3, 6] and [6, 8]."""
    skipped = [0.5 * step / steps, 0.25, 0.125]
    return [[share, 0.5 * (1 - share), 0.5 * (1 - share)] for share in skipped]


class MadeUpRun:
    def __init__(self, bitcycle, directory, steps=400, every=10, seed=1, low=3, cycles=8, work=WORK, comment="", layers=False, gates=False):
        self.directory, self.steps, self.every, self.seed, self.gates = directory, steps, every, seed, gates
        self.work = work
        self.bits = schedule(bitcycle, steps, low, cycles)
        self.spent = self.fixed = 0.0
        self.counted = 0
        directory.mkdir(parents=True)
        forward = "8" if low == 8 else f'{{ schedule = "CR", min = {low}, max = 8, cycles = {cycles} }}'
        precision = GATED if gates else SCHEDULED.format(forward=forward)
        self.write("recipe.toml", RECIPE.format(seed=seed, steps=steps, every=every, comment=comment) + precision)
        self.append("metrics.jsonl", {"type": "run", "step": 0, "backend": "integer", "counting": "paper", "id": "x"})
        self.layers = layers

    def write(self, name, text):
        (self.directory / name).write_text(text)

    def append(self, name, *lines):
        with open(self.directory / name, "a") as file:
            file.write("".join(json.dumps(line) + "\n" for line in lines))

    def train(self, until=None, rate=lambda done: 0.1 * (1 - done)):
        """Logs the steps up to `until`, with an evaluation every tenth of the run; the learning rate by the share done."""
        metrics, timing, layers = [], [], []
        until = self.steps if until is None else until
        for step in range(self.counted + self.every, until + 1, self.every):
            interval = self.bits[step - self.every:step]
            self.spent += sum(self.work * (b * b + 16 * b) for b in interval)
            self.fixed += self.work * 192 * len(interval)
            bits = self.bits[step - 1]
            metrics.append({"type": "step", "step": step, "epoch": step / 100, "loss": loss_at(step, self.steps, self.seed),
                            "accuracy": 90 - 60 * math.exp(-4 * step / self.steps), "lr": rate(step / self.steps),
                            "weight_bits": bits, "activation_bits": bits, "error_bits": 8,
                            "gbitops": self.spent, "gbitops_static": self.fixed})
            if self.gates:
                metrics[-1].update(weight_bits=4, activation_bits=3, error_bits=5, choices=choices_at(step, self.steps))
            counts = {b: interval.count(b) for b in sorted(set(interval))}
            timing.append({"step": step, "seconds": sum(n * 0.01 * b for b, n in counts.items()),
                           "by_bits": [{"bits": f"{b}/8", "steps": n, "seconds": n * 0.01 * b} for b, n in counts.items()]})
            if step == self.every:
                timing[-1]["machine"] = {"processor": "A made-up processor", "threads": 2, "isa": "avx2"}
            if step % max(self.every, self.steps // 10) == 0:
                metrics.append({"type": "evaluation", "step": step, "split": "validation", "bits": "max",
                                "accuracy": 88 - 60 * math.exp(-4 * step / self.steps) + self.seed * 0.1,
                                "loss": loss_at(step, self.steps, self.seed) + 0.1, "samples": 6000, "best": True})
            if self.layers:
                layers.append({"step": step, "layers": {name: {role: {"bits": bits, "low": -1.5 - i, "high": 2.0 + i,
                               "sqnr_db": 6.02 * bits - i} for role in ("weight", "activation", "error")}
                               for i, name in enumerate(("layer1.0.conv1", "layer1.0.conv2", "layer2.0.conv1"))}})
        self.append("metrics.jsonl", *metrics)
        self.append("timing.jsonl", *timing)
        if layers:
            self.append("layers.jsonl", *layers)
        self.counted = until
        return self

    def finish(self, accuracy=None):
        accuracy = 87 + self.seed * 0.3 if accuracy is None else accuracy
        self.write("summary.json", json.dumps({"evaluation_bits": "max", "best_step": self.steps, "best_accuracy": 88.5,
                   "test_of_best": {"accuracy": accuracy, "loss": 0.4, "samples": 10000}, "counting": "paper",
                   "gbitops": self.spent, "gbitops_static": self.fixed}))
        self.write("evaluations.json", json.dumps({"evaluations": [
            {"checkpoint": "best", "step": self.steps, "split": "test", "bits": width,
             "metrics": {"accuracy": accuracy - loss}} for width, loss in (("3", 9.0), ("4", 4.0), ("8", 0.0), ("fp", -0.1))]}))
        return self

    def landscape(self, width=1.0, points=21):
        """A bowl, 2 (alpha^2 + beta^2) / width, as `bitcycle landscape` stores it."""
        axis = [(2 * i - points + 1) / (points - 1) for i in range(points)]
        loss = [[0.05 + 2 * (a * a + b * b) / width for a in axis] for b in axis]
        (self.directory / "landscape").mkdir(exist_ok=True)
        self.write(f"landscape/step{self.steps}-bits8-grid{points}-range1-samples64-seed123.json", json.dumps(
            {"format": 1, "step": self.steps, "weights": "0", "bits": "8", "grid": points, "range": 1.0, "samples": 64,
             "seed": 123, "scored": 64, "unit": "samples", "axis": axis, "metrics": {"loss": loss}}))
        return self

    def logged(self, kind="step"):
        lines = [json.loads(line) for line in (self.directory / "metrics.jsonl").read_text().splitlines()]
        return [line for line in lines if line["type"] == kind]
