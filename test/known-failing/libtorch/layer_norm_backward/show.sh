g++ -std=c++17 -O1 repro.cpp -o repro -I/usr/include/torch/csrc/api/include -ltorch_cpu -lc10 || exit 2
./repro
