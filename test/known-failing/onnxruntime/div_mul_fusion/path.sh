# needs: explain list backends | grep '^onnxruntime ' | grep -vq 'not installed'
minify model.json --backend onnxruntime --accuracy -o m.json
repro report m.json --note '(1 / x) * y becomes y / x, which is not equal for integers, because the quotient is truncated.' \
  --anonymize --issue ISSUE.md
