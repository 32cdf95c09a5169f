# needs: explain list backends | grep '^opencv ' | grep -vq 'not installed'
. "$(dirname "$0")/../../opencv_js/releases.sh"
minify model.json --backend opencv --accuracy -o m.json
repro report m.json --note 'log1p(exp(x)) overflows in f32 for x above 88.73, where ln(exp(x) + 1) is x.' \
  --anonymize "$@" --issue ISSUE.md
