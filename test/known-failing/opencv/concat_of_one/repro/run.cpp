// OpenCV 4.6.0 dnn, CPU: Concat<axis=0>(x) of float[1, 1] gives other values in each run, expected 1, where x = 1,
// with fusion.
// With fusion switched off (./run control), the result is right.
//
//   g++ -std=c++17 -O1 run.cpp -o run -I/usr/include/opencv4 -lopencv_dnn -lopencv_core && ./run
#include <opencv2/dnn.hpp>

#include <cstdio>

int main(int argc, char**) {
    const bool fusion = argc == 1;
    cv::dnn::Net net = cv::dnn::readNetFromONNX("model.onnx");
    net.setPreferableBackend(cv::dnn::DNN_BACKEND_OPENCV);
    if (!fusion) net.enableFusion(false);

    float x[] = {1};
    net.setInput(cv::Mat(std::vector<int>{1, 1}, CV_32F, x), "x");
    cv::Mat y = net.forward("y");

    const float expected = 1;
    if (y.ptr<float>()[0] != expected) {
        printf("y = %g, expected %g\n", y.ptr<float>()[0], expected);
        return 1;
    }
    printf("ok\n");
    return 0;
}
