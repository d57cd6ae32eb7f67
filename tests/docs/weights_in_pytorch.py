#!/usr/bin/env python3
"""Carries out docs/weights.md in PyTorch, in the directory that it is called in.

  weights_in_pytorch.py PAGE in        makes resnet18.safetensors as the page does, of made-up weights
  weights_in_pytorch.py PAGE pictures  makes pictures of made-up noise, 64 x 64, of two classes
  weights_in_pytorch.py PAGE cifar CHECKPOINT  the same of a cifar_resnet20
  weights_in_pytorch.py PAGE out CHECKPOINT    loads a checkpoint in both of the page's ways, and holds what it says of
                                       the pictures against what `bitcycle predict --json` says, on stdin
"""
import json
import pathlib
import re
import sys

import numpy
import torch
import torchvision
from PIL import Image
from safetensors.torch import load_file

PICTURE, SEEN = 64, 56  # of 64 pixels evaluation sees the middle 56 as they are


def blocks(page, heading):
    section = pathlib.Path(page).read_text().split(f"\n## {heading}\n")[1].split("\n## ")[0]
    return re.findall(r"```python\n(.*?)```", section, re.DOTALL)


def make_weights(page):
    torch.manual_seed(1)
    state = torchvision.models.resnet18(weights=None).state_dict()
    torch.save(state, "resnet18-f37072fd.pth")
    whole, by_hand = blocks(page, "From PyTorch")
    exec(whole, {})
    without_package = {}
    exec(by_hand, without_package)
    without_package["save_file"](state, "by_hand.safetensors")
    alike = load_file("by_hand.safetensors")
    assert alike.keys() == state.keys()
    assert all(torch.equal(tensor, alike[name]) for name, tensor in state.items())


def make_pictures():
    noise = numpy.random.default_rng(1)
    for name, brightest in [("cat", 255), ("dog", 160)]:
        folder = pathlib.Path("pictures", name)
        folder.mkdir(parents=True)
        for number in range(16):
            pixels = noise.integers(0, brightest, (PICTURE, PICTURE, 3), numpy.uint8)
            Image.fromarray(pixels).save(folder / f"{number}.png")


def seen(path):
    pixels = torch.from_numpy(numpy.array(Image.open(path))).permute(2, 0, 1) / 255
    edge = (PICTURE - SEEN) // 2
    mean, deviation = torch.tensor([[0.485, 0.456, 0.406], [0.229, 0.224, 0.225]]).view(2, 3, 1, 1)
    return ((pixels - mean) / deviation)[:, edge : edge + SEEN, edge : edge + SEEN]


def compare(page, checkpoint):
    whole, _, by_hand = blocks(page, "To PyTorch")
    named = 'runs/pictures/checkpoints/step-00000400/model.safetensors'
    assert named in whole, f"the page loads another file than {named}"
    names, without_package = {}, {}
    exec(whole.replace(named, checkpoint), names)
    exec(by_hand, without_package)
    alike = without_package["load"](checkpoint)
    assert alike.keys() == names["state"].keys()
    assert all(torch.equal(tensor, names["state"][name]) for name, tensor in alike.items())
    compared = 0
    for answer in json.load(sys.stdin)["pictures"]:
        with torch.no_grad():
            shares = names["model"](seen(answer["picture"])[None])[0].softmax(0)
        for guess in answer["classes"]:
            expected = shares[["cat", "dog"].index(guess["name"])].item()
            assert abs(guess["probability"] - expected) < 1e-5, (answer, expected)
            compared += 1
    assert compared == 64, f"{compared} probabilities"


def load_cifar(page, checkpoint):
    _, cifar, by_hand = blocks(page, "To PyTorch")
    names = {}
    exec(cifar, names)
    exec(by_hand, names)
    state = names["load"](checkpoint)
    model = names["CifarResNet"](3, state["fc.weight"].shape[0])
    left_out = model.load_state_dict(state, strict=False)
    assert not left_out.missing_keys, left_out.missing_keys
    model.eval()
    for answer in json.load(sys.stdin)["pictures"]:
        with torch.no_grad():
            shares = model(seen(answer["picture"])[None])[0].softmax(0)
        for guess in answer["classes"]:
            expected = shares[["cat", "dog"].index(guess["name"])].item()
            assert abs(guess["probability"] - expected) < 1e-5, (answer, expected)


if __name__ == "__main__":
    page, what, *rest = sys.argv[1:]
    {"in": lambda: make_weights(page), "pictures": make_pictures, "out": lambda: compare(page, *rest),
     "cifar": lambda: load_cifar(page, *rest)}[what]()
