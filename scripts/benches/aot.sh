# gradients and partitions of AOT autograd, compared with PyTorch and functorch
# Measures, in one run: gradients of training problems against PyTorch's; the memory that partitions save for the backward
# graph against functorch's on the same joint graphs; the operations that partitions recompute, and the time for this; one training
# step on eager, aot_eager, halide and LibTorch in turn; and the time to differentiate and partition a graph of 2,000 nodes.
# Seconds are processor time of one thread.
#   scripts/bench aot [--json FILE] DIR
# DIR: folder with a subfolder for each problem. Each subfolder contains problem.json, figures.json, graphs/ and safetensors files (see
# test/bench/aot_bench.cpp).
json=
options "json= DIR" "$@"
folder=${words[0]-}
[ -d "$folder" ] || fail "found no folder '$folder', expected DIR"
build_release bench_aot
export HL_NUM_THREADS=1 OMP_NUM_THREADS=1
exec "$build/bin/bench_aot" ${json:+--json "$json"} "$folder"
