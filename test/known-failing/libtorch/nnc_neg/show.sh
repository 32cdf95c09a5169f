g++ -std=c++17 -O1 repro.cpp -o repro -DNDEBUG -ltorch_cpu -lc10 || exit 2
./repro
