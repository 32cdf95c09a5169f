# needs: explain --list-backends | grep '^onnxruntime ' | grep -vq 'not installed'
minify model_4599.json -o m.json
repro m.json --note 'The function body of the op in onnx/onnx adds a float constant to a tensor of any type (onnx/onnx#5753); this model is of float16.' \
  --anonymize --issue ISSUE.md
