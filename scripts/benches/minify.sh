# number of queries of minify, compared with other reduction tools, and the time of whole runs
# Minimizes real networks with injected bugs, where an oracle looks only at the structure of a candidate; then minimizes
# share/models, where the oracles are real backends.
#   scripts/bench minify [--json FILE] [--no-oracles] [--models DIR] DIR
# DIR: graphs/*.json and cases.json (see test/bench/minify_bench.cpp). The second table is written to a file whose name is
# FILE with the ending .oracles.json. Its bugs are injected into Halide's schedule, into a shared library, and into a command.
json='' no_oracles='' models=$root/share/models
options "json= models= no-oracles DIR" "$@"
folder=${words[0]-}
[ -e "$folder/cases.json" ] || fail "found no cases.json in '$folder', expected DIR/cases.json"
build_release bench_minify minify relu_testing planted
"$build/bin/bench_minify" ${json:+--json "$json"} "$folder"
[ -z "$no_oracles" ] || exit 0

new_scratch
cat >"$scratch/check" <<'SH'
#!/bin/sh
# A compiler without Softmax, Clip, LSTM and MaxPool: at least one of them is in each model.
! grep -aq -e Softmax -e Clip -e LSTM -e MaxPool "$1"
SH
chmod +x "$scratch/check"
field() { sed -n "s/^  \"$1\": \"\{0,1\}\([^\",]*\)\"\{0,1\},\{0,1\}$/\1/p" "$scratch/said"; }
separator= out=/dev/null
[ -z "$json" ] || out=${json%.json}.oracles.json
echo '{"cases": [' >"$out"
printf '\n%-18s %-34s %10s %8s %8s %9s %10s %s\n' model oracle ops queries seconds s/query 1-minimal result
# minimize MODEL NAME ARGUMENTS…: one row, with the bug $bug planted
minimize() {
  local model=$1 oracle=$2 before after queries seconds
  shift 2
  ${bug:+"$root/scripts/planted" "$bug"} "$build/bin/minify" "$models/$model/model.onnx" -o "$scratch/$model.onnx" --json "$@" >"$scratch/said" 2>"$scratch/errors" ||
    [ $? = 1 ] || { cat "$scratch/errors" >&2; exit 1; }
  before=$(field calls_before) after=$(field calls_after) queries=$(field queries) seconds=$(field seconds)
  printf '%-18s %-34s %4s -> %2s %8s %8.1f %9.2f %10s %s\n' "$model" "$oracle" "$before" "$after" "$queries" "$seconds" \
    "$(awk -v s="$seconds" -v q="$queries" 'BEGIN { print q ? s / q : 0 }')" "$(field one_minimal)" "$(field result)"
  printf '%s{"model": "%s", "oracle": "%s", "result": %s}' "$separator" "$model" "$oracle" "$(cat "$scratch/said")" >>"$out"
  separator=$',\n'
}
# An op that the model's lowering has plenty of.
lowered() {
  case $1 in
    bert* | gpt*) echo aten.mm.default ;;
    lstm*) echo aten.cat.default ;;
    *) echo aten.convolution.default ;;
  esac
}
for folder in "$models"/*/; do
  model=$(basename "$folder")
  bug=schedule minimize "$model" "halide, racy schedule" --backend halide --accuracy
  bug=lower=$(lowered "$model") minimize "$model" "halide, wrong lowering" --backend halide --accuracy
  minimize "$model" relu_accuracy_error_TESTING_ONLY --backend relu_accuracy_error_TESTING_ONLY --accuracy
  minimize "$model" "a command (--check)" --check "$scratch/check" {}
done
echo ']}' >>"$out"
