# needs: explain --list-backends | grep '^opencv ' | grep -vq 'not installed'
. "$(dirname "$0")/../../opencv_js/releases.sh"
minify model_25310.json -o m.json
repro m.json --note 'Fusion takes Concat away and has the layers before it write into its buffer; where what it reads is the input of the model there is no such layer, and memory that nobody wrote is returned. With enableFusion(false) it is right.' \
  --data ones "$@" --issue ISSUE.md
