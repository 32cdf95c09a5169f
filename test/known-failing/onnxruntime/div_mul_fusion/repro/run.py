# ONNX Runtime 1.30.0, CPU: Mul(Div(1, x), x) of int64[1] gives 1, expected 0, where x = 3, from ORT_ENABLE_BASIC on,
# by DivMulFusion.
# Right with optimization.disable_specified_optimizers = DivMulFusion.
#
#   pip install onnxruntime==1.30.0 && python3 run.py
import sys

import numpy as np
import onnxruntime as ort

x = np.array([3], np.int64)
y = {}
for level in ("ORT_DISABLE_ALL", "ORT_ENABLE_BASIC"):
    options = ort.SessionOptions()
    options.graph_optimization_level = getattr(ort.GraphOptimizationLevel, level)
    session = ort.InferenceSession("model.onnx", options, providers=["CPUExecutionProvider"])
    y[level] = session.run(["y"], {"x": x})[0].item()
print(ort.__version__, y, "expected:", 0)
sys.exit(2 if y["ORT_DISABLE_ALL"] != 0 else int(y["ORT_ENABLE_BASIC"] != 0))
