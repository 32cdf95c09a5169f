# ONNX Runtime 1.30.0, CPU: Gather(x0, Range(x1, x2, x3)) of float[3] x0 gives shape [0], expected [3], from
# ORT_ENABLE_EXTENDED on, by GatherToSliceFusion.
# Right with optimization.disable_specified_optimizers = GatherToSliceFusion.
#
#   pip install onnxruntime==1.30.0 && python3 run.py
import sys

import numpy as np
import onnxruntime as ort

x0 = np.array([0, 0, 0], np.float32)
x1 = np.array(2, np.int64)
x2 = np.array(-1, np.int64)
x3 = np.array(-1, np.int64)
y = {}
for level in ("ORT_ENABLE_BASIC", "ORT_ENABLE_EXTENDED"):
    options = ort.SessionOptions()
    options.graph_optimization_level = getattr(ort.GraphOptimizationLevel, level)
    session = ort.InferenceSession("model.onnx", options, providers=["CPUExecutionProvider"])
    y[level] = "x".join(map(str, session.run(["y"], {"x0": x0, "x1": x1, "x2": x2, "x3": x3})[0].shape))
print(ort.__version__, y, "expected:", "3")
sys.exit(2 if y["ORT_ENABLE_BASIC"] != "3" else int(y["ORT_ENABLE_EXTENDED"] != "3"))
