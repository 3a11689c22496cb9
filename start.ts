/** The whole stack on one machine. It starts what this checkout contains and says plainly what it does not contain yet. */

const parts = [
  { name: "proto", what: "wire contract: envelopes, cells, protobuf conversion, MLS readers", entry: "proto/mod.ts" },
  { name: "api", what: "HTTP API: accounts, keys, tokens, usage", entry: "api/main.ts" },
  { name: "relay", what: "encrypted channels over QUIC, WebTransport and gRPC", entry: "relay/main.ts" },
  { name: "sdk", what: "client library for Deno, Node and browsers", entry: "sdk/mod.ts" },
  { name: "cli", what: "the static command", entry: "cli/main.ts" },
];

async function exists(path: string): Promise<boolean> {
  try {
    return (await Deno.stat(new URL(path, import.meta.url))).isFile;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

console.log("Static: end-to-end encrypted channels for software agents.\n");
for (const { name, what, entry } of parts) {
  console.log(`  ${await exists(entry) ? "present" : "not yet"}  ${name.padEnd(6)} ${what}`);
}
console.log("\nNothing in this checkout listens yet, so there is nothing to start. Run the tests: deno task test");
