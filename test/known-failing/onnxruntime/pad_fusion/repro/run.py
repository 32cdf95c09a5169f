# ONNX Runtime 1.30.0, CPU: MaxPool<kernel_shape=[2]>(Pad(x, pads=[0, 0, 1, 0, 0, 0])) of float[1, 1, 1] gives -3,
# expected 0, where x = -3, from ORT_ENABLE_BASIC on, by Pad_Fusion.
# Right with optimization.disable_specified_optimizers = Pad_Fusion.
#
#   pip install onnxruntime==1.30.0 && python3 run.py
import sys

import numpy as np
import onnxruntime as ort

x = np.array([[[-3]]], np.float32)
y = {}
for level in ("ORT_DISABLE_ALL", "ORT_ENABLE_BASIC"):
    options = ort.SessionOptions()
    options.graph_optimization_level = getattr(ort.GraphOptimizationLevel, level)
    session = ort.InferenceSession("model.onnx", options, providers=["CPUExecutionProvider"])
    y[level] = session.run(["y"], {"x": x})[0].item()
print(ort.__version__, y, "expected:", 0)
sys.exit(2 if y["ORT_DISABLE_ALL"] != 0 else int(y["ORT_ENABLE_BASIC"] != 0))
