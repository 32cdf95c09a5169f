# needs: explain list backends | grep '^onnxruntime ' | grep -vq 'not installed'
minify model.json --input model.safetensors --backend onnxruntime --accuracy --delta-passes -operands,data -o m.json
repro report m.json --note 'The fusion does not check which operand of Sub is the mean.' \
  --data real --issue ISSUE.md
