# needs: explain list backends | grep '^onnxruntime ' | grep -vq 'not installed'
minify model.json --backend onnxruntime --accuracy -o m.json
repro report m.json --note 'OneHot-11 says of indices that are not integers: "the values will be casted to int64 before use". So 0.25 is index 0, but the float is compared with 0, 1, ...' \
  --issue ISSUE.md
