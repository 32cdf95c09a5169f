# time of replay for many small records, compared with the same number of processes that do nothing
#   scripts/bench replay [--json FILE] [--records N] [--jobs N]
# The records come from the toy example (default: 1,000 records, one job). Prints wall-clock and processor seconds.
json='' records=1000 jobs=1
options "json= records= jobs=" "$@"
build_release trace replay toy_example
new_scratch
"$build/bin/trace" -o "$scratch/one" "$build/examples/toy_example" >/dev/null 2>&1
mkdir "$scratch/all"
for ((i = 0, made = 0; made < records; ++i)); do
  cp -r "$scratch/one" "$scratch/all/$i"
  rm "$scratch/all/$i/index.json"
  for record in "$scratch/all/$i"/records/*.json; do
    [ "$made" -lt "$records" ] && made=$((made + 1)) || rm "$record"
  done
done
nothing() { for ((i = 0; i < records; ++i)); do (:) ; done; }
measure "$build/bin/replay" "$scratch/all" -j "$jobs"
wall=$clock cpu=$processor said=$(tail -n 1 "$scratch/out")
measure nothing
awk -v n="$records" -v j="$jobs" -v w="$wall" -v c="$cpu" -v fw="$clock" -v fc="$processor" -v said="$said" 'BEGIN {
  printf "%s\n", said
  printf "replay -j %d:            %7.3f s, %7.3f s of processor, %.2f ms a record\n", j, w, c, 1000 * w / n
  printf "%d empty processes:  %7.3f s, %7.3f s of processor (ratio %.2f)\n", n, fw, fc, w / fw }'
if [ -n "$json" ]; then
  printf '{"records": %d, "jobs": %d, "seconds": %s, "cpu_seconds": %s, "fork_seconds": %s, "said": "%s"}\n' \
    "$records" "$jobs" "$wall" "$cpu" "$clock" "$said" >"$json"
fi
