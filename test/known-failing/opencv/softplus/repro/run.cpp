// OpenCV 4.6.0 dnn, CPU: Softplus(x) of float[1, 1] gives inf, expected 128, where x = 128.
//
//   g++ -std=c++17 -O1 run.cpp -o run -I/usr/include/opencv4 -lopencv_dnn -lopencv_core && ./run
#include <opencv2/dnn.hpp>

#include <cmath>
#include <cstdio>

int main() {
    cv::dnn::Net net = cv::dnn::readNetFromONNX("model.onnx");
    net.setPreferableBackend(cv::dnn::DNN_BACKEND_OPENCV);

    float x[] = {128};
    net.setInput(cv::Mat(std::vector<int>{1, 1}, CV_32F, x), "x");
    cv::Mat y = net.forward("y");

    const float expected = 128;
    if (!(std::fabs(y.ptr<float>()[0] - expected) <= 0.013)) {
        printf("y = %g, expected %g\n", y.ptr<float>()[0], expected);
        return 1;
    }
    printf("ok\n");
    return 0;
}
