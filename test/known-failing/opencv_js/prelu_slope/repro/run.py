# OpenCV 5.0.0 dnn, CPU: PRelu(x, slope=[4, -4]) of float[1, 1, 1, 2] gives -8, expected 8.
#
#   pip install opencv-python==5.0.0.* && python3 run.py
import sys

import cv2
import numpy as np

net = cv2.dnn.readNetFromONNX("model.onnx")
net.setPreferableBackend(cv2.dnn.DNN_BACKEND_OPENCV)
net.setInput(np.array([[[[-2, -2]]]], np.float32), "x")
y = net.forward("y").ravel()
expected = [-8, 8]
print(cv2.__version__, y, "expected:", expected)
sys.exit(int(any(not (abs(a - e) <= 0.00081) for a, e in zip(y, expected))))
