// ONNX Runtime 1.30.0, CPU: MaxUnpool(x0, x1) gives 1, expected 0, at all levels of optimization.
//
//   npm install onnxruntime-node@1.30.0 && node run.mjs
import ort from 'onnxruntime-node';

const x0 = new ort.Tensor('float32', [1, 1, 1, 1], [1, 1, 2, 2]);
const x1 = new ort.Tensor('int64', [5n, 5n, 5n, 5n], [1, 1, 2, 2]);
const session = await ort.InferenceSession.create('model.onnx', { graphOptimizationLevel: 'disabled' });
const y = (await session.run({ x0, x1 })).y.data[5];
console.log('y:', y, 'expected:', 0);
process.exit(!(Math.abs(y - 0) <= 1e-05) ? 1 : 0);
