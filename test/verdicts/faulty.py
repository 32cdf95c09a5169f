#!/usr/bin/env python3
"""A compiler with one fault: a worker (share/doc/reference/backends.md) in which the last call of an op misbehaves.

    faulty.py torch KIND OP SIZE [ELEMENT]      LibTorch, op by op, on graphs
    faulty.py onnxruntime KIND OP SIZE          ONNX Runtime, by the worker in share/backends, on ONNX models

KIND is what goes wrong in the call's results:
    value   they are SIZE more (element ELEMENT alone, if that is given)
    index   each lies one place further on
    bounds  the last ones are what lies behind some other memory
    dtype   they are computed in a narrower data type; SIZE 1: they have another data type (torch)
    race    every second run, on average, they are SIZE more
    crash   the process dies
    none    nothing
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

DTYPES = {"f64": "float64", "f32": "float32", "f16": "float16", "bf16": "bfloat16", "i64": "int64", "i32": "int32",
          "i16": "int16", "i8": "int8", "u8": "uint8", "bool": "bool"}
SAFETENSORS = {"F64": "f64", "F32": "f32", "F16": "f16", "BF16": "bf16", "I64": "i64", "I32": "i32", "I16": "i16", "I8": "i8",
               "U8": "u8", "BOOL": "bool"}


# ---- Tensors --------------------------------------------------------------------------------------------------------------

def torch_dtype(name):
    import torch
    return getattr(torch, DTYPES[name])


def load_tensors(file):
    import torch
    data = pathlib.Path(file).read_bytes()
    length = int.from_bytes(data[:8], "little")
    tensors = {}
    for name, entry in json.loads(data[8:8 + length]).items():
        if name == "__metadata__":
            continue
        begin, end = (8 + length + offset for offset in entry["data_offsets"])
        dtype = torch_dtype(SAFETENSORS[entry["dtype"]])
        flat = torch.frombuffer(bytearray(data[begin:end]), dtype=dtype) if end > begin else torch.empty(0, dtype=dtype)
        tensors[name] = flat.reshape(entry["shape"])
    return tensors


def save_tensors(file, tensors):
    import torch
    codes = {torch_dtype(ours): theirs for theirs, ours in SAFETENSORS.items()}
    header, blobs, offset = {}, [], 0
    for i, tensor in enumerate(tensors):
        blob = bytes(tensor.detach().contiguous().reshape(-1).view(torch.uint8).numpy()) if tensor.numel() else b""
        header[str(i)] = {"dtype": codes[tensor.dtype], "shape": list(tensor.shape), "data_offsets": [offset, offset + len(blob)]}
        blobs.append(blob)
        offset += len(blob)
    text = json.dumps(header).encode()
    pathlib.Path(file).write_bytes(len(text).to_bytes(8, "little") + text + b"".join(blobs))


def stored_tensor(value, sidecar):
    """Of a graph or record: {"dtype", "sizes", "data" or "hash"}."""
    import torch
    if "data" not in value:
        return sidecar[value["hash"]]
    data = [float(x) if isinstance(x, str) else x for x in value["data"]]
    return torch.tensor(data, dtype=torch_dtype(value["dtype"])).reshape(value["sizes"])


# ---- Faults in PyTorch's results ------------------------------------------------------------------------------------------

class Fault:
    def __init__(self, kind, op, size, element=None):
        self.kind, self.op, self.size, self.element = kind, op, float(size), None if element is None else int(element)

    def applied(self, result):
        import torch
        if not isinstance(result, torch.Tensor):
            return type(result)([self.applied(result[0]), *result[1:]])
        flat = result.contiguous().reshape(-1).clone()
        return self.on_flat(flat).reshape(result.shape) if flat.numel() else result

    def on_flat(self, flat):
        import torch
        if self.kind == "crash":
            os.abort()
        if self.kind == "value" or (self.kind == "race" and os.urandom(1)[0] % 2):
            if flat.dtype == torch.bool:
                return ~flat
            amount = self.size if flat.is_floating_point() else max(1, round(self.size))
            if self.element is None:
                return flat + amount
            flat[self.element % flat.numel()] += amount
        elif self.kind == "index":
            return torch.roll(flat, 1)
        elif self.kind == "bounds":
            tail = flat.numel() % 8 or 4
            flat[-tail:] = ~flat[-tail:] if flat.dtype == torch.bool else flat[-tail:] * 2 + 3
        elif self.kind == "dtype" and self.size:
            return flat.double() if flat.dtype != torch.float64 else flat.float()
        elif self.kind == "dtype":
            if flat.dtype in (torch.float32, torch.float64):
                return flat.half().to(flat.dtype)
            return (flat.to(torch.int32) if flat.is_floating_point() else flat.to(torch.int64) % 2).to(flat.dtype)
        return flat


def run_graph(graph, folder, inputs, fault):
    """The outputs of a graph of aten calls, by LibTorch."""
    import torch
    sidecar = load_tensors(pathlib.Path(folder) / graph["tensors"]) if "tensors" in graph else {}
    values, given = {}, iter(inputs)
    calls = [node for node in graph["nodes"] if node["kind"] == "call"]
    last = [node["name"] for node in calls if node["target"] == fault.op][-1:]

    def argument(value):
        if isinstance(value, list):
            return [argument(item) for item in value]
        if isinstance(value, dict):
            (kind, content), = value.items()
            return values[content] if kind == "node" else torch_dtype(content) if kind == "dtype" else float(content)
        return value

    for node in graph["nodes"]:
        name, arguments = node["name"], node.get("args", [])
        if node["kind"] == "placeholder":
            values[name] = next(given)
        elif node["kind"] == "get_attr":
            values[name] = stored_tensor(graph["attributes"][node["target"]], sidecar)
        elif node["kind"] == "output":
            return [argument(value) for value in arguments]
        elif node["target"] == "getitem":
            values[name] = values[arguments[0]["node"]][arguments[1]]
        else:
            _, op, overload = node["target"].split(".")
            call = getattr(getattr(torch.ops.aten, op), overload)
            values[name] = call(*map(argument, arguments), **{key: argument(x) for key, x in node.get("kwargs", {}).items()})
            if name in last:
                values[name] = fault.applied(values[name])


def torch_answers(question, fault):
    import torch
    folder = pathlib.Path(question["folder"])
    graph = json.loads((folder / question["model"]).read_text())
    given = load_tensors(folder / "inputs.safetensors")
    try:
        with torch.no_grad():
            outputs = run_graph(graph, folder, [given[str(i)] for i in range(len(given))], fault)
        save_tensors(folder / "outputs.safetensors", outputs)
    except (AttributeError, NotImplementedError) as error:
        return {"error": str(error).split("\n")[0], "unsupported": True}
    except (RuntimeError, IndexError, KeyError, TypeError) as error:
        return {"error": str(error).split("\n")[0]}
    return {"ok": True}


# ---- Faults in ONNX models ------------------------------------------------------------------------------------------------

def broken(model, fault):
    """The model in which what the last node of the op gives passes through nodes that spoil it."""
    import numpy
    import onnx
    import onnx.numpy_helper
    nodes = list(model.graph.node)
    found = [i for i, node in enumerate(nodes) if "onnx." + node.op_type == fault.op]
    if not found or fault.kind in ("none", "crash"):
        return model
    at = found[-1]
    name, right = nodes[at].output[0], "fault_right"
    nodes[at].output[0] = right
    made = []

    def node(op, *inputs, result=None, **attributes):
        made.append(onnx.helper.make_node(op, inputs, [result or f"fault_{len(made)}"], **attributes))
        return made[-1].output[0]

    def constant(array, like=None):
        value = node("Constant", value=onnx.numpy_helper.from_array(array, "value"))
        return node("CastLike", value, like) if like else value

    def span(begin, end):
        return node("Slice", flat, constant(numpy.array([begin])), constant(numpy.array([end])))

    last = numpy.iinfo(numpy.int64).max
    if fault.kind in ("value", "race"):
        amount = fault.size if fault.kind == "value" or os.urandom(1)[0] % 2 else 0
        node("Add", right, constant(numpy.array(amount, numpy.float32), right), result=name)
    elif fault.kind == "dtype":
        node("CastLike", node("Cast", right, to=onnx.TensorProto.FLOAT16), right, result=name)
    else:
        flat = node("Reshape", right, constant(numpy.array([-1])))
        if fault.kind == "index":
            parts = [span(-1, last), span(0, -1)]
        else:
            tail = span(-3, last)
            parts = [span(0, -3), node("Add", node("Add", tail, tail), constant(numpy.array(3, numpy.float32), right))]
        node("Reshape", node("Concat", *parts, axis=0), node("Shape", right), result=name)
    nodes[at + 1:at + 1] = made
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    return model


class OnnxRuntime:
    """The worker of share/backends, which is asked about the broken model."""

    def __init__(self):
        script = pathlib.Path(__file__).resolve().parents[2] / "share/backends/onnxruntime/worker.mjs"
        self.process = subprocess.Popen(["node", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.answer()

    def answer(self):
        while True:
            line = self.process.stdout.readline()
            if not line:
                sys.exit("error: the worker of ONNX Runtime ended")
            said = json.loads(line) if line.startswith("{") else {}
            if said.keys() & {"ok", "error", "whittle"}:
                return said

    def ask(self, question, fault):
        import onnx
        folder = pathlib.Path(question["folder"])
        model = onnx.load(str(folder / question["model"]), load_external_data=False)
        if fault.kind == "crash" and any("onnx." + node.op_type == fault.op for node in model.graph.node):
            os.abort()
        with tempfile.NamedTemporaryFile(dir=folder, suffix=".onnx") as file:
            file.write(broken(model, fault).SerializeToString())
            file.flush()
            self.process.stdin.write(json.dumps({**question, "model": os.path.basename(file.name)}) + "\n")
            self.process.stdin.flush()
            return self.answer()


def main():
    engine, kind, op, size, *element = sys.argv[1:]
    fault = Fault(kind, op, size, *element)
    hello = {"whittle": 1, "version": f"{kind} of {op}"}
    if engine == "torch":
        print(json.dumps({**hello, "format": "json"}), flush=True)  # before what takes seconds
        import torch
        torch.set_num_threads(1)
        ask = lambda question: torch_answers(question, fault)
    else:
        print(json.dumps(hello), flush=True)
        runtime = OnnxRuntime()
        ask = lambda question: runtime.ask(question, fault)
    for line in sys.stdin:
        question = json.loads(line)
        print(json.dumps({**ask(question), "id": question["id"]}), flush=True)


if __name__ == "__main__":
    main()
