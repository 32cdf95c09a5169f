# ONNX Runtime 1.30.0, CPU: Add(Mul(Div(sub, Sqrt(Add(1, ReduceMean<axes=[-1]>(Pow(sub, 2))))), 2), 0) with sub =
# Sub(x, ReduceMean<axes=[-1]>(x)) of float[1, 2] gives -1.999997, expected -1.788854, from ORT_ENABLE_BASIC on, by
# LayerNormFusionL1.
# Right with optimization.disable_specified_optimizers = LayerNormFusionL1.
#
#   pip install onnxruntime==1.30.0 && python3 run.py
import sys

import numpy as np
import onnxruntime as ort

x = np.array([[-4, 0]], np.float32)
y = {}
for level in ("ORT_DISABLE_ALL", "ORT_ENABLE_BASIC"):
    options = ort.SessionOptions()
    options.graph_optimization_level = getattr(ort.GraphOptimizationLevel, level)
    session = ort.InferenceSession("model.onnx", options, providers=["CPUExecutionProvider"])
    y[level] = session.run(["y"], {"x": x})[0].ravel().tolist()
expected = [-1.7888544, 1.7888544]
wrong = lambda v: any(not (abs(a - e) <= 0.00019) for a, e in zip(v, expected))
print(ort.__version__, y, "expected:", expected)
sys.exit(2 if wrong(y["ORT_DISABLE_ALL"]) else int(wrong(y["ORT_ENABLE_BASIC"])))
