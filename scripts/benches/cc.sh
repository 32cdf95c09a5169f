# cost of trace cc, compared with a plain compilation
# Measures, in one run, the time to compile a LibTorch file, and the time of the program if no listener is loaded.
#   scripts/bench cc [--json FILE] [--runs N] [FILE.cpp FLAGS…]
# FILE.cpp: a C++ file, by default the LibTorch example. Times are the best of N runs (default 3), in seconds of processor time.
# Environment: CXX (default: g++).
json='' runs=3
options "+ json= runs= FILE" "$@"
[ ${#words[@]} -gt 0 ] ||
  words=("$root/share/examples/libtorch/toy_example.cpp" -std=c++17 -O2 -g -I/usr/include/torch/csrc/api/include)
build_release trace
new_scratch
cxx=${CXX:-g++}

# The best of the runs of a command: user and system time together.
best() {
  local least='' i
  for ((i = 0; i < runs; ++i)); do
    measure "$@"
    cat "$scratch/out" >&2
    least=$(printf '%s\n%s\n' "$processor" "${least:-$processor}" | sort -g | head -1)
  done
  echo "$least"
}
compile=("$cxx" "${words[@]}" -c -o "$scratch/x.o")
plain=$(best "${compile[@]}")
probed=$(best "$build/bin/trace" cc -- "${compile[@]}")

cost=("$cxx" -std=c++17 -O2 -I"$root/test/trace/cc" -c "$root/test/bench/probes.cpp")
"${cost[@]}" -o "$scratch/plain.o"
"$build/bin/trace" cc -- "${cost[@]}" -o "$scratch/probed.o"
for kind in plain probed; do "$cxx" "$scratch/$kind.o" -o "$scratch/$kind"; done
nanoseconds() { for ((i = 0; i < runs; ++i)); do "$scratch/$1"; done | sort -g | head -1; }
idle_plain=$(nanoseconds plain) idle_probed=$(nanoseconds probed)

awk -v file="$(basename "${words[0]}")" -v json="$json" -v plain="$plain" -v probed="$probed" -v a="$idle_plain" -v b="$idle_probed" 'BEGIN {
  printf "%-44s %9s %9s %9s\n", "", "plain", "trace cc", "added"
  printf "%-44s %8.2fs %8.2fs %8.2fx  (target: 0.30x)\n", "compile " file, plain, probed, (probed - plain) / plain
  printf "%-44s %7.2fns %7.2fns %7.2fns\n", "call of 4 statements, nobody listening", a, b, b - a
  if (json != "")
    printf "{\"file\": \"%s\", \"compile_seconds\": %s, \"trace_cc_seconds\": %s, \"added\": %.3f, \"call_ns\": %s, \"probed_call_ns\": %s}\n",
           file, plain, probed, (probed - plain) / plain, a, b > json
}'
