# OpenCV 5.0.0 dnn, CPU: MaxPool<kernel_shape=[3, 3], strides=[2, 2], auto_pad="SAME_UPPER">(x) of float[1, 1, 4, 1]
# gives 2, expected 1.
#
#   pip install opencv-python==5.0.0.* && python3 run.py
import sys

import cv2
import numpy as np

net = cv2.dnn.readNetFromONNX("model.onnx")
net.setInput(np.array([[[[0], [2], [1], [0]]]], np.float32), "x")
y = net.forward("y").ravel()
expected = [2, 1]
print(cv2.__version__, y, "expected:", expected)
sys.exit(int(any(not (abs(a - e) <= 0.00021) for a, e in zip(y, expected))))
