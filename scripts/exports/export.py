"""Exports the lists of models.py and features.py with torch.export: for each entry a folder DIR/NAME with net.pt2, the inputs
in_N and PyTorch's outputs out_N (.npy, or .safetensors for types that NumPy lacks), or export.failed with the reason.

    python3 export.py DIR [NAME...]

Entries whose folder has one of these files are left out, so that an interrupted run resumes. An entry that ends the process,
for example by a crash, has failed.
"""
import copy
import gc
import os
import sys
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"
import numpy
import torch
from safetensors.torch import save_file
from torch.utils import _pytree

torch.manual_seed(0)


def entries():
    """Yields name, and a function that returns the model, its inputs and further arguments of torch.export.export."""
    import features
    for name, (model, inputs, options) in features.FEATURES.items():
        yield "feature_" + name, lambda model=model, inputs=inputs, options=options: (model, inputs, options)
    import models
    for name, make in models.MODELS.items():
        yield name, lambda make=make: (*evaluated(make), {})


def evaluated(make):
    model, inputs = make()
    return model.eval(), inputs


def write(stem, value):
    value = value.detach()
    if value.layout != torch.strided:
        raise TypeError(f"found an output of layout {value.layout}, which no file of values holds")
    try:
        numpy.save(str(stem) + ".npy", value.resolve_conj().resolve_neg().numpy())
    except TypeError:
        save_file({"x": value.contiguous()}, str(stem) + ".safetensors")


def tensors(values):
    return [value for value in _pytree.tree_leaves(values) if isinstance(value, torch.Tensor)]


def export(folder, make):
    torch.manual_seed(0)
    model, inputs, options = make()
    count = sum(parameter.numel() for parameter in model.parameters())
    if count > 50_000_000:
        raise ValueError(f"found {count} parameters, expected at most 50000000")
    named = options.get("kwargs", {})
    with torch.no_grad():
        program = torch.export.export(model, inputs, **options)
        torch.export.save(program, folder / "part.pt2")  # before the program runs, which may write to its buffers
        torch.manual_seed(0)
        outputs = program.module()(*copy.deepcopy(inputs), **copy.deepcopy(named))
    for i, value in enumerate(tensors((inputs, named))):
        write(folder / f"in_{i}", value.clone())
    for i, value in enumerate(tensors(outputs)):
        write(folder / f"out_{i}", value)
    os.rename(folder / "part.pt2", folder / "net.pt2")


def main():
    out = Path(sys.argv[1])
    torch.set_num_threads(1)
    for name, make in entries():
        folder = out / name
        failed = folder / "export.failed"
        if (folder / "net.pt2").exists() or failed.exists() or len(sys.argv) > 2 and name not in sys.argv[2:]:
            continue
        folder.mkdir(parents=True, exist_ok=True)
        failed.write_text("the process ended\n")
        try:
            export(folder, make)
            failed.unlink()
            print(name, flush=True)
        except Exception as error:
            failed.write_text(f"{type(error).__name__}: {error}\n")
            print(name, "failed:", type(error).__name__, str(error).split("\n")[0][:200], flush=True)
        gc.collect()


if __name__ == "__main__":
    main()
