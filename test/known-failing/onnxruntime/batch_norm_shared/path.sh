# needs: explain list backends | grep '^onnxruntime ' | grep -vq 'not installed'
minify model_4617.json -o m.json
repro report m.json --note 'The running statistics, which this model does not use, are written into the buffers of input_mean and input_var. B is the same tensor and is read after that.' \
  --anonymize --issue ISSUE.md
