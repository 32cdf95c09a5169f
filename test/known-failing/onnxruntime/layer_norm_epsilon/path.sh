# needs: explain list backends | grep '^onnxruntime ' | grep -vq 'not installed'
minify model.json --input model.safetensors --backend onnxruntime --accuracy --delta-passes -operands,data -o m.json
repro report m.json --note 'The fusion looks for epsilon only in the second operand of Add and uses 1e-5 if it is not there.' \
  --data real --issue ISSUE.md
