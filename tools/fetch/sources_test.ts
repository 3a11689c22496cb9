import { assert, assertEquals, assertMatch } from "@std/assert";
import { natsSource, vectorSources } from "./sources.ts";

const nats = (["x86_64", "aarch64"] as const).map((arch) => natsSource({ os: "linux", arch }));

Deno.test("every source has a sum and addresses over https that cannot change their content", () => {
  const names = new Set<string>();
  for (const source of [...vectorSources, ...nats]) {
    assert(source !== undefined && !names.has(source.name));
    names.add(source.name);
    assertMatch(source.sha256, /^[0-9a-f]{64}$/);
    // A revision, a version of Debian, or the content itself.
    for (const address of source.addresses) {
      assertMatch(address, /^https:\/\/[^/]+\/.*(\/[0-9a-f]{40}(\/|$)|_\d[\d.]+-\d+_\w+\.deb$)/);
    }
  }
});

Deno.test("nats-server comes from the pool and then from the snapshot archive, for the machine's architecture", () => {
  assertEquals(nats.map((source) => /_(\w+)\.deb$/.exec(source?.name ?? "")?.[1]), [
    "amd64",
    "arm64",
  ]);
  for (const source of nats) {
    const [pool = "", snapshot = ""] = source?.addresses ?? [];
    assert(pool.endsWith(`/pool/main/n/nats-server/${source?.name}`), pool);
    assertMatch(snapshot, /^https:\/\/snapshot\.[^/]+\/file\/[0-9a-f]{40}$/);
  }
  assertEquals(natsSource({ os: "darwin", arch: "aarch64" }), undefined);
});
