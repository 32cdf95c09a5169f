# kernels of halide, compared with eager and ONNX Runtime; with --queries: the time of a minify query
# Measures run time, compile time (with rules; without, as in minify's first queries; from the cache) and memory of halide's
# kernels, against eager and ONNX Runtime (npm's onnxruntime-node, installed on demand), interleaved in one run: first with
# one thread, then with one per processor.
#   scripts/bench backend [--alone] [--dynamic] [--avx2] [--roofline] [--json FILE] [CASE…]
#   scripts/bench backend --queries BACKEND [MODEL…]     time of a minify query on a worker (onnxruntime, opencv), compared
#                                                        with the time of the compiler; default: share/models
# CASE: a graph of test/bench/backend (CLASS.NAME.txt), a model.onnx, or a folder with a model.onnx. Default: all of
# test/bench/backend. --alone: without ONNX Runtime. --dynamic: weights are inputs, not constants. --avx2: compile kernels
# without AVX-512 (ONNX Runtime may still use it). --roofline: below each row, list the kernels and the fraction of this
# machine's peak that each kernel reaches. --json: write the rows, with one file for each number of threads: FILE.1.json, FILE.2.json.
json='' alone='' queries='' dynamic='' avx2='' roofline=''
options "json= queries= alone dynamic avx2 roofline CASE" "$@"
for file in "${words[@]}"; do
  [ -e "$file" ] || fail "found no '$file', expected a graph or a model"
done
build_release backend_bench query_bench
if [ -n "$queries" ]; then
  [ ${#words[@]} -gt 0 ] || words=("$root"/share/models/*)
  exec "$build/bin/query_bench" "$build/lib/whittle/backends/$queries" "${words[@]}"
fi
[ ${#words[@]} -gt 0 ] || words=("$root"/test/bench/backend/*.txt)
peer=
if [ -z "$alone" ]; then
  [ -e "${XDG_DATA_HOME:-$HOME/.local/share}/whittle/backends/onnxruntime/node_modules/onnxruntime-node/package.json" ] ||
    "$root/scripts/setup" --with onnxruntime >&2
  peer=$build/lib/whittle/backends/onnxruntime
fi
for threads in 1 $(nproc | grep -vx 1); do
  "$build/bin/backend_bench" --threads "$threads" ${json:+--json "${json%.json}.$threads.json"} ${dynamic:+--dynamic} \
    ${avx2:+--avx2} ${roofline:+--roofline} ${peer:+--onnxruntime "$peer"} "${words[@]}"
  echo
done
