# needs: explain list backends | grep '^onnxruntime ' | grep -vq 'not installed'
minify model.json --backend onnxruntime --accuracy -o m.json
repro report m.json --title "TransposeOptimizer ignores the axes of Pad (opset 18): its Gather of pads is out of bounds" \
  --note 'TransposeOptimizer moves the Transpose behind Pad and reorders pads by a Gather that it inserts. Since opset 18, pads has two numbers for each of axes, not for each dimension.' \
  --issue ISSUE.md
