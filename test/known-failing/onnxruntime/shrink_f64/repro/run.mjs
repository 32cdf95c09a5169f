// ONNX Runtime 1.30.0, CPU: Shrink(x) of double[1] gives inf, expected 1e+300, where x = 1e+300.
//
//   npm install --ignore-scripts onnxruntime-node@1.30.0 && node run.mjs
import ort from 'onnxruntime-node';

const x = new ort.Tensor('float64', [1e+300], [1]);
const session = await ort.InferenceSession.create('model.onnx', { graphOptimizationLevel: 'disabled' });
const y = (await session.run({ x })).y.data[0];
console.log(`y: ${y}, expected: 1e+300`);
process.exit(!(Math.abs(y - 1e+300) <= 1e+293) ? 1 : 0);
