// ONNX Runtime 1.30.0, CPU: Add(Mul(Div(sub, Sqrt(Add(1, ReduceMean<axes=[-1]>(Pow(sub, 2))))), w2), w0) with sub =
// Sub(x, ReduceMean<axes=[-1]>(x)) of float[1, 4] gives -1.414213, expected -1.333333, from basic on, by
// LayerNormFusionL1.
// Right with optimization.disable_specified_optimizers = LayerNormFusionL1.
//
//   npm install onnxruntime-node@1.30.0 && node run.mjs
import ort from 'onnxruntime-node';

const x = new ort.Tensor('float32', [-4, 0, 0, 4], [1, 4]);
const y = {};
for (const graphOptimizationLevel of ['disabled', 'basic']) {
  const session = await ort.InferenceSession.create('model.onnx', { graphOptimizationLevel });
  y[graphOptimizationLevel] = [...(await session.run({ x })).y.data];
}
const expected = [-1.3333334, 1, 0, 3.6666667];
const wrong = (v) => v.some((a, i) => !(Math.abs(a - expected[i]) <= 0.0003766667));
console.log(`disabled: [${y.disabled.join(', ')}], basic: [${y.basic.join(', ')}], expected: [${expected.join(', ')}]`);
process.exit(wrong(y.disabled) ? 2 : wrong(y.basic) ? 1 : 0);
