// OpenCV 5.0.0 dnn, CPU: PRelu(Reshape(x)) gives -0.07470703, expected -0.2724609.
//
//   npm install @techstark/opencv-js@5.0.0-release.1 && node run.mjs
import fs from 'node:fs';
import opencv from '@techstark/opencv-js';

const cv = opencv instanceof Promise ? await opencv : opencv;
if (!cv.Mat) await new Promise((done) => { cv.onRuntimeInitialized = done; });

cv.FS_createDataFile('/', 'model.onnx', fs.readFileSync('model.onnx'), true, false, false);
const net = cv.readNetFromONNX('/model.onnx');
net.setInput(cv.matFromArray(1, 2, cv.CV_32F, [1.53125, -0.28125]), 'x');
const y = [...net.forward('y').data32F];

const expected = [1.53125, -0.27246094];
console.log('y:', y, 'expected:', expected);
process.exit(y.some((a, i) => !(Math.abs(a - expected[i]) <= 0.000163125)) ? 1 : 0);
