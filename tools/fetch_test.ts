import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { installed, runCommand, testWhen, vectors } from "../tests/support/mod.ts";
import { runFetch } from "./fetch.ts";
import type { NatsPackage } from "./fetch/debian_package.ts";
import { Downloader, type DownloadLimits, sha256Of } from "./fetch/download.ts";
import { findFile, placesOf } from "./fetch/places.ts";
import { type PinnedSource, vectorSources } from "./fetch/sources.ts";
import { listFiles } from "./source.ts";

const vector = new TextEncoder().encode('{ "a": 1 }');
const noNats: NatsPackage = { obstacle: "this is a test" };

interface Run {
  readonly code: number;
  readonly printed: readonly string[];
  readonly complaints: readonly string[];
}

interface Desk extends AsyncDisposable {
  readonly folder: string;
  /** Paths that the server was asked for. */
  readonly asked: string[];
  source(name: string, ...paths: readonly string[]): Promise<PinnedSource>;
  /** Runs the command as with these sources. */
  fetch(
    vectors: readonly PinnedSource[],
    options?: { nats?: NatsPackage; limits?: Partial<DownloadLimits> },
  ): Promise<Run>;
  files(): Promise<string[]>;
}

/** A cache and a server on loopback, whose answers stand by path. */
async function createDesk(answers: Readonly<Record<string, () => Response>> = {}): Promise<Desk> {
  const [root, asked]: [string, string[]] = [
    await Deno.makeTempDir({ prefix: "static-fetch-" }),
    [],
  ];
  const folder = `${root}/static`;
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, ({ url }) => {
    const { pathname } = new URL(url);
    asked.push(pathname);
    return answers[pathname]?.() ?? new Response("none", { status: 404 });
  });
  return {
    folder,
    asked,
    source: async (name, ...paths) => {
      const addresses = paths.map((path) =>
        new URL(path, `http://127.0.0.1:${server.addr.port}`).href
      );
      return { name, addresses, sha256: await sha256Of(vector) };
    },
    fetch: async (vectors, { nats = noNats, limits = {} } = {}) => {
      const [printed, complaints]: [string[], string[]] = [[], []];
      const code = await runFetch([], {
        folder,
        vectors,
        nats,
        downloader: new Downloader(limits),
        print: (line) => void printed.push(line),
        complain: (line) => void complaints.push(line),
      });
      return { code, printed, complaints };
    },
    files: async () => await listFiles(root),
    [Symbol.asyncDispose]: async () => {
      await server.shutdown();
      await Deno.remove(root, { recursive: true });
    },
  };
}

/** An address whose connections get these bytes and end. */
function serveRaw(text: string): AsyncDisposable & { readonly address: string } {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const done = (async () => {
    for await (const connection of listener) {
      await connection.read(new Uint8Array(4096));
      await connection.write(new TextEncoder().encode(text));
      connection.close();
    }
  })();
  const close = async (): Promise<void> => {
    listener.close();
    await done;
  };
  return { address: `http://127.0.0.1:${listener.addr.port}/`, [Symbol.asyncDispose]: close };
}

Deno.test("a fetched file is in the cache, and a second run asks for nothing", async () => {
  await using desk = await createDesk({ "/a": () => new Response(vector) });
  const sources = [await desk.source("mls/a.json", "/a")];
  const first = await desk.fetch(sources);
  assertEquals([first.code, first.complaints], [0, []]);
  assertEquals(first.printed[0], "mls/a.json: fetched");
  assertEquals(first.printed.at(-1), `All files are in ${desk.folder}`);
  assertEquals(await Deno.readFile(`${desk.folder}/vectors/mls/a.json`), vector);
  const second = await desk.fetch(sources);
  assertEquals([second.code, second.printed[0]], [0, "mls/a.json: there already"]);
  assertEquals(desk.asked, ["/a"]);
  assertEquals(await desk.files(), ["static/vectors/mls/a.json"]);
});

Deno.test("a file with another sum is refused with both sums, leaves nothing, and keeps no other file away", async () => {
  const other = new TextEncoder().encode("another version");
  await using desk = await createDesk({
    "/a": () => new Response(other),
    "/b": () => new Response(vector),
  });
  const run = await desk.fetch([
    await desk.source("mls/a.json", "/a"),
    await desk.source("mls/b.json", "/b"),
  ]);
  assertEquals(run.code, 1);
  const [complaint = ""] = run.complaints;
  assertMatch(complaint, /^Cannot fetch mls\/a\.json: http:\S+\/a has the SHA-256 /);
  assertStringIncludes(complaint, `${await sha256Of(other)} instead of ${await sha256Of(vector)}`);
  assertStringIncludes(complaint, "report it as an issue");
  assertEquals(run.printed.at(-1), `1 missing; the other files are in ${desk.folder}`);
  assertEquals(await desk.files(), ["static/vectors/mls/b.json"]);
});

Deno.test("a download that breaks off leaves nothing, and the user is told to try again", async () => {
  await using desk = await createDesk();
  for (
    const frame of [
      "content-length: 100\r\n\r\nabc",
      "transfer-encoding: chunked\r\n\r\n3\r\nabc\r\n",
    ]
  ) {
    await using server = serveRaw(`HTTP/1.1 200 OK\r\n${frame}`);
    const run = await desk.fetch([await desk.source("mls/a.json", server.address)]);
    assertEquals(run.code, 1);
    assertMatch(
      run.complaints.join(),
      /broke off after 3 bytes \(.+\)\. Run deno task fetch again/,
    );
  }
  assertEquals(await desk.files(), []);
});

Deno.test("a file is given up at the byte that is too many, without a wait for its end", async () => {
  const unended = (): ReadableStream =>
    new ReadableStream({ start: (to) => to.enqueue(new Uint8Array(5001)) });
  await using desk = await createDesk({ "/a": () => new Response(unended()) });
  const run = await desk.fetch([await desk.source("mls/a.json", "/a")], {
    limits: { maxBytes: 5000 },
  });
  assertEquals(run.code, 1);
  assertMatch(run.complaints.join(), /\/a has more than 5000 bytes\. Nothing of it was kept/);
  assertEquals(await desk.files(), []);
});

Deno.test("a server that is silent is given up after the time limit", async () => {
  const { promise: never, resolve } = Promise.withResolvers<void>();
  const silent = (): Response => new Response(new ReadableStream({ pull: () => never }));
  await using desk = await createDesk({ "/a": silent });
  const run = await desk.fetch([await desk.source("mls/a.json", "/a")], {
    limits: { timeoutMs: 200 },
  });
  resolve();
  assertEquals(run.code, 1);
  assertMatch(run.complaints.join(), /\/a took more than 0\.2 s\. Run deno task fetch again/);
  assertEquals(await desk.files(), []);
});

Deno.test("a server that is down is asked once, and every file that it should have is named", async () => {
  await using desk = await createDesk();
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const down = `http://127.0.0.1:${listener.addr.port}/`;
  listener.close();
  const run = await desk.fetch([
    await desk.source("mls/a.json", down),
    await desk.source("mls/b.json", down),
  ]);
  assertEquals(run.code, 1);
  assertMatch(
    run.complaints[0] ?? "",
    /^Cannot fetch mls\/a\.json: .+ cannot be reached \(.*refused.*\)\. Is this/i,
  );
  assertMatch(
    run.complaints[1] ?? "",
    /^Cannot fetch mls\/b\.json: .+ cannot be reached, as before\. Is this/,
  );
  assertEquals(await desk.files(), []);
});

Deno.test("the next address is asked when one fails, and all are named when none has the file", async () => {
  await using desk = await createDesk({ "/b": () => new Response(vector) });
  const sources = [
    await desk.source("mls/a.json", "/a", "/b"),
    await desk.source("mls/c.json", "/c", "/d"),
  ];
  const run = await desk.fetch(sources);
  assertEquals([run.code, run.printed[0]], [1, "mls/a.json: fetched"]);
  assertMatch(
    run.complaints.join(),
    /c\.json: \S+\/c answered 404; \S+\/d answered 404\. Nothing of it/,
  );
  assertEquals(desk.asked, ["/a", "/b", "/c", "/d"]);
});

Deno.test("a few redirects are followed, and none away from https", async () => {
  const to = (location: string) => (): Response =>
    new Response(null, { status: 302, headers: { location } });
  await using desk = await createDesk({
    "/a": to("/b"),
    "/b": () => new Response(vector),
    "/circle": to("/circle"),
    "/plain": to("http://192.0.2.1/a"),
    "/nowhere": to("http://"),
  });
  const names = ["a", "circle", "plain", "nowhere"];
  const run = await desk.fetch(
    await Promise.all(names.map((name) => desk.source(name, `/${name}`))),
  );
  assertEquals(run.printed[0], "a: fetched");
  const [circle = "", plain = "", nowhere = ""] = run.complaints;
  assertStringIncludes(circle, "redirects more than 5 times");
  assertStringIncludes(plain, "leads to http://192.0.2.1, which is not https");
  assertStringIncludes(nowhere, "answered 302");
  assertEquals(desk.asked.filter((path) => path === "/circle").length, 6);
});

Deno.test("plain http is refused before anything is sent", async () => {
  await using desk = await createDesk();
  const run = await desk.fetch([await desk.source("mls/a.json", "http://192.0.2.1/a")]);
  assertMatch(run.complaints.join(), /leads to http:\/\/192\.0\.2\.1, which is not https/);
});

Deno.test("a damaged file in the cache is replaced, or removed when nobody has a better one", async () => {
  await using desk = await createDesk({ "/a": () => new Response(vector) });
  await Deno.mkdir(`${desk.folder}/vectors/mls`, { recursive: true });
  for (const name of ["a", "b"]) {
    await Deno.writeTextFile(`${desk.folder}/vectors/mls/${name}.json`, "half of");
  }
  const run = await desk.fetch([
    await desk.source("mls/a.json", "/a"),
    await desk.source("mls/b.json", "/b"),
  ]);
  assertEquals([run.code, run.printed[0], run.complaints.length], [1, "mls/a.json: fetched", 1]);
  assertEquals(await desk.files(), ["static/vectors/mls/a.json"]);
});

Deno.test("a cache that cannot be written is an error that names the way out", async () => {
  await using desk = await createDesk({ "/a": () => new Response(vector) });
  await Deno.writeTextFile(desk.folder, "a file where the folder should be");
  const run = await desk.fetch([await desk.source("mls/a.json", "/a")]);
  assertEquals(run.code, 1);
  assertMatch(run.complaints.join(), /^Cannot keep .+a\.json: .+XDG_CACHE_HOME\.$/);
});

testWhen(installed("dpkg-deb"), "nats-server is unpacked beside its package, once", async () => {
  const root = await Deno.makeTempDir({ prefix: "static-package-" });
  try {
    const program = "#!/bin/sh\necho nats-server: v2.15.1\n";
    for (const folder of ["DEBIAN", "usr/sbin"]) {
      await Deno.mkdir(`${root}/tree/${folder}`, { recursive: true });
    }
    const control = [
      "Package: nats-server",
      "Version: 1",
      "Architecture: all",
      "Maintainer: a",
      "Description: b",
      "",
    ];
    await Deno.writeTextFile(`${root}/tree/DEBIAN/control`, control.join("\n"));
    await Deno.writeTextFile(`${root}/tree/usr/sbin/nats-server`, program, { mode: 0o755 });
    await runCommand("dpkg-deb", ["--build", `${root}/tree`, `${root}/package.deb`]);
    const content = await Deno.readFile(`${root}/package.deb`);
    const broken = new TextEncoder().encode("no package");

    await using desk = await createDesk({
      "/a": () => new Response(content),
      "/b": () => new Response(broken),
    });
    const nats = {
      ...await desk.source("nats-server_1.deb", "/a"),
      sha256: await sha256Of(content),
    };
    const path = `${desk.folder}/peers/nats-server_1/usr/sbin/nats-server`;
    for (const outcome of ["fetched", "there already"]) {
      const run = await desk.fetch([], { nats });
      assertEquals([run.code, run.printed[0]], [
        0,
        `nats-server_1.deb: ${outcome}, the program is ${path}`,
      ]);
    }
    assertEquals(await runCommand(path, []), "nats-server: v2.15.1\n");
    const files = ["nats-server_1.deb", "nats-server_1/usr/sbin/nats-server"].map((name) =>
      `static/peers/${name}`
    );
    assertEquals(await desk.files(), files);

    const bad = { ...await desk.source("nats-server_2.deb", "/b"), sha256: await sha256Of(broken) };
    const run = await desk.fetch([], { nats: bad });
    assertEquals(run.code, 1);
    assertMatch(run.complaints.join(), /^Cannot unpack .+nats-server_2\.deb: dpkg-deb says ".+"$/);
    const left = (await Array.fromAsync(Deno.readDir(`${desk.folder}/peers`))).map(({ name }) =>
      name
    ).sort();
    assertEquals(left, ["nats-server_1", "nats-server_1.deb", "nats-server_2.deb"]);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});

Deno.test("a machine that cannot use Debian's package is told why, and all else is fetched", async () => {
  await using desk = await createDesk({ "/a": () => new Response(vector) });
  const run = await desk.fetch([await desk.source("mls/a.json", "/a")]);
  assertEquals([run.code, run.complaints], [0, []]);
  assertMatch(
    run.printed[1] ?? "",
    /^nats-server: not fetched, this is a test\. Install .+STATIC_NATS_SERVER\.$/,
  );
});

/** The command as a process without a network. `XDG_CACHE_HOME` is a folder of its own. */
async function runProcess(cache: string, ...args: readonly string[]): Promise<Deno.CommandOutput> {
  const flags = ["run", "--no-check", "--no-prompt", "-R", "-W", "--allow-env=HOME,XDG_CACHE_HOME"];
  return await new Deno.Command(Deno.execPath(), {
    args: [...flags, `${import.meta.dirname}/fetch.ts`, ...args],
    env: { XDG_CACHE_HOME: cache },
    stdin: "null",
  }).output();
}

Deno.test("the command explains itself, and its exit code says whether something is missing", async () => {
  const cache = await Deno.makeTempDir({ prefix: "static-cache-" });
  const decoder = new TextDecoder();
  try {
    const help = await runProcess(cache, "--help");
    assertEquals(help.code, 0);
    assertMatch(
      decoder.decode(help.stdout),
      /^Usage: deno task fetch\n[^]+SHA-256[^]+~\/\.cache\/static/,
    );
    const wrong = await runProcess(cache, "--all");
    assertEquals(wrong.code, 1);
    assertStringIncludes(
      decoder.decode(wrong.stderr),
      "takes no argument --all. See deno task fetch --help",
    );
    const offline = await runProcess(cache);
    assertEquals(offline.code, 1);
    for (const { name } of vectorSources) {
      assertStringIncludes(decoder.decode(offline.stderr), `Cannot fetch ${name}: `);
    }
    assertStringIncludes(
      decoder.decode(offline.stdout),
      `${vectorSources.length} missing; the other files are in`,
    );
  } finally {
    await Deno.remove(cache, { recursive: true });
  }
});

const allVectors = vectorSources.map(({ name }) => vectors(name)).find(({ met }) => !met) ??
  { met: true, reason: "" };

testWhen(
  allVectors,
  "vectors that tests read on this machine have the sums of the table",
  async () => {
    const cache = await Deno.makeTempDir({ prefix: "static-cache-" });
    try {
      for (const { name } of vectorSources) {
        const [path, from] = [
          `${cache}/static/vectors/${name}`,
          findFile(name, placesOf("vectors")),
        ];
        await Deno.mkdir(path.slice(0, path.lastIndexOf("/")), { recursive: true });
        assert(from !== undefined);
        await Deno.copyFile(from, path);
        await Deno.chmod(path, 0o644);
      }
      const { code, stdout } = await runProcess(cache);
      const lines = new TextDecoder().decode(stdout).split("\n");
      assertEquals(code, 0);
      for (const { name } of vectorSources) assert(lines.includes(`${name}: there already`), name);
    } finally {
      await Deno.remove(cache, { recursive: true });
    }
  },
);
