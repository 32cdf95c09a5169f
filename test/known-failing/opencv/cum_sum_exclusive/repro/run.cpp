// OpenCV 4.6.0 dnn, CPU: CumSum<exclusive=1>(CumSum(x, axis=1), axis=1) of float[1, 2] gives 0, expected 1.
//
//   g++ -std=c++17 -O1 run.cpp -o run -I/usr/include/opencv4 -lopencv_dnn -lopencv_core && ./run
#include <opencv2/dnn.hpp>

#include <cmath>
#include <cstdio>

int main() {
    cv::dnn::Net net = cv::dnn::readNetFromONNX("model.onnx");
    net.setPreferableBackend(cv::dnn::DNN_BACKEND_OPENCV);

    float x[] = {1, 1};
    net.setInput(cv::Mat(std::vector<int>{1, 2}, CV_32F, x), "x");
    cv::Mat y = net.forward("y");

    const float expected[] = {0, 1};
    for (int i = 0; i < 2; i++)
        if (!(std::fabs(y.ptr<float>()[i] - expected[i]) <= 0.00011)) {
            printf("y[%d] = %g, expected %g\n", i, y.ptr<float>()[i], expected[i]);
            return 1;
        }
    printf("ok\n");
    return 0;
}
