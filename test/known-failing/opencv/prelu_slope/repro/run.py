# OpenCV 4.6.0 dnn, CPU: PRelu(x) gives -0, expected -2.173993.
#
#   python3 run.py
import sys

import cv2
import numpy as np

net = cv2.dnn.readNetFromONNX("model.onnx")
net.setPreferableBackend(cv2.dnn.DNN_BACKEND_OPENCV)
net.setInput(np.array([[-0.15199488], [-1.0869967]], np.float32), "x")
y = net.forward("y").ravel()
expected = [-0, -2.1739933]
print(cv2.__version__, y, "expected:", expected)
sys.exit(int(any(not (abs(a - e) <= 0.0002273993) for a, e in zip(y, expected))))
