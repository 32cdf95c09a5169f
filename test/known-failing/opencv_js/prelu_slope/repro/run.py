# OpenCV 5.0.0 dnn, CPU: PRelu(Reshape(x)) gives -0.07470703, expected -0.2724609.
#
#   pip install opencv-python==5.0.0.* && python3 run.py
import sys

import cv2
import numpy as np

net = cv2.dnn.readNetFromONNX("model.onnx")
net.setPreferableBackend(cv2.dnn.DNN_BACKEND_OPENCV)
net.setInput(np.array([[1.53125, -0.28125]], np.float32), "x")
y = net.forward("y").ravel()
expected = [1.53125, -0.27246094]
print(cv2.__version__, y, "expected:", expected)
sys.exit(int(any(not (abs(a - e) <= 0.000163125) for a, e in zip(y, expected))))
