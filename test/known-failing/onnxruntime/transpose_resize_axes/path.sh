# needs: explain --list-backends | grep '^onnxruntime ' | grep -vq 'not installed'
minify model.json --backend onnxruntime --accuracy --skip-delta-passes arguments,data -o m.json
repro m.json --note 'The optimizer moves the Transpose behind Resize and puts scales into the other order, but not axes (opset 18), of which the i-th scale is.' \
  --issue ISSUE.md
