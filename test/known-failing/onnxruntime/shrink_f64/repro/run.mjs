// ONNX Runtime 1.30.0, CPU: Shrink(x) of double gives inf, expected 6.696929e+299, at all levels of optimization.
//
//   npm install onnxruntime-node@1.30.0 && node run.mjs
import ort from 'onnxruntime-node';

const x = new ort.Tensor('float64', [6.696928794914171e+299], [1]);
const session = await ort.InferenceSession.create('model.onnx', { graphOptimizationLevel: 'disabled' });
const y = (await session.run({ x })).y.data[0];
console.log('y:', y, 'expected:', 6.696928794914171e+299);
process.exit(!(Math.abs(y - 6.696928794914171e+299) <= 6.696929e+292) ? 1 : 0);
