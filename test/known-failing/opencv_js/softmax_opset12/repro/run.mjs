// OpenCV 5.0.0 dnn, CPU: Softmax(Reshape(x, shape=[1, 2, 1])) of float[1, 2] at opset 12 gives 1, expected 0.5.
//
//   npm install @techstark/opencv-js@5.0.0-release.1 && node run.mjs
import fs from 'node:fs';
import opencv from '@techstark/opencv-js';

const cv = opencv instanceof Promise ? await opencv : opencv;
if (!cv.Mat) await new Promise((done) => { cv.onRuntimeInitialized = done; });

cv.FS_createDataFile('/', 'model.onnx', fs.readFileSync('model.onnx'), true, false, false);
const net = cv.readNetFromONNX('/model.onnx');
net.setInput(cv.matFromArray(1, 2, cv.CV_32F, [0, 0]), 'x');
const y = Array.from(net.forward('y').data32F, (v) => +v.toPrecision(7));

const expected = [0.5, 0.5];
console.log(`y: [${y.join(', ')}], expected: [${expected.join(', ')}]`);
process.exit(y.some((a, i) => !(Math.abs(a - expected[i]) <= 6e-05)) ? 1 : 0);
