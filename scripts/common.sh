# Sourced by the other scripts of this folder: what they share.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
script=$(basename "$0")

fail() {  # MESSAGE [STATUS]
  echo "$script: error: $1" >&2
  exit "${2:-2}"
}

# Prints what --help prints: the comment at the head of a script.
described=$(realpath "$0")
print_help() { sed -n '/^#!/d; /^#/!q; s/^# \{0,1\}//p' "$described"; }

# Makes a folder, $scratch, that goes when the script ends.
new_scratch() {
  scratch=$(mktemp -d)
  trap 'rm -rf --one-file-system "$scratch"' EXIT  # not what is mounted in it
}

# Prints the build folder: WHITTLE_BUILD, or that of a preset.
build_folder() { realpath -m "${WHITTLE_BUILD:-$root/build/$1}"; }

# Builds targets in build/release, unless WHITTLE_BUILD names a build folder that has them. Sets $build.
build_release() {
  build=$(build_folder release)
  [ -z "${WHITTLE_BUILD-}" ] || return 0
  (cd "$root" && cmake --preset release -DWHITTLE_TESTS=ON &&
    cmake --build --preset release --target "$@" -j "$(scripts/jobs)") >&2
}

# options "NAME -X NAME= NAME+= … WORD" ARGUMENT…: sets the variable NAME for each option --NAME among the arguments, to 1 or, for
# NAME=, to the next argument; NAME+= is an array that gets each of them ('-' in NAME is '_' in the variable). -X is the short
# name of the option behind it. `words` gets the other arguments: where the names end with a WORD, which says what these are,
# there may be some; with "+" among the names the first of them ends the options.
options() {
  local known=" $1 " expected name
  expected=$(printf -- '--%s, ' $1 | sed -E 's/--\+, //; s/\+?=,/,/g; s/--(-.|[A-Z])/\1/g')
  shift
  words=()
  while [ $# -gt 0 ]; do
    name=${1#--}
    if [[ $1 == -[!-] && $known == *" $1 "* ]]; then name=${known#*" $1 "} name=${name%%[+= ]*}; fi
    if [[ $1 == -h || $1 == --help ]]; then
      print_help
      exit
    elif [[ $1 == -?* && $known =~ \ "$name"(\+?)=\  ]]; then
      [ $# -gt 1 ] || fail "$1 expects a value"
      if [ -n "${BASH_REMATCH[1]}" ]; then eval "${name//-/_}+=(\"\$2\")"; else printf -v "${name//-/_}" %s "$2"; fi
      shift
    elif [[ $1 == -?* && $known == *" $name "* ]]; then
      printf -v "${name//-/_}" 1
    elif [[ $1 == -?* || $known != *" "[[:upper:]]* ]]; then
      fail "found '$1', expected ${expected%, }"
    elif [[ $known == *" + "* ]]; then
      words=("$@")
      break
    else
      words+=("$1")
    fi
    shift
  done
}
