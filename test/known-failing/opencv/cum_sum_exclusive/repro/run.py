# OpenCV 4.6.0 dnn, CPU: CumSum<exclusive=1>(CumSum(x, axis=1), axis=1) of float[1, 2] gives 0, expected 1.
#
#   python3 run.py
import sys

import cv2
import numpy as np

net = cv2.dnn.readNetFromONNX("model.onnx")
net.setPreferableBackend(cv2.dnn.DNN_BACKEND_OPENCV)
net.setInput(np.array([[1, 1]], np.float32), "x")
y = net.forward("y").ravel()
expected = [0, 1]
print(cv2.__version__, y, "expected:", expected)
sys.exit(int(any(not (abs(a - e) <= 0.00011) for a, e in zip(y, expected))))
