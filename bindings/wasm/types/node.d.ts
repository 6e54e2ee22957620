// The only function of Node that the package calls.
declare module 'node:fs/promises' {
  export function readFile(path: URL): Promise<Uint8Array>;
}
