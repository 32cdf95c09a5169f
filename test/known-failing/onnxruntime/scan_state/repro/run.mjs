// ONNX Runtime 1.30.0, CPU: Scan<num_scan_inputs=1, body=(x0, x1) -> (x0, Mul(x1, x0))>(x0, x1) of int64[2] x0,
// int64[3, 2] x1 gives other values in each run, expected 1.
//
//   npm install --ignore-scripts onnxruntime-node@1.30.0 && node run.mjs
import ort from 'onnxruntime-node';

const x0 = new ort.Tensor('int64', [1n, 1n], [2]);
const x1 = new ort.Tensor('int64', [1n, 1n, 1n, 1n, 1n, 1n], [3, 2]);
const session = await ort.InferenceSession.create('model.onnx', { graphOptimizationLevel: 'disabled' });
const y = [...(await session.run({ x0, x1 })).y.data];
const expected = [1n, 1n];
const wrong = (v) => v.some((a, i) => a !== expected[i]);
console.log(`y: [${y.join(', ')}], expected: [${expected.join(', ')}]`);
process.exit(wrong(y) ? 1 : 0);
