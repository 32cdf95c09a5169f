# OpenCV 4.6.0 dnn, CPU: Split<axis=-1>(x, split=[1, 5]) of float[1, 6] at opset 13 gives shape [1, 3], expected [1,
# 1].
#
#   python3 run.py
import sys

import cv2
import numpy as np

net = cv2.dnn.readNetFromONNX("model.onnx")
net.setPreferableBackend(cv2.dnn.DNN_BACKEND_OPENCV)
net.setInput(np.array([[0, 0, 0, 0, 0, 0]], np.float32), "x")
y = net.forward("y")
sizes = "x".join(map(str, y.shape))
print(cv2.__version__, sizes, "expected:", "1x1")
sys.exit(int(sizes != "1x1"))
