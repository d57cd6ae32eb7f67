#!/usr/bin/env python3
"""Makes logits.csv: what torchvision's ResNets give for weights and pictures that a formula makes.

Debian 13: apt-get install python3-torchvision; ./make_logits.py > logits.csv
tests/train/torchvision_test.cpp has the same formula.
"""
import numpy as np
import torch
import torchvision


def uniform(name, count):
    """Numbers from 0 to below 1 that depend on the name and the index alone."""
    key = 2166136261
    for byte in name.encode():
        key = (key ^ byte) * 16777619 % 2**32
    x = np.arange(count, dtype=np.uint32) * np.uint32(747796405) + np.uint32(key)
    x ^= x >> np.uint32(16)
    x *= np.uint32(2246822519)
    x ^= x >> np.uint32(13)
    return (x >> np.uint32(8)).astype(np.float64) / 2**24


def made_up(name, shape):
    if name.endswith("num_batches_tracked"):
        return torch.tensor(7)
    u = uniform(name, int(np.prod(shape)))
    if len(shape) > 1:
        values = (2 * u - 1) * np.sqrt(3 / np.prod(shape[1:]))
    elif name.endswith("running_var") or ("fc" not in name and name.endswith("weight")):
        values = 0.5 + u
    else:
        values = u - 0.5
    return torch.from_numpy(values.astype(np.float32).reshape(shape))


if __name__ == "__main__":
    print("model,picture,class,logit")
    pictures = made_up("pictures", (2, 3, 64, 64))
    for name in ["resnet18", "resnet34", "resnet50"]:
        model = getattr(torchvision.models, name)(weights=None).eval()
        model.load_state_dict({k: made_up(k, v.shape) for k, v in model.state_dict().items()})
        with torch.no_grad():
            logits = model(pictures)
        for picture in range(2):
            for number in range(0, 1000, 125):
                print(f"{name},{picture},{number},{logits[picture, number].item():.9g}")
