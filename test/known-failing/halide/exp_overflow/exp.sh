# exp.sh exp.cpp FOLDER: builds the program and runs it on what is asked (share/doc/backends.md, A command).
grep -q 'aten.exp.default' "$2/graph.json" || exit 125
g++ -std=c++17 "$1" -o "$2/exp" -I/usr/include/halide14 -lHalide14 || exit 126
exec "$2/exp" "$2"
