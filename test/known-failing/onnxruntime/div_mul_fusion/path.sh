# needs: explain list backends | grep '^onnxruntime ' | grep -vq 'not installed'
minify model.json --backend onnxruntime --accuracy -o m.json
repro report m.json --note '(1 / x) * y becomes y / x, which is not the same of integers, whose quotient is truncated.' \
  --anonymize --issue ISSUE.md
