# ONNX Runtime 1.30.0, CPU: SIGSEGV at run of y0 = BatchNormalization(y1, w2, w0, w1, w4), y1 = Reshape(MatMul(x, w5),
# shape=[0, 0]) of float[3, 2], from ORT_ENABLE_BASIC on, by MatMul_BatchNormalization_Fusion.
# Right with optimization.disable_specified_optimizers = MatMul_BatchNormalization_Fusion.
#
#   pip install onnxruntime==1.30.0 && python3 run.py
import numpy as np
import onnxruntime as ort

x = np.array([[0, 0], [0, 0], [0, 0]], np.float32)
for level in ("ORT_DISABLE_ALL", "ORT_ENABLE_BASIC"):
    options = ort.SessionOptions()
    options.graph_optimization_level = getattr(ort.GraphOptimizationLevel, level)
    session = ort.InferenceSession("model.onnx", options, providers=["CPUExecutionProvider"])
    print(level, "does not crash:", session.run(None, {"x": x}))
