# Sourced by scripts/ops-seen: exports the models and programs of the lists in this folder, traces and replays them, and
# prints a table.

# The interpreter exports one entry after the other; if an entry ends the process, the next run goes on behind it.
export_all() {  # DIR
  local done=-1 now=0
  while [ "$now" -ne "$done" ]; do
    done=$now
    PYTHONDONTWRITEBYTECODE=1 "${WHITTLE_PYTHON:-python3}" -W ignore "$root/scripts/exports/export.py" "$1" >&2 && return
    now=$(find "$1" -mindepth 2 -maxdepth 2 \( -name net.pt2 -o -name export.failed \) | wc -l)
  done
  fail "found no progress in the last run, expected Python with PyTorch, torchvision and transformers"
}

# status OUTPUT: "passed", or why not, of what replay prints.
status() {
  if grep -q '^1 record: 1 passed' <<<"$1"; then echo passed; return; fi
  grep -m1 -A1 -E '^(FAIL|SKIP)' <<<"$1" | tail -1 | sed 's/^ *//' | cut -c1-200
}

# judge DIR NAME: writes DIR/NAME/result, three lines: of trace, eager and halide.
judge() {
  local entry=$1/$2 trace=$scratch/trace said eager halide=
  rm -rf --one-file-system "$trace"
  said=$(timeout 600 "$build/bin/trace" -q -o "$trace" --input "$entry" "$entry/net.pt2" 2>&1 </dev/null) || true
  if [ ! -e "$trace/records" ]; then
    grep -m1 error <<<"$said" | cut -c1-200 >"$entry/result" || echo "ended without a message" >"$entry/result"
    return
  fi
  # Where rounding differs, the error of each side against double precision decides.
  eager=$(status "$(timeout 900 "$build/bin/replay" "$trace" --backend eager --accuracy=fp64 2>&1 </dev/null || true)")
  if [ "$eager" = passed ]; then
    halide=$(status "$(timeout 900 "$build/bin/replay" "$trace" --backend halide --accuracy=fp64 2>&1 </dev/null || true)")
  fi
  printf 'passed\n%s\n%s\n' "${eager:-no result}" "${halide:-no result}" >"$entry/result"
}

print_table() {  # DIR
  local group entry name
  echo '| group | entries | exported | traced | equal on eager | equal on halide, without falling back |'
  echo '|---|---|---|---|---|---|'
  for group in torchvision transformers feature; do
    for entry in "$1/$group"_*/; do
      [ ! -e "$entry/export.failed" ] || echo "- - -"
      [ ! -e "$entry/result" ] || sed 's/^passed$/p/; t; s/.*/-/' "$entry/result" | tr '\n' ' '
      echo
    done | awk -v group="$group" '
      NF { entries++; exported += ($1 != "-" || NF < 3); traced += $1 == "p"; eager += $2 == "p"; halide += $3 == "p" }
      END { printf "| %s | %d | %d | %d | %d | %d |\n", group, entries, exported, traced, eager, halide }'
  done
  printf '\nNot passed:\n\n'
  for entry in "$1"/*/; do
    name=$(basename "$entry")
    if [ -e "$entry/export.failed" ]; then
      echo "- $name: torch.export: $(head -1 "$entry/export.failed" | cut -c1-160)"
    elif [ -e "$entry/result" ]; then
      awk -v name="$name" 'BEGIN { split("trace eager halide", step) }
        $0 != "passed" { print "- " name ": " step[NR] ": " $0; exit }' "$entry/result"
    else
      echo "- $name: not judged yet"
    fi
  done
}

exports() {  # DIR
  local entry
  mkdir -p "$1"
  export_all "$1"
  for entry in "$1"/*/; do
    [ ! -e "$entry/net.pt2" ] || [ -e "$entry/result" ] || judge "$1" "$(basename "$entry")"
  done
  print_table "$1"
}
