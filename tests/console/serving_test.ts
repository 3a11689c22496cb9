// The console's files over HTTP: which headers they have, how browsers keep them, and that they can
// be off.
import { assert, assertEquals, assertGreater, assertLess, assertMatch } from "@std/assert";
import "../support/built_console.ts";
import { anyBackend, startTestApi, type TestApi } from "../support/api/harness.ts";

const maxShellBytes = 60_000;
const files = [
  "console.js",
  "ui.js",
  "shared.js",
  "live.js",
  "worker.js",
  "plot.js",
  "console.css",
  "icon.svg",
];

async function withApi(
  environment: Record<string, string>,
  check: (api: TestApi) => Promise<void>,
): Promise<void> {
  const backend = await anyBackend.open();
  const api = await startTestApi({ ...backend.environment, ...environment });
  try {
    await check(api);
  } finally {
    await api.close();
    await backend.close();
  }
}

/** Deno's `fetch` would unpack what it gets and say so to nobody. */
async function raw(
  api: TestApi,
  path: string,
  headers: Record<string, string>,
): Promise<{ head: string; body: Uint8Array }> {
  const { hostname, port } = new URL(api.url);
  using connection = await Deno.connect({ hostname, port: Number(port) });
  const all = { host: hostname, connection: "close", ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`).join("");
  await connection.write(new TextEncoder().encode(`GET ${path} HTTP/1.1\r\n${lines}\r\n`));
  const bytes = await new Response(connection.readable).bytes();
  const end = bytes.findIndex((_, i) => bytes[i] === 13 && bytes[i + 2] === 13);
  return {
    head: new TextDecoder().decode(bytes.subarray(0, end)).toLowerCase(),
    body: bytes.subarray(end + 4),
  };
}

Deno.test("the console is served with its policy, and / leads to it", async (t) => {
  const relays = { STATIC_RELAY_URL: "quic://relay.example:4433,https://relay.example:5000" };
  await withApi(relays, async (api) => {
    await t.step(
      "every file has the policy of the issue, word for word, and can be framed by nobody",
      async () => {
        const policy =
          "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self'; " +
          "font-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; " +
          "connect-src 'self' https://relay.example:4433 https://relay.example:5000";
        for (
          const path of [
            "/console",
            "/console/keys",
            ...files.map((name) => `/console/assets/${name}`),
          ]
        ) {
          const { status, headers } = await api.call("GET", path);
          assertEquals(status, 200, path);
          assertEquals(headers.get("content-security-policy"), policy, path);
          assertEquals(headers.get("x-frame-options"), "DENY", path);
          assertEquals(headers.get("referrer-policy"), "no-referrer", path);
          assertEquals(headers.get("x-content-type-options"), "nosniff", path);
          assertEquals(headers.get("vary"), "Accept-Encoding, Origin", path);
        }
      },
    );

    await t.step("with an origin too, what a cache keeps is kept apart", async () => {
      const { headers } = await api.call("GET", "/console/assets/ui.js", {
        headers: { origin: "http://localhost:1" },
      });
      assertEquals(headers.get("vary"), "Accept-Encoding, Origin");
    });

    await t.step("a file has a strong ETag for each form, and is not sent again", async () => {
      for (const path of ["/console", ...files.map((name) => `/console/assets/${name}`)]) {
        const plain = await raw(api, path, {});
        const zipped = await raw(api, path, { "accept-encoding": "gzip, br" });
        const [plainTag = "", zippedTag = ""] = [plain, zipped].map(({ head }) =>
          /etag: (\S+)/.exec(head)?.[1]
        );
        assertMatch(plainTag, /^"[0-9a-f]{32}"$/);
        assertEquals(zippedTag, plainTag.replace(/"$/, '-gzip"'));
        assert(
          zipped.head.includes("content-encoding: gzip") &&
            !plain.head.includes("content-encoding"),
          path,
        );
        const unzipped = new Blob([new Uint8Array(zipped.body)]).stream().pipeThrough(
          new DecompressionStream("gzip"),
        );
        assertEquals(await new Response(unzipped).bytes(), new Uint8Array(plain.body), path);
        const again = await raw(api, path, {
          "accept-encoding": "gzip",
          "if-none-match": `"x", ${zippedTag}`,
        });
        assertMatch(again.head, /^http\/1\.1 304 /);
        assertEquals([again.body.length, again.head.includes("content-security-policy")], [
          0,
          true,
        ]);
        assertMatch(
          (await raw(api, path, { "accept-encoding": "gzip;q=0" })).head,
          new RegExp(`etag: ${plainTag}`),
        );
      }
    });

    await t.step("what the first page needs is small", async () => {
      const shell = [
        "/console",
        "/console/assets/console.css",
        ...["ui", "shared", "console"].map((name) => `/console/assets/${name}.js`),
      ];
      const sizes = await Promise.all(
        shell.map(async (path) =>
          (await raw(api, path, { "accept-encoding": "gzip" })).body.length
        ),
      );
      const total = sizes.reduce((sum, size) => sum + size, 0);
      assertLess(total, maxShellBytes, sizes.join(", "));
      const page = await api.call("GET", "/console/assets/console.js");
      assert(!page.text.includes("mls"), "the SDK is loaded with Live only");
    });

    await t.step(
      "/ leads to it, what is not there is 404, and nothing is posted to it",
      async () => {
        const response = await fetch(`${api.url}/`, { redirect: "manual" });
        await response.body?.cancel();
        assertEquals([response.status, response.headers.get("location")], [302, "/console"]);
        for (const path of ["/console/assets/x.js", "/console/assets/..%2f..%2fmod.ts"]) {
          assertEquals((await api.call("GET", path)).status, 404, path);
        }
        // To people a page says it, also to a browser that has one kept.
        for (const path of ["/console/nowhere", "/console/keys/nowhere"]) {
          const known = {
            "if-none-match": (await api.call("GET", path)).headers.get("etag") ?? "",
          };
          const { status, headers, text } = await api.call("GET", path, { headers: known });
          assertEquals(
            [status, headers.get("content-type")],
            [404, "text/html; charset=utf-8"],
            path,
          );
          assert(text.includes("console.js") && headers.has("content-security-policy"), path);
        }
        assertEquals((await api.call("POST", "/console", { body: {} })).status, 405);
        const document = await api.call("GET", "/openapi.json");
        assert(!document.text.includes("/console/assets"));
        assert((await api.call("GET", "/docs")).text.includes('href="/console"'));
      },
    );
  });
});

Deno.test("/docs says what every field, every constraint and every error means", async () => {
  await withApi({}, async (api) => {
    const { text } = await api.call("GET", "/docs");
    const rows = Array.from(
      text.matchAll(/<tr>(<td>.*?)<\/tr>/gs),
      ([, row = ""]) => row.split("<td>").slice(1),
    );
    // The third column may be empty: not every field has a constraint. In the table of errors it is
    // the meaning.
    const isEmpty = (cells: readonly string[], column: number): boolean =>
      cells[column] === "</td>";
    const silent = rows.filter((cells) =>
      isEmpty(cells, 3) || (/^\d/.test(cells[0] ?? "") && isEmpty(cells, 2))
    );
    assertEquals(silent.map(([name]) => name), []);
    assertGreater(rows.length, 200);
    for (const part of ["page.css", "page.js", "icon.svg"]) {
      assert(text.includes(`/docs/${part}`), part);
      assertEquals((await api.call("GET", `/docs/${part}`)).status, 200, part);
    }
  });
});

Deno.test("STATIC_CONSOLE=off leaves no page", async () => {
  await withApi({ STATIC_CONSOLE: "off" }, async (api) => {
    for (const path of ["/", "/console", "/console/keys", "/console/assets/ui.js"]) {
      assertEquals((await api.call("GET", path)).status, 404, path);
    }
    assert(!(await api.call("GET", "/docs")).text.includes('href="/console"'));
    // The page that links lead to stays. It has no script, so it cannot read a link.
    const { status, headers, text } = await api.call("GET", "/console/join");
    assertEquals([status, headers.get("cache-control")], [200, "no-store"]);
    assert(
      !/<script|src=|href=|\son\w+=|https?:\/\//i.test(text) &&
        text.includes("static channel join"),
    );
    assertMatch(
      headers.get("content-security-policy") ?? "",
      /^default-src 'none'; style-src 'unsafe-inline';/,
    );
  });
});

Deno.test("a browser without a session may ask as often as it likes; made-up sessions are limited", async () => {
  await withApi({ STATIC_RATE_FAILURES: "2/60" }, async (api) => {
    const ask = async (headers: Record<string, string>): Promise<number> =>
      (await api.call("GET", "/v1/session", { headers })).status;
    for (let i = 0; i < 5; i++) assertEquals(await ask({}), 401);
    const statuses: number[] = [];
    for (let i = 0; i < 3; i++) {
      statuses.push(await ask({ cookie: `static_session=${"A".repeat(43)}` }));
    }
    assertEquals(statuses, [401, 401, 429]);
  });
});
