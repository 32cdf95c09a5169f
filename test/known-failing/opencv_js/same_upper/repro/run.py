# OpenCV 5.0.0 dnn, CPU: MaxPool<kernel_shape=[3, 3], strides=[2, 2], auto_pad="SAME_UPPER">(x) of float[1, 1, 1, 4]
# gives 0.25, expected 0.21875.
#
#   pip install opencv-python==5.0.0.* && python3 run.py
import sys

import cv2
import numpy as np

net = cv2.dnn.readNetFromONNX("model.onnx")
net.setPreferableBackend(cv2.dnn.DNN_BACKEND_OPENCV)
net.setInput(np.array([[[[2, 0.25, 0.21875, 0.09375]]]], np.float32), "x")
y = net.forward("y").ravel()
expected = [2, 0.21875]
print(cv2.__version__, y, "expected:", expected)
sys.exit(int(any(not (abs(a - e) <= 0.00021) for a, e in zip(y, expected))))
