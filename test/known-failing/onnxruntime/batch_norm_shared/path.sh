# needs: explain list backends | grep '^onnxruntime ' | grep -vq 'not installed'
minify model_4617.json -o m.json
repro report m.json --note 'The running statistics, which nobody reads here, are written into the buffers of input_mean and input_var before B is read, which is the same tensor.' \
  --anonymize --issue ISSUE.md
