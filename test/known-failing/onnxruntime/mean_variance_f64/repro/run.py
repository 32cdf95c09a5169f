# ONNX Runtime 1.30.0, CPU: MeanVarianceNormalization(x) of float16[1, 1, 1, 1] fails to load: Type Error: Type
# parameter (T) of Optype (Add) bound to different types (tensor(float16) and tensor(float) in node (), at all levels
# of optimization.
#
#   pip install onnxruntime==1.30.0 && python3 run.py
import sys

import numpy as np
import onnxruntime as ort

x = np.array([[[[0]]]], np.float16)
try:
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = ort.InferenceSession("model.onnx", options, providers=["CPUExecutionProvider"])
    session.run(None, {"x": x})
    print("no error")
except Exception as error:
    print(error)
    sys.exit(1)
