g++ -std=c++17 -O1 repro.cpp -o repro -I/usr/include/halide14 -lHalide14 || exit 2
./repro
