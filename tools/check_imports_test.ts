import { assertEquals } from "@std/assert";
import { checkBrowser, checkCircles, checkImports } from "./check_imports.ts";
import { createSourceFile } from "./source.ts";

/** Rules broken by one line of source at a path. */
function rulesBroken(path: string, text: string): string[] {
  return checkImports(createSourceFile(path, text)).map(({ rule }) => rule);
}

const violations: readonly [rule: string, path: string, text: string][] = [
  ["layer", "proto/wire/cell.ts", 'import { seal } from "../../wasm/mod.ts";'],
  ["layer", "api/app.ts", 'import type { Relay } from "../relay/mod.ts";'],
  ["layer", "relay/core/relay_core.ts", 'export { client } from "../../sdk/mod.ts";'],
  ["layer", "sdk/api/client.ts", 'const relay = await import("../../relay/mod.ts");'],
  ["mod", "api/app.ts", 'import { limits } from "../proto/base/limits.ts";'],
  ["mod", "bench/proto.ts", 'import { encodeEnvelope } from "../proto/wire/envelope.ts";'],
  ["mod", "bench/store.ts", 'import { RecordStore } from "../sdk/store/mod.ts";'],
  ["mod", "cli/main.ts", 'import { World } from "../sdk/mls/testing/world.ts";'],
  ["mod", "bench/http2.ts", 'import { Outbox } from "../server/http2/outbox.ts";'],
  ["direction", "api/domain/keys.ts", 'import { sql } from "../store/sql.ts";'],
  ["direction", "relay/core/limits/rates.ts", 'import { Session } from "../session/session.ts";'],
  ["direction", "relay/core/relay_core.ts", 'import { listen } from "../listeners/quic.ts";'],
  ["direction", "relay/listeners/quic.ts", 'import { toConnectError } from "../grpc/errors.ts";'],
  [
    "direction",
    "relay/grpc/service.ts",
    'import { quicOptions } from "../listeners/quic_options.ts";',
  ],
  [
    "direction",
    "relay/grpc/listener.ts",
    'import { RemoteStream } from "../proxy/remote_stream.ts";',
  ],
  [
    "direction",
    "relay/quota/leased_quota.ts",
    'import { createApiClient } from "../operations/api_client.ts";',
  ],
  ["direction", "relay/operations/metrics.ts", 'import { startRelay } from "../start_relay.ts";'],
  ["layer", "server/http2/frame.ts", 'import { Relay } from "../../relay/mod.ts";'],
  ["direction", "sdk/transport/cells.ts", 'import { Relay } from "../../proto/wire/grpc.ts";'],
  ["direction", "cli/main.ts", 'import { Relay } from "../proto/wire/grpc.ts";'],
  ["direction", "proto/mod.ts", 'export { Relay } from "./wire/descriptors.ts";'],
  ["direction", "api/domain/keys.ts", 'import { createLog } from "../../server/mod.ts";'],
  ["direction", "server/http2/frame.ts", 'import { createLog } from "../log.ts";'],
  ["direction", "server/limits/buckets.ts", 'import { createLog } from "../log.ts";'],
  ["direction", "relay/core/relay_core.ts", 'import { createLog } from "../../server/mod.ts";'],
  ["direction", "sdk/base/errors.ts", 'import { MlsFault } from "../mls/codec.ts";'],
  ["direction", "sdk/store/records.ts", 'import { open } from "../platform/deno.ts";'],
  ["suite", "tests/sdk/session_test.ts", 'import { startRelay } from "../relay/process.ts";'],
  ["suite", "tests/support/stack.ts", 'import { startRelay } from "../relay/process.ts";'],
  ["suite", "server/http2/frame_test.ts", 'import { ping } from "../../tests/http2/wire.ts";'],
  ["suite", "bench/e2e.ts", 'const { startStack } = await import("../tests/sdk/stack.ts");'],
  ["tools", "tools/generate.ts", 'import { createRandom } from "../tests/support/mod.ts";'],
  ["dependency", "sdk/api/client.ts", 'import { createGroup } from "ts-mls";'],
  ["dependency", "sdk/mls/group.ts", 'import type { Extension } from "ts-mls/extension.js";'],
  ["dependency", "sdk/mls/group_test.ts", 'import { createGroup } from "ts-mls";'],
  ["dependency", "relay/grpc/listener.ts", 'import http2 from "node:http2";'],
  ["pure", "proto/wire/cell.ts", 'import { Buffer } from "node:buffer";'],
  ["pure", "relay/core/relay_core.ts", "const now = Date.now();"],
  ["pure", "sdk/api/client.ts", "setTimeout(retry, 100);"],
  ["pure", "api/domain/keys.ts", "const id = crypto.randomUUID();"],
  ["pure", "server/limits/buckets.ts", "const now = Date.now();"],
  ["pure", "server/secret.ts", 'console.log("secret");'],
  ["pure", "proto/base/ids.ts", 'console.log("id");'],
  ["environment", "relay/listeners/quic.ts", 'Deno.env.get("PORT");'],
  ["environment", "api/app.ts", "Deno.exit(1);"],
  ["state", "relay/listeners/quic.ts", "let sessions = 0;"],
  ["state", "relay/listeners/quic.ts", "export let sessions = 0;"],
];

for (const [rule, path, text] of violations) {
  Deno.test(`check_imports reports "${rule}" for ${path}: ${text}`, () => {
    assertEquals(rulesBroken(path, text), [rule]);
  });
}

const accepted: readonly [path: string, text: string][] = [
  ["api/app.ts", 'import { limits } from "../proto/mod.ts";'],
  ["bench/mls.ts", 'import { World } from "../sdk/mls/testing/world.ts";'],
  ["relay/grpc/service.ts", 'import { Relay } from "../../proto/wire/grpc.ts";'],
  ["sdk/transport/frames_test.ts", 'import { Relay } from "../../proto/wire/grpc.ts";'],
  ["api/domain/keys.ts", 'import { Secret } from "../../server/secret.ts";'],
  ["relay/core/relay_core.ts", 'import { Buckets } from "../../server/limits/mod.ts";'],
  ["server/http2/frame.ts", 'import { Bucket } from "../limits/mod.ts";'],
  ["start.ts", 'import { limits } from "./proto/mod.ts";'],
  ["bench/http2.ts", 'import { serve } from "../server/http2/mod.ts";'],
  ["sdk/mls/ts_mls.ts", 'export { createGroup } from "ts-mls";'],
  ["bench/store.ts", 'import { openDirectoryStore } from "../sdk/platform/directory_store.ts";'],
  ["sdk/platform/node.ts", 'import { readFile } from "node:fs/promises";\nconst now = Date.now();'],
  [
    "proto/wire/cell_test.ts",
    'import { createRandom } from "../tests/support/mod.ts";\nconst now = Date.now();',
  ],
  ["tests/sdk/session_test.ts", 'import { startStack } from "../support/stack.ts";'],
  ["tests/sdk/session_test.ts", 'import { sessions } from "./session_suite.ts";'],
  ["tests/support/stack.ts", 'import { startRelay } from "./relay/process.ts";'],
  ["bench/e2e.ts", 'import { startStack } from "../tests/support/stack.ts";'],
  ["tests/sdk/session_test.ts", 'import { createProject } from "../../tools/bundle.ts";'],
  ["tools/junit_test.ts", 'import { createRandom } from "../tests/support/mod.ts";'],
  ["relay/main.ts", 'const port = Deno.env.get("PORT");'],
  ["proto/wire/cell.ts", '// Date.now() is not used here\nconst text = "Deno.env";'],
  ["proto/wire/cell.ts", "function pack(): void {\n  let used = 0;\n}"],
];

for (const [path, text] of accepted) {
  Deno.test(`check_imports accepts ${path}: ${text.split("\n")[0]}`, () => {
    assertEquals(rulesBroken(path, text), []);
  });
}

Deno.test("check_imports names the line of the violation", () => {
  const [violation] = checkImports(
    createSourceFile("proto/wire/cell.ts", "/** Cells. */\n\nconst now = Date.now();\n"),
  );
  assertEquals(violation?.line, 3);
});

/** Circles of a package whose files import these, by path. */
function circlesOf(imports: Readonly<Record<string, readonly string[]>>): string[] {
  const sources = Object.entries(imports).map(([path, specifiers]) =>
    createSourceFile(
      path,
      specifiers.map((specifier) => `import type { X } from "${specifier}";\n`).join(""),
    )
  );
  return checkCircles(sources).map(({ path, line, rule, what }) =>
    `${path}:${line} ${rule} ${what.split(" is ")[0]}`
  );
}

Deno.test("check_imports reports a circle of files once, with one way round and the line of its first import", () => {
  const circle = circlesOf({
    "sdk/mls/commit.ts": ["./codec.ts", "./welcome.ts"],
    "sdk/mls/epoch.ts": ["./commit.ts"],
    "sdk/mls/welcome.ts": ["./epoch.ts"],
  });
  assertEquals(circle, [
    "sdk/mls/commit.ts:2 circle sdk/mls/commit.ts → sdk/mls/welcome.ts → sdk/mls/epoch.ts → sdk/mls/commit.ts",
  ]);
});

Deno.test("check_imports reports folders of a package that import each other, though no file is in a circle", () => {
  const circle = circlesOf({
    "sdk/base/faults.ts": ["../mls/codec.ts"],
    "sdk/mls/identity.ts": ["../base/errors.ts"],
  });
  assertEquals(circle, ["sdk/base/faults.ts:1 circle sdk/base → sdk/mls → sdk/base"]);
});

Deno.test("check_imports reports each of two circles", () => {
  const circles = circlesOf({
    "a/a.ts": ["./b.ts"],
    "a/b.ts": ["./a.ts"],
    "c/c.ts": ["./d.ts"],
    "c/d.ts": ["./c.ts"],
  });
  assertEquals(circles, [
    "a/a.ts:1 circle a/a.ts → a/b.ts → a/a.ts",
    "c/c.ts:1 circle c/c.ts → c/d.ts → c/c.ts",
  ]);
});

Deno.test("check_imports lets two files share a third, and a test import what imports it", () => {
  const circles = circlesOf({
    "sdk/mls/commit.ts": ["./codec.ts", "../base/errors.ts"],
    "sdk/mls/welcome.ts": ["./codec.ts", "./commit.ts"],
    "sdk/base/errors_test.ts": ["../mls/commit.ts", "./errors.ts"],
  });
  assertEquals(circles, []);
});

Deno.test("what a browser loads, directly or not, names neither Deno nor a module of Node", () => {
  const sources = [
    createSourceFile("a/mod.ts", `import { b } from "./b.ts"; // Deno in a comment`),
    createSourceFile("a/b.ts", `import { c } from "./c.ts"; const name = "Deno";`),
    createSourceFile("a/c.ts", `import fs from "node:fs"; Deno.exit();`),
    createSourceFile("a/d.ts", `Deno.exit();`),
  ];
  assertEquals(checkBrowser(sources, ["a/mod.ts"]).map(({ path, rule }) => [path, rule]), [
    ["a/c.ts", "browser"],
    ["a/c.ts", "browser"],
  ]);
});
