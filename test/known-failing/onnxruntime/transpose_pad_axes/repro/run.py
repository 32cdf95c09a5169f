# ONNX Runtime 1.30.0, CPU: Transpose(Pad(Transpose<perm=[1, 0]>(x), pads=[0, 0], axes=[0])) of float[2, 1] fails to
# run: indices element out of data bounds, idx=3 must be within the inclusive range [-2,1], from ORT_ENABLE_BASIC on.
#
#   pip install onnxruntime==1.30.0 && python3 run.py
import sys

import numpy as np
import onnxruntime as ort

x = np.array([[0], [0]], np.float32)
results = dict.fromkeys(("ORT_DISABLE_ALL", "ORT_ENABLE_BASIC"), "no error")
for level in results:
    try:
        options = ort.SessionOptions()
        options.graph_optimization_level = getattr(ort.GraphOptimizationLevel, level)
        session = ort.InferenceSession("model.onnx", options, providers=["CPUExecutionProvider"])
        session.run(None, {"x": x})
    except Exception as error:
        results[level] = str(error)
print(results)
sys.exit(2 if results["ORT_DISABLE_ALL"] != "no error" else int(results["ORT_ENABLE_BASIC"] != "no error"))
