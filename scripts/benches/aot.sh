# gradients and partitions of AOT autograd, beside PyTorch's and functorch's
# In one run: gradients of training problems beside PyTorch's, what the partitions save for the backward graph beside
# functorch's on the same joint graphs, what they compute again, and how long that takes; one training step under eager,
# aot_eager, halide and LibTorch, by turns; and how long a graph of 2,000 nodes takes to be differentiated and cut.
# Seconds are of processor time, one thread.
#   scripts/bench aot [--json FILE] DIR
# DIR: a folder for each problem with problem.json, figures.json, graphs/ and safetensors files (see
# test/bench/aot_bench.cpp).
json=
options "json= DIR" "$@"
folder=${words[0]-}
[ -d "$folder" ] || fail "found no folder '$folder', expected DIR"
build_release bench_aot
export HL_NUM_THREADS=1 OMP_NUM_THREADS=1
exec "$build/bin/bench_aot" ${json:+--json "$json"} "$folder"
