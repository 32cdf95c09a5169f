# OpenCV 5.0.0 dnn, CPU: Softmax(Reshape(x, shape=[1, 2, 1])) of float[1, 2] at opset 12 gives 1, expected 0.5.
#
#   pip install opencv-python==5.0.0.* && python3 run.py
import sys

import cv2
import numpy as np

net = cv2.dnn.readNetFromONNX("model.onnx")
net.setInput(np.array([[0, 0]], np.float32), "x")
y = net.forward("y").ravel()
expected = [0.5, 0.5]
print(cv2.__version__, y, "expected:", expected)
sys.exit(int(any(not (abs(a - e) <= 6e-05) for a, e in zip(y, expected))))
