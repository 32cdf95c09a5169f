# OpenCV 4.6.0 dnn, CPU: Concat<axis=0>(x) of float[1, 1] gives other values in each run, expected 1, where x = 1,
# with fusion.
#
#   python3 run.py
import sys

import cv2
import numpy as np

net = cv2.dnn.readNetFromONNX("model.onnx")
net.setPreferableBackend(cv2.dnn.DNN_BACKEND_OPENCV)
net.setInput(np.array([[1]], np.float32), "x")
y = net.forward("y").ravel()
print(cv2.__version__, y[0], "expected:", 1)
sys.exit(int(y[0] != 1))
