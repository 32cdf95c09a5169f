# OpenCV 4.6.0 dnn, CPU: MaxPool<dilations=[2, 3], kernel_shape=[2, 2]>(x) of float[1, 1, 3, 4] gives shape [1, 1, 2,
# 3], expected [1, 1, 1, 1].
#
#   python3 run.py
import sys

import cv2
import numpy as np

net = cv2.dnn.readNetFromONNX("model.onnx")
net.setPreferableBackend(cv2.dnn.DNN_BACKEND_OPENCV)
net.setInput(np.array([[[[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]]], np.float32), "x")
y = net.forward("y")
sizes = "x".join(map(str, y.shape))
print(cv2.__version__, sizes, "expected:", "1x1x1x1")
sys.exit(int(sizes != "1x1x1x1"))
