# OpenCV 4.6.0 dnn, CPU: Softmax(x) of float[1, 2, 1] gives 0.5, expected 1.
#
#   python3 run.py
import sys

import cv2
import numpy as np

net = cv2.dnn.readNetFromONNX("model.onnx")
net.setPreferableBackend(cv2.dnn.DNN_BACKEND_OPENCV)
net.setInput(np.array([[[0], [0]]], np.float32), "x")
y = net.forward("y").ravel()
expected = [1, 1]
print(cv2.__version__, y, "expected:", expected)
sys.exit(int(any(not (abs(a - e) <= 0.00011) for a, e in zip(y, expected))))
