# processor time of a cold build, compared with the time of one ordinary file
# Divides the processor time of a release build of the five programs, from scratch and without a compiler cache, by the time of
# compiling test/bench/compile_unit.cpp, so that the result does not depend on the machine.
#   scripts/bench build [--json FILE]
# The build uses a temporary folder, and two jobs on every machine: parallel compilations slow each other down.
json=
options "json=" "$@"
new_scratch
export CCACHE_DISABLE=1
unit() {
  local compile=(g++ -std=c++20 -O2 -c "$root/test/bench/compile_unit.cpp")
  "${compile[@]}" -o "$scratch/unit1.o" & local other=$!
  "${compile[@]}" -o "$scratch/unit2.o" && wait "$other"
}
measure cmake -S "$root" -B "$scratch/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER=g++
measure unit  # warms the file cache
measure unit; two=$processor
measure cmake --build "$scratch/build" --target programs -j 2
awk -v two="$two" -v build="$processor" -v clock="$clock" -v json="$json" 'BEGIN {
  printf "one ordinary file            %8.1f s of processor time\n", two / 2
  printf "cold build of the programs   %8.1f s of processor time, %.0f s on the clock\n", build, clock
  printf "ratio                        %8.1f\n", build / (two / 2)
  if (json) printf "{\"unit_seconds\": %.2f, \"build_seconds\": %.1f, \"clock_seconds\": %.0f, \"ratio\": %.1f}\n", two / 2, build, clock, build / (two / 2) >json
}'
