# Sourced, after common.sh, in the project's root by the scripts that inject the bugs of test/mutants. Keeps a copy of the
# tree, build/mutants/tree, and builds it in its build/dev; the depth is that of the original, so that a compiler cache
# serves both. A mutant is a file: "# what it does", lines "KEY: VALUE", and an edit for sed. The key "file" names the edited
# file, "also" another mutant to inject with it; the scripts use the other keys.
tree=$PWD/build/mutants/tree build=$PWD/build/mutants/tree/build/dev

mutant_file() { echo "test/mutants/$1.mutant"; }
field() { sed -n "s/^$2: //p" "$1"; }
edit() { sed -E '/^(#|[a-z]+: )/d' "$1"; }
mutants_with() { (cd test/mutants && grep -l "^$1: " -- *.mutant | sed 's/\.mutant$//'); }  # in which KEY is given

check_edit() {  # reports a mutant whose edit changes nothing, or which names a missing file
  local file; file=$(field "$1" file)
  local named; for named in $(field "$1" model) $(field "$1" also | sed 's|.*|test/mutants/&.mutant|'); do
    [ -e "$named" ] || { echo "$1: found no $named" >&2; return 1; }
  done
  if ! planted=$(sed "$(edit "$1")" "$file") || [ "$planted" = "$(cat "$file")" ]; then
    echo "$1: its edit changes nothing in $file" >&2; return 1
  fi
}

copy_tree() {  # what differs, so that only it is built
  mkdir -p "$tree"
  git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' path; do
    cmp -s "$path" "$tree/$path" || cp --parents -- "$path" "$tree"
  done
}
plant() {  # NAME
  local mutant other; mutant=$(mutant_file "$1")
  sed -i "$(edit "$mutant")" "$tree/$(field "$mutant" file)"
  for other in $(field "$mutant" also); do plant "$other"; done
}
build_tree() {  # TARGET…
  cmake --build "$build" --target "$@" -j "$(scripts/jobs)" >"$build/log" 2>&1
}
prepare_tree() {  # TARGET…: builds the tree without a bug
  copy_tree
  [ -e "$build/build.ninja" ] || cmake --preset dev -S "$tree" -B "$build" >/dev/null
  build_tree "$@" || { tail -n 40 "$build/log"; fail "the tree does not build"; }
}
