# cost of capture per operation, for Whittle's API and for a LibTorch program under explain
# Compares the program with the same loop without capture; for the LibTorch program, also in long runs and with two threads.
#   scripts/bench capture [--json]
json=
options "json" "$@"
build_release capture_bench explain trace
bench=$build/bin/libtorch_bench
# Without LibTorch there are no such targets.
if [ -z "${WHITTLE_BUILD-}" ] && cmake --build "$build" --target help | grep libtorch_bench >/dev/null; then
  build_release libtorch_bench capture_libraries
fi
"$build/bin/capture_bench" ${json:+--json}
[ -x "$bench" ] || exit 0
new_scratch
explained() { "$build/bin/explain" --backend eager -o /dev/null "$bench" -- "$@" | head -1; }
traced() { "$build/bin/trace" -o "$scratch/trace" "$bench" -- "$@" 2>/dev/null | head -1; }
plain=$("$bench")
captured=$("$build/bin/explain" --backend eager -o /dev/null "$bench" | head -1)
if [ -n "$json" ]; then
  printf '{"libtorch_plain_ns": %s, "libtorch_explain_ns": %s, "added_ns": %s}\n' "$plain" "$captured" $((captured - plain))
  exit 0
fi
printf 'LibTorch         plain   explain  added\nns            %8s  %8s  %5s  (target: 1000)\n' "$plain" "$captured" $((captured - plain))
# Long runs: what the program takes, and what comes behind it until the report is there.
ops=${WHITTLE_BENCH_OPS:-1000000}
seconds() { awk "BEGIN { printf \"%.2f\", $1 }"; }
long=$("$bench" "$ops")
begin=$(date +%s.%N)
long_explained=$(explained "$ops")
whole=$(seconds "$(date +%s.%N) - $begin")
printf '%s ops: plain %s s, under explain %s s (target: %s), with the analysis %s s\n' "$ops" \
  "$(seconds "$long * $ops / 1e9")" "$(seconds "$long_explained * $ops / 1e9")" \
  "$(seconds "1.5 * $long * $ops / 1e9 + 2")" "$whole"
printf 'trace with data: %s times plain (target: 3)\n' "$(seconds "$(traced "$ops") / $long")"
two=$("$bench" "$ops" 2) two_explained=$(explained "$ops" 2)
# The target is of the scaling: 1 where a second thread helps as much under explain as it does without.
printf '2 threads take %s of the time of one, under explain %s: scaling %s times worse (target: 1.2)\n' \
  "$(seconds "$two / $long")" "$(seconds "$two_explained / $long_explained")" \
  "$(seconds "$two_explained / $long_explained / ($two / $long)")"
printf '2 threads under explain: %s times plain (one thread: %s)\n' \
  "$(seconds "$two_explained / $two")" "$(seconds "$long_explained / $long")"
