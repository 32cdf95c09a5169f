# needs: explain list backends | grep '^opencv ' | grep -vq 'not installed'
. "$(dirname "$0")/../../opencv_js/releases.sh"
minify model_7050.json -o m.json
repro report m.json --note 'The importer ignores dilations.' \
  --anonymize "$@" --issue ISSUE.md
