# needs: explain --list-backends | grep '^opencv ' | grep -vq 'not installed'
. "$(dirname "$0")/../../opencv_js/releases.sh"
minify model_25310.json -o m.json
repro m.json --data ones "$@" --issue ISSUE.md
