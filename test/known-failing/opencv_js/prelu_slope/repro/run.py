# OpenCV 5.0.0 dnn, CPU: PRelu(x, slope=[4, -4]) of float[1, 1, 1, 2] gives -16, expected 16.
#
#   pip install opencv-python==5.0.0.* && python3 run.py
import sys

import cv2
import numpy as np

net = cv2.dnn.readNetFromONNX("model.onnx")
net.setInput(np.array([[[[4, -4]]]], np.float32), "x")
y = net.forward("y").ravel()
expected = [4, 16]
print(cv2.__version__, y, "expected:", expected)
sys.exit(int(any(not (abs(a - e) <= 0.0017) for a, e in zip(y, expected))))
