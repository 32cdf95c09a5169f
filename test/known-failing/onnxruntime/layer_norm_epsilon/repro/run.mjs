// ONNX Runtime 1.30.0, CPU: Add(Mul(Div(sub, Sqrt(Add(1, ReduceMean<axes=[-1]>(Pow(sub, 2))))), 2), 0) with sub =
// Sub(x, ReduceMean<axes=[-1]>(x)) of float[1, 2] gives -1.999997, expected -1.788854, from basic on, by
// LayerNormFusionL1.
// Right with optimization.disable_specified_optimizers = LayerNormFusionL1.
//
//   npm install --ignore-scripts onnxruntime-node@1.30.0 && node run.mjs
import ort from 'onnxruntime-node';

const x = new ort.Tensor('float32', [-4, 0], [1, 2]);
const y = {};
for (const graphOptimizationLevel of ['disabled', 'basic']) {
  const session = await ort.InferenceSession.create('model.onnx', { graphOptimizationLevel });
  y[graphOptimizationLevel] = Array.from((await session.run({ x })).y.data, (v) => +v.toPrecision(7));
}
const expected = [-1.7888544, 1.7888544];
const wrong = (v) => v.some((a, i) => !(Math.abs(a - expected[i]) <= 0.00019));
console.log(`disabled: [${y.disabled.join(', ')}], basic: [${y.basic.join(', ')}], expected: [${expected.join(', ')}]`);
process.exit(wrong(y.disabled) ? 2 : wrong(y.basic) ? 1 : 0);
