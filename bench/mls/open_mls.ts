/**
 * OpenMLS compiled to WASM, as far as the benchmark uses it. It is loaded by name from the bundle's
 * own `node_modules`.
 */

export interface OpenMlsGroup {
  add(
    keyPackage: Uint8Array,
  ): Record<"proposal" | "commit" | "welcome" | "ratchetTree", Uint8Array>;
  send(payload: Uint8Array): Uint8Array;
  receive(message: Uint8Array): unknown;
}

export interface OpenMlsClient {
  keyPackage(): Uint8Array;
  createGroup(name: string): OpenMlsGroup;
  joinGroup(welcome: Uint8Array, ratchetTree: Uint8Array): OpenMlsGroup;
}

/**
 * In a variable, so that neither the type checker nor the bundler looks for it among the project's
 * own packages.
 */
const packageName = "mls-ts";

export async function loadOpenMls(): Promise<new (identity: string) => OpenMlsClient> {
  return (await import(packageName)).MlsClient;
}
