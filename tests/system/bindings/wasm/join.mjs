// Joins sets of shard files: node join.mjs PACKAGE FOLDER prints, for each folder FOLDER/N, SHA-256 of the original, or
// the code of the error.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync } from 'node:fs';

const [, , path, folder] = process.argv;
const { join, shardIndex } = await import(path);
const results = [];
for (let n = 0; existsSync(`${folder}/${n}`); n++) {
  const names = readdirSync(`${folder}/${n}`).sort();
  const files = names.map((name) => new Uint8Array(readFileSync(`${folder}/${n}/${name}`)));
  try {
    results.push(createHash('sha256').update((await join(files, { indices: names.map(shardIndex) })).bytes).digest('hex'));
  } catch (error) {
    results.push(error.code ?? String(error));
  }
}
console.log(JSON.stringify(results));
