# cost and size of repros
# For each injected failure: the lines of the repro after clang-format at 100 columns, the number of headers, the seconds to
# compile the repro, the seconds of minify and of repro, and whether the repro is verified.
#   scripts/bench repro [--harness] [BUG:MODEL…]     default: the list below; MODEL is one of test/bench/repro, or a file
harness=
options "harness BUG:MODEL" "$@"
cases=("${words[@]}")
if [ ${#cases[@]} = 0 ]; then
  for model in "$root"/test/bench/repro/*.json; do cases+=("schedule:$(basename "$model" .json)"); done
  cases+=(throw:matmul throw:attention throw:sum_sqrt relu_accuracy_error_TESTING_ONLY:conv_relu
          relu_compile_error_TESTING_ONLY:conv_relu relu_runtime_error_TESTING_ONLY:bmm_relu)
fi
build_release minify repro planted relu_testing
export PATH=$build/bin:$root/scripts:$PATH
new_scratch
seconds() { awk "BEGIN { printf \"%.1f\", $(date +%s.%N) - $1 }"; }

printf '%-44s %6s %8s %8s %7s %7s  %s\n' failure lines headers compile minify repro verified
all=()
for case in "${cases[@]}"; do
  bug=${case%%:*} model=${case#*:}
  [ -e "$model" ] || model=$root/test/bench/repro/$model.json
  run=(planted "$bug") with=(--backend halide)
  case $bug in *_TESTING_ONLY) run=() with=(--backend "$bug") ;; esac
  case $bug in throw | *_compile_* | *_runtime_*) ;; *) with+=(--accuracy) ;; esac
  rm -rf "$scratch/case" && mkdir "$scratch/case"
  start=$(date +%s.%N)
  if ! "${run[@]}" minify -q "$model" "${with[@]}" -o "$scratch/case/min.json" >"$scratch/minify.txt" 2>&1; then
    printf '%-44s %s\n' "$case" "$(tail -1 "$scratch/minify.txt")"
    continue
  fi
  minify=$(seconds "$start") start=$(date +%s.%N)
  (cd "$scratch/case" && "${run[@]}" repro min.json ${harness:+--harness} >repro.txt 2>&1) || true
  repro=$(seconds "$start") file=$scratch/case/repro.cpp
  lines=$(clang-format --style='{ColumnLimit: 100, IndentWidth: 4, SortIncludes: Never}' "$file" | wc -l)
  all+=("$lines")
  start=$(date +%s.%N)
  (cd "$scratch/case" && sh -c "$(sed -n 's/^next: *//p' repro.txt | sed 's/ && [^&]*$//')") >/dev/null 2>&1 || true
  printf '%-44s %6s %8s %8s %7s %7s  %s\n' "$case" "$lines" "$(grep -c '^#include' "$file")" "$(seconds "$start")" "$minify" "$repro" \
    "$(grep -q '^verified' "$scratch/case/repro.txt" && echo yes || echo NO)"
done
printf '%s\n' "${all[@]}" | sort -n | awk '{ n[NR] = $1 } END { if (NR) print "lines: median " n[int((NR + 1) / 2)] ", most " n[NR] }'
