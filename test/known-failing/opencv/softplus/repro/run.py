# OpenCV 4.6.0 dnn, CPU: Softplus(x) of float[1, 2] gives inf, expected 128.
#
#   python3 run.py
import sys

import cv2
import numpy as np

net = cv2.dnn.readNetFromONNX("model.onnx")
net.setPreferableBackend(cv2.dnn.DNN_BACKEND_OPENCV)
net.setInput(np.array([[32, 128]], np.float32), "x")
y = net.forward("y").ravel()
expected = [32, 128]
print(cv2.__version__, y, "expected:", expected)
sys.exit(int(any(not (abs(a - e) <= 0.01281) for a, e in zip(y, expected))))
