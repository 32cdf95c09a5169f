# needs: explain list backends | grep '^opencv ' | grep -vq 'not installed'
. "$(dirname "$0")/../../opencv_js/releases.sh"
minify model_5525.json -o m.json
repro report m.json --anonymize "$@" --issue ISSUE.md
