# kernels of halide, beside eager and ONNX Runtime; with --queries, what a query of minify costs on a worker
# How quick halide's kernels are, how long they take to compile (with the rules; without, as minify's queries first are;
# and from the cache), and how much memory they take, beside eager and ONNX Runtime (npm's onnxruntime-node, which is
# installed on demand), interleaved in one run: first one thread, then as many as there are processors.
#   scripts/bench backend [--alone] [--dynamic] [--avx2] [--roofline] [--json FILE] [CASE…]
#   scripts/bench backend --queries BACKEND [MODEL…]     what a query of minify costs on a worker (onnxruntime, opencv) beside
#                                                        what its compiler takes; default: share/models
# CASE: a graph of test/bench/backend (CLASS.NAME.txt), a model.onnx, or a folder with one. Default: all of
# test/bench/backend. --alone: without ONNX Runtime. --dynamic: weights are inputs, not constants. --avx2: kernels for a
# processor without AVX-512 (ONNX Runtime is not told). --roofline: below each row its kernels and their share of what
# this machine allows. FILE gets the rows, one file for each number of threads: FILE.1.json, FILE.2.json.
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
