# ONNX Runtime 1.30.0, CPU: Transpose(Resize<axes=[3, 1, 2, 0]>(Transpose<perm=[0, 2, 3, 1]>(x), scales=[1, 1, 2, 1]))
# of float[1, 1, 2, 1] gives shape [1, 1, 2, 2], expected [1, 2, 2, 1], from ORT_ENABLE_EXTENDED on, by
# TransposeOptimizer.
# Right with optimization.disable_specified_optimizers = TransposeOptimizer_CPUExecutionProvider.
#
#   pip install onnxruntime==1.30.0 && python3 run.py
import sys

import numpy as np
import onnxruntime as ort

x = np.array([[[[0], [0]]]], np.float32)
y = {}
for level in ("ORT_ENABLE_BASIC", "ORT_ENABLE_EXTENDED"):
    options = ort.SessionOptions()
    options.graph_optimization_level = getattr(ort.GraphOptimizationLevel, level)
    session = ort.InferenceSession("model.onnx", options, providers=["CPUExecutionProvider"])
    y[level] = "x".join(map(str, session.run(["y"], {"x": x})[0].shape))
print(ort.__version__, y, "expected:", "1x2x2x1")
sys.exit(2 if y["ORT_ENABLE_BASIC"] != "1x2x2x1" else int(y["ORT_ENABLE_EXTENDED"] != "1x2x2x1"))
