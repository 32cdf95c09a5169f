# OpenCV 4.6.0 dnn, CPU: Softplus(x) of float[1, 1] gives inf, expected 128, where x = 128.
#
#   python3 run.py
import sys

import cv2
import numpy as np

net = cv2.dnn.readNetFromONNX("model.onnx")
net.setPreferableBackend(cv2.dnn.DNN_BACKEND_OPENCV)
net.setInput(np.array([[128]], np.float32), "x")
y = net.forward("y").ravel()
print(cv2.__version__, y[0], "expected:", 128)
sys.exit(int(not (abs(y[0] - 128) <= 0.013)))
