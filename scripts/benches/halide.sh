# directives that minify names as culprits in a Halide program, and the number of queries
# Minimizes test/halide/many.cpp, a program of about fifty scheduling directives, for each of N seeds. Exit status 1 if
# minify does not find all culprits, or needs more queries in the mean than k·(2 + log2 n) + 2·s. Here, n is the number of
# directives, k is the number of culprits, and s is the number of directives in the set that minify finds.
#   scripts/bench halide [--json FILE] [--seeds N]
json='' seeds=50
options "json= seeds=" "$@"
build_release halide_many minify
new_scratch
program=$build/examples/halide/many
field() { sed -n "s/^  \"$1\": \([0-9]*\),\{0,1\}$/\1/p" "$scratch/said"; }
separator='' out=${json:-/dev/null}
echo '[' >"$out"
printf '%-6s %10s %6s %6s %8s %8s %s\n' seed directives fault needed queries most found
for ((seed = 0; seed < seeds; ++seed)); do
  { "$program" "$seed" || true; } | grep -E '^f_[a-z]+ [a-z_]+$' >"$scratch/faults" || fail "seed $seed: the program does not say what is at fault" 1
  "$build/bin/minify" --json "$program" -o "$scratch/min.json" -- "$seed" >"$scratch/said" 2>"$scratch/errors" ||
    [ $? = 1 ] || { cat "$scratch/errors" >&2; exit 1; }
  causes=$(grep -E '^ +"(cause|text)": ' "$scratch/said" | sed -n 'N; s/.*"cause": true,\n *"text": //p')
  found=yes
  while read -r func directive; do
    grep -qE "^\"$func(\.update\(0\))?\.$directive\(" <<<"$causes" || found=no
  done <"$scratch/faults"
  awk -v seed="$seed" -v n="$(field candidates)" -v k="$(wc -l <"$scratch/faults")" -v s="$(grep -c '"cause": ' "$scratch/said")" \
    -v q="$(field queries)" -v found=$found 'BEGIN {
      printf "%-6s %10d %6d %6d %8d %8.1f %s\n", seed, n, k, s, q, k * (2 + log(n) / log(2)) + 2 * s, found }' | tee -a "$scratch/rows"
  printf '%s{"seed": %d, "found": "%s", "queries": %d}' "$separator" "$seed" "$found" "$(field queries)" >>"$out"
  separator=$',\n'
done
echo ']' >>"$out"
awk '{ queries += $5; most += $6; missed += $7 != "yes" }
     END { printf "mean %39.1f %8.1f\n", queries / NR, most / NR; exit (missed > 0 || queries > most) }' "$scratch/rows"
