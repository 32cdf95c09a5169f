cd repro
g++ -std=c++17 -O1 run.cpp -o run -I/usr/include/opencv4 -lopencv_dnn -lopencv_core || exit 2
./run
