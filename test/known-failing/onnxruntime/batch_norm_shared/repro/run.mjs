// ONNX Runtime 1.30.0, CPU: BatchNormalization<training_mode=1>(x0, x1, x1, x1, x1) at opset 14 gives 0.8999939,
// expected 1, where x0 = 1, x1 = 1.
//
//   npm install --ignore-scripts onnxruntime-node@1.30.0 && node run.mjs
import ort from 'onnxruntime-node';

const x0 = new ort.Tensor('float32', [1], [1, 1, 1, 1]);
const x1 = new ort.Tensor('float32', [1], [1]);
const session = await ort.InferenceSession.create('model.onnx', { graphOptimizationLevel: 'disabled' });
const y = +(await session.run({ x0, x1 })).y.data[0].toPrecision(7);
console.log(`y: ${y}, expected: 1`);
process.exit(!(Math.abs(y - 1) <= 0.00011) ? 1 : 0);
