# needs: explain --list-backends | grep '^opencv ' | grep -vq 'not installed'
. "$(dirname "$0")/../../opencv_js/releases.sh"
minify model.json --backend opencv --accuracy -o m.json
repro m.json --anonymize "$@" --issue ISSUE.md
