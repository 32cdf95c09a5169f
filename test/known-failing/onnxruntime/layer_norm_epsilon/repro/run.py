# ONNX Runtime 1.30.0, CPU: ReduceMean, Sub, Pow, Add, Sqrt, Div, Mul gives -1.699818, expected -1.09666, from
# ORT_ENABLE_BASIC on, by LayerNormFusionL1.
# Right with optimization.disable_specified_optimizers = LayerNormFusionL1.
#
#   pip install onnxruntime && python3 run.py
import sys

import numpy as np
import onnxruntime as ort

x = np.array([[-1.8839084, 0.22760794, -0.22143789, 0.08341854]], np.float32)
y = {}
for level in ("ORT_DISABLE_ALL", "ORT_ENABLE_BASIC"):
    options = ort.SessionOptions()
    options.graph_optimization_level = getattr(ort.GraphOptimizationLevel, level)
    session = ort.InferenceSession("model.onnx", options, providers=["CPUExecutionProvider"])
    y[level] = session.run(["y"], {"x": x})[0].ravel().tolist()
expected = [-1.0966605, 2.0332806, 0.17354754, 1.8129451]
wrong = lambda v: any(not (abs(a - e) <= 0.0002133281) for a, e in zip(v, expected))
print(ort.__version__, y, "expected:", expected)
sys.exit(2 if wrong(y["ORT_DISABLE_ALL"]) else int(wrong(y["ORT_ENABLE_BASIC"])))
