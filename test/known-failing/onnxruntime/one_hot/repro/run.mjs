// ONNX Runtime 1.30.0, CPU: OneHot(x, depth=[1], values=[0, 1]) of float[1] gives 0, expected 1, where x = 0.25.
//
//   npm install --ignore-scripts onnxruntime-node@1.30.0 && node run.mjs
import ort from 'onnxruntime-node';

const x = new ort.Tensor('float32', [0.25], [1]);
const session = await ort.InferenceSession.create('model.onnx', { graphOptimizationLevel: 'disabled' });
const y = (await session.run({ x })).y.data[0];
console.log(`y: ${y}, expected: 1`);
process.exit(y !== 1n ? 1 : 0);
