# needs: explain list backends | grep '^halide ' && test -e /usr/include/halide14/Halide.h
g++ -std=c++17 -g -O0 program.cpp -o program -I/usr/include/halide14 -lHalide14
minify ./program -o m.json
repro m.json --time-limit 30s
