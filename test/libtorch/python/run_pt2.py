"""Runs exported programs by PyTorch's own operations, and says how far they are from the modules that they were made of.

A reader of its own: what it takes from the format is what torch.export.load() documents, nothing from Whittle.
Arguments: a module of torch.jit.save(), the exported program, the sizes of random inputs ("2,4").
"""
import json
import sys
import zipfile

import torch

DTYPES = {4: torch.int32, 5: torch.int64, 7: torch.float32, 8: torch.float64, 12: torch.bool}


def one(union):
    ((kind, value),) = union.items()
    return kind, value


def sizes(items):
    return [item["as_int"] for item in items]


class Program:
    def __init__(self, path):
        archive = zipfile.ZipFile(path)
        assert archive.testzip() is None
        root = archive.namelist()[0].split("/")[0] + "/"
        assert archive.read(root + "archive_format") == b"pt2"
        self.module = json.loads(archive.read(root + "models/model.json"))["graph_module"]
        self.weights = {}
        folder = root + "data/weights/"
        for name, entry in json.loads(archive.read(folder + "model_weights_config.json"))["config"].items():
            meta = entry["tensor_meta"]
            data = bytearray(archive.read(folder + entry["path_name"]))
            flat = torch.frombuffer(data, dtype=DTYPES[meta["dtype"]])
            self.weights[name] = torch.as_strided(flat, sizes(meta["sizes"]), sizes(meta["strides"]))

    def value(self, union):
        kind, value = one(union)
        if kind == "as_none":
            return None
        if kind == "as_tensor":
            return self.values[value["name"]]
        if kind == "as_tensors":
            return [self.values[item["name"]] for item in value]
        if kind == "as_optional_tensors":
            return [self.value(item) for item in value]
        if kind == "as_scalar_type":
            return DTYPES[value]
        return value

    def __call__(self, *inputs):
        inputs = list(inputs)
        self.values = {}
        for spec in self.module["signature"]["input_specs"]:
            kind, spec = one(spec)
            if kind == "user_input":
                self.values[spec["arg"]["as_tensor"]["name"]] = inputs.pop(0)
            else:
                self.values[spec["arg"]["name"]] = self.weights[spec[kind + "_name"]]
        for node in self.module["graph"]["nodes"]:
            operation = torch.ops
            for part in node["target"].split(".")[2:]:
                operation = getattr(operation, part)
            positional = [self.value(item["arg"]) for item in node["inputs"] if item["kind"] == 1]
            by_name = {item["name"]: self.value(item["arg"]) for item in node["inputs"] if item["kind"] == 2}
            results = operation(*positional, **by_name)
            (results,) = ([results],) if isinstance(results, torch.Tensor) else (list(results),)
            names = [item for output in node["outputs"] for item in
                     (one(output)[1] if "as_tensors" in output else [one(output)[1]])]
            for name, result in zip(names, results):
                self.values[name["name"]] = result
                meta = self.module["graph"]["tensor_values"][name["name"]]
                assert list(result.shape) == sizes(meta["sizes"]) and list(result.stride()) == sizes(meta["strides"])
        return [self.value(output) for output in self.module["graph"]["outputs"]]


torch.manual_seed(3)
given = [torch.randn([int(size) for size in word.split(",")]) for word in sys.argv[3:]]
program = Program(sys.argv[2])
with torch.no_grad():
    (result,) = program(*given)
    difference = (result - torch.jit.load(sys.argv[1])(*given)).abs().max().item()
print(len(program.module["graph"]["nodes"]), "operations,", "equal" if difference == 0 else f"differs by {difference}")
