// Prints the package's results for comparison with the native library:
//
//   node vectors.mjs JOB.json     { package, kernels, data: file, cases: [{code, k, m, length, lost, index}] }
//
// prints, for each case, SHA-256 of the parities, of all shards after the loss of some, and of the
// parities after an update; or the code of the error. Shard j of a case is `data` from byte 64 j +
// j on.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

const job = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const { Codec } = await import(job.package);
const pool = readFileSync(job.data);
const digest = (shards) => shards.reduce((hash, shard) => hash.update(shard), createHash('sha256')).digest('hex');
const results = [];
for (const { code, k, m, length, lost, index } of job.cases) {
  try {
    const codec = await Codec.create({ code, k, m, kernels: job.kernels });
    const data = Array.from({ length: k }, (_, j) => new Uint8Array(pool.subarray(65 * j, 65 * j + length)));
    const parity = codec.encode(data);
    const whole = [...data, ...parity];
    const encoded = digest(parity);
    const rebuilt = digest(codec.reconstruct(whole.map((shard, i) => (lost.includes(i) ? null : shard))));
    const good = codec.check(whole);
    codec.update(index, data[0], parity);
    results.push({ kernels: codec.kernels, encoded, rebuilt, good, updated: digest(parity) });
    codec.free();
  } catch (error) {
    results.push({ error: error.code ?? String(error) });
  }
}
console.log(JSON.stringify(results));
