// Call functions of a module, each on memory of its own. Reads {module, calls: [{name, arguments, memory}]} from
// the named file; prints for each call the memory afterwards (base64), or null for a trap.
import { readFileSync } from 'node:fs';

const job = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const module = new WebAssembly.Module(readFileSync(job.module));
const { exports } = new WebAssembly.Instance(module);
const bytes = new Uint8Array(exports.memory.buffer);
const results = job.calls.map(({ name, arguments: given, memory }) => {
  const before = Buffer.from(memory, 'base64');
  bytes.fill(0);
  bytes.set(before);
  const values = given.map(({ type, value }) => (type === 'i64' ? BigInt(value) : Number(value)));
  try {
    exports[name](...values);
  } catch (error) {
    if (!(error instanceof WebAssembly.RuntimeError)) throw error;
    return null;
  }
  return Buffer.from(bytes.subarray(0, before.length)).toString('base64');
});
console.log(JSON.stringify(results));
