// Serves this folder's peer and the installed TensorFlow.js to the browser of the benchmark.
// usage: node serve.mjs FOLDER_OF_NODE_MODULES PORT
import { createServer } from 'node:http';
import { readFile } from 'node:fs/promises';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

const [, , modules, port] = process.argv;
const here = dirname(fileURLToPath(import.meta.url));
const types = { js: 'text/javascript', wasm: 'application/wasm' };

createServer(async (request, response) => {
  const path = normalize(new URL(request.url, 'http://127.0.0.1').pathname);
  const folder = path.startsWith('/@tensorflow/') ? modules : here;
  try {
    const content = await readFile(join(folder, path));
    const type = types[path.split('.').pop()] ?? 'application/octet-stream';
    response.writeHead(200, { 'Content-Type': type, 'Access-Control-Allow-Origin': '*' });
    response.end(content);
  } catch {
    response.writeHead(404, { 'Access-Control-Allow-Origin': '*' }).end();
  }
}).listen(Number(port), '127.0.0.1');
