// OpenCV 4.6.0 dnn, CPU: MaxPool<dilations=[2, 3], kernel_shape=[2, 2]>(x) of float[1, 1, 3, 4] gives shape [1, 1, 2,
// 3], expected [1, 1, 1, 1].
//
//   g++ -std=c++17 -O1 run.cpp -o run -I/usr/include/opencv4 -lopencv_dnn -lopencv_core && ./run
#include <opencv2/dnn.hpp>

#include <cstdio>
#include <string>

int main() {
    cv::dnn::Net net = cv::dnn::readNetFromONNX("model.onnx");
    net.setPreferableBackend(cv::dnn::DNN_BACKEND_OPENCV);

    float x[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    net.setInput(cv::Mat(std::vector<int>{1, 1, 3, 4}, CV_32F, x), "x");
    cv::Mat y = net.forward("y");

    std::string sizes;
    for (int d = 0; d < y.dims; d++) sizes += (d ? "x" : "") + std::to_string(y.size[d]);
    if (sizes != "1x1x1x1") {
        printf("y is %s, expected 1x1x1x1\n", sizes.c_str());
        return 1;
    }
    printf("ok\n");
    return 0;
}
