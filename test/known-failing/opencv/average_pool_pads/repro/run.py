# OpenCV 4.6.0 dnn, CPU: AveragePool<count_include_pad=1, pads=[0, 0, 1, 1], kernel_shape=[2, 2]>(x) of float[1, 1, 1,
# 1] at opset 12 gives 1, expected 0.25, where x = 1.
#
#   python3 run.py
import sys

import cv2
import numpy as np

net = cv2.dnn.readNetFromONNX("model.onnx")
net.setPreferableBackend(cv2.dnn.DNN_BACKEND_OPENCV)
net.setInput(np.array([[[[1]]]], np.float32), "x")
y = net.forward("y").ravel()
print(cv2.__version__, y[0], "expected:", 0.25)
sys.exit(int(not (abs(y[0] - 0.25) <= 3.5e-05)))
