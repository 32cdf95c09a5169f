# needs: explain list backends | grep '^onnxruntime ' | grep -vq 'not installed'
minify model.json --backend onnxruntime --delta-passes -dims,operands -o m.json
repro report m.json --note 'The fused value is also an output of the model (y1). After the fusion no node computes it.' \
  --anonymize --issue ISSUE.md
