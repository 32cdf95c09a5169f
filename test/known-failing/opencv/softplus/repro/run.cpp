// OpenCV 4.6.0 dnn, CPU: Softplus(x) of float[1, 2] gives inf, expected 128.
//
//   g++ -std=c++17 -O1 run.cpp -o run -I/usr/include/opencv4 -lopencv_dnn -lopencv_core && ./run
#include <opencv2/dnn.hpp>

#include <cmath>
#include <cstdio>

int main() {
    cv::dnn::Net net = cv::dnn::readNetFromONNX("model.onnx");
    net.setPreferableBackend(cv::dnn::DNN_BACKEND_OPENCV);

    float x[] = {32, 128};
    net.setInput(cv::Mat(std::vector<int>{1, 2}, CV_32F, x), "x");
    cv::Mat y = net.forward("y");

    const float expected[] = {32, 128};
    for (int i = 0; i < 2; i++)
        if (!(std::fabs(y.ptr<float>()[i] - expected[i]) <= 0.01281)) {
            printf("y[%d] = %g, expected %g\n", i, y.ptr<float>()[i], expected[i]);
            return 1;
        }
    printf("ok\n");
    return 0;
}
