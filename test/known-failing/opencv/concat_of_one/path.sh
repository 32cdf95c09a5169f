# needs: explain --list-backends | grep '^opencv ' | grep -vq 'not installed'
. "$(dirname "$0")/../../opencv_js/releases.sh"
minify model_25310.json -o m.json
repro m.json --note 'With fusion on, Concat of one tensor that is the input of the model gives memory that nobody wrote; with enableFusion(false) it is right.' \
  --data ones "$@" --issue ISSUE.md
