/**
 * The SDK for commands that hold their agent themselves. Deno reads everything behind an `import()`
 * of a literal before the program begins; behind a name it looks when somebody asks. The whole SDK
 * would cost more time than `static channel send` has.
 */

const sdkModule = "../sdk/mod.ts";

export async function loadSdk(): Promise<typeof import("../sdk/mod.ts")> {
  return await import(sdkModule);
}
