/** Which runtime this is, for `hello`. */
import process from "node:process";

/** Returns the runtime's name and version, as in "deno 2.9.5". */
export function runtimeName(): string {
  const { deno, node } = process.versions;
  return deno === undefined ? `node ${node}` : `deno ${deno}`;
}
