// Runs the files of deploy/ as far as a machine without systemd's daemon can: the very commands,
// with the very permissions and variables. Images are in images_test.ts.
import { assert, assertEquals, assertMatch } from "@std/assert";
import { readConfig as readApiConfig } from "../../api/config.ts";
import { relayMemory } from "../../deploy/local/commands.ts";
import { readConfig as readRelayConfig } from "../../relay/config.ts";
import { runNpmScript } from "../../tools/npm.ts";
import { anyBackend } from "../support/api/harness.ts";
import { createCertificate, installed, runCommand, testWhen } from "../support/mod.ts";
import { composedFor, imageOf, parts, read, repository, unitOf, variablesIn } from "./deployed.ts";

/** Without the look at the names of variables, which comes first. */
const tasks: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries<string>(JSON.parse(read("deno.json")).tasks).map((
    [name, task],
  ) => [name, task.replace(/^deno run \S+ \S+ deploy\/local\/names\/main\.ts && /, "")]),
);

testWhen(
  installed("systemd-analyze"),
  "the units are accepted by systemd, and little is exposed",
  async () => {
    const folder = await Deno.makeTempDir({ prefix: "static-units-" });
    for (const part of parts) {
      const path = `${folder}/static-${part}.service`;
      await Deno.writeTextFile(
        path,
        read(`deploy/static-${part}.service`).replace("/usr/local/bin/deno", Deno.execPath()),
      );
      assertEquals(await runCommand("systemd-analyze", ["verify", path]), "");
      await runCommand("systemd-analyze", [
        "security",
        "--offline=true",
        "--threshold=20",
        "--no-pager",
        path,
      ]);
    }
    await Deno.remove(folder, { recursive: true });
  },
);

Deno.test("systemd starts a part again after every end, however often and however soon", () => {
  for (const part of parts) {
    const [, unit = "", service = ""] =
      /^\[Unit\]\n([^]*)\[Service\]\n([^]*)/.exec(read(`deploy/static-${part}.service`)) ?? [];
    // By default it gives up after five starts in ten seconds.
    assertMatch(unit, /^StartLimitIntervalSec=0$/m, part);
    assertMatch(service, /^Restart=always$/m, part);
  }
});

Deno.test("units and images run the entry of the part's task, with no permission that the task lacks", () => {
  for (const part of parts) {
    const entry = tasks[part]?.split(" ").at(-1);
    for (const args of [unitOf(part).args, imageOf(part).args]) {
      assertEquals(args.at(-1), entry);
      assert(
        args.includes("--allow-env"),
        "only then a part can refuse a variable that is misspelt",
      );
      const granted = args.filter((arg) => arg.startsWith("--allow-")).map((arg) =>
        arg.replace(/=.*/, "")
      );
      assertEquals(granted.filter((flag) => !tasks[part]?.includes(flag)), []);
    }
  }
});

Deno.test("every way to start a relay keeps its memory small under a flood", () => {
  const variables = Object.entries(relayMemory).map(([name, value]) => `${name}=${value}`);
  for (const text of [read("deploy/static-relay.service"), read("deploy/Dockerfile.relay")]) {
    assert(text.includes(variables.join(" ")), text);
  }
  for (const each of variables) assert(read("docs/operations.md").includes(`\`${each}\``), each);
});

Deno.test("the relay's task sets V8's flags, and leaves those that its operator has set", async () => {
  const folder = await Deno.makeTempDir({ prefix: "static-task-" });
  try {
    const task = tasks.relay?.replace(/ deno run .*$/, " printenv DENO_V8_FLAGS");
    await Deno.writeTextFile(`${folder}/deno.json`, JSON.stringify({ tasks: { relay: task } }));
    const flagsWith = async (env: Record<string, string>): Promise<string> =>
      (await runCommand(Deno.execPath(), ["task", "--quiet", "relay"], { cwd: folder, env }))
        .trim();
    if (Deno.env.get("DENO_V8_FLAGS") === undefined) {
      assertEquals(await flagsWith({}), relayMemory.DENO_V8_FLAGS);
    }
    const own = "--max-semi-space-size=32,--stack-size=900";
    assertEquals(await flagsWith({ DENO_V8_FLAGS: own }), own);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("the tasks of API and relay let them read the files that variables name, and tell no key that is no file", async () => {
  const folder = await Deno.makeTempDir({ prefix: "static task, " });
  try {
    await Deno.writeTextFile(`${folder}/key`, "");
    const readable = async (part: string, env: Record<string, string>): Promise<string> => {
      const shown = tasks[part]?.replace(/ deno run (--no-prompt --allow-net .*)$/, " echo $1") ??
        "";
      const text = await runCommand(Deno.execPath(), ["task", "--quiet", "--eval", shown], {
        cwd: repository,
        env,
      });
      return / --allow-read=(.*) --allow-write=/.exec(text)?.[1] ?? "";
    };
    const named = {
      api: ["STATIC_TLS_KEY", "STATIC_JWT_KEYS"],
      relay: ["STATIC_TLS_KEY", "STATIC_NATS_CREDENTIALS"],
    };
    for (const [part, variables] of Object.entries(named)) {
      for (const name of variables) {
        const given = { STATIC_DATA_DIR: `${folder}/data`, STATIC_TLS_CERT: "" };
        const files = await readable(part, { ...given, [name]: `${folder}/key` });
        for (const file of ["data", "key"]) {
          assert(files.includes(`${folder}/${file}`.replaceAll(",", ",,")), files);
        }
        for (
          const key of [
            "Y2FuYXJ5/LWluLWJhc2U2NA==",
            "-----BEGIN PRIVATE KEY-----\nY2FuYXJ5\n-----END",
          ]
        ) {
          const files = await readable(part, { ...given, [name]: key });
          assert(files.includes("/data") && !files.includes("Y2FuYXJ5"), files);
        }
      }
      const secret = { STATIC_RELAY_SECRET: `file:${folder}/key` };
      assert((await readable(part, secret)).includes(`${folder}/key`.replaceAll(",", ",,")), part);
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("images are built on the Deno that the README names, from files that exist", () => {
  const version = /deno@([\d.]+)/.exec(read("README.md"))?.[1];
  for (const part of parts) {
    const { from, copies, builds } = imageOf(part);
    assertEquals(from, `denoland/deno:${version}`);
    assertEquals(builds, part === "api" ? [["task", "build"]] : []);
    for (const path of copies) {
      assert(path === "dist/console" || Deno.statSync(repository + path), path);
    }
  }
});

Deno.test("alert rules and dashboard name metrics that the parts serve", () => {
  // Tests of both pages compare their lists with what is served.
  const served = new Set(
    Array.from(
      (read("docs/operations.md") + read("docs/cluster.md") + read("docs/http_api.md")).matchAll(
        /`(static_(?:api|relay)_\w+)`/g,
      ),
      ([, name]) => name,
    ),
  );
  for (
    const file of [
      "deploy/prometheus/alerts.yml",
      "deploy/prometheus/alerts_test.yml",
      "deploy/grafana/dashboard.json",
    ]
  ) {
    const named = Array.from(
      read(file).matchAll(/\bstatic_(?:api|relay)_\w+/g),
      ([name]) => name.replace(/_bucket$/, ""),
    );
    assert(named.length > 10, file);
    assertEquals([...new Set(named)].filter((name) => !served.has(name)), [], file);
  }
  const { panels }: { panels: { type: string; targets?: unknown[] }[] } = JSON.parse(
    read("deploy/grafana/dashboard.json"),
  );
  assert(panels.every(({ type, targets = [] }) => type === "row" || targets.length > 0));
});

testWhen(
  installed("promtool"),
  "promtool accepts configuration and alert rules, and each rule fires in its test",
  async () => {
    const folder = `${repository}deploy/prometheus`;
    await runCommand("promtool", ["check", "config", `${folder}/prometheus.yml`]);
    assertMatch(
      await runCommand("promtool", ["test", "rules", `${folder}/alerts_test.yml`]),
      /SUCCESS/,
    );
    const rules = Array.from(
      read("deploy/prometheus/alerts.yml").matchAll(/alert: (\w+)/g),
      ([, name = ""]) => name,
    );
    const expected = Array.from(
      read("deploy/prometheus/alerts_test.yml").matchAll(/alertname: (\w+)\s+exp_alerts:(.*)/g),
      ([, name, alerts = ""]) => ({ name, fires: !alerts.includes("[]") }),
    );
    for (const fires of [true, false]) {
      const tested = expected.filter((one) => one.fires === fires).map(({ name }) => name);
      assertEquals(rules.filter((name) => !tested.includes(name)), [], `fires: ${fires}`);
    }
  },
);

Deno.test("the compose file keeps the specification's schema, and a wrong one does not", async () => {
  const text = read("deploy/compose.yaml");
  const faultsOf = async (text: string): Promise<readonly string[]> => {
    const input = new TextEncoder().encode(text);
    const output = await runNpmScript("validate_compose.ts", { input });
    return JSON.parse(new TextDecoder().decode(output)).faults;
  };
  assertEquals(await faultsOf(text), []);
  const [fault = ""] = await faultsOf(text.replace("group_add:", "group_adds:"));
  assertMatch(fault, /group_adds/);
});

Deno.test("the compose file's parts have a root that is read-only, no capabilities, the key's group and health", () => {
  const text = read("deploy/compose.yaml");
  for (const part of ["api", "relay"]) {
    const [, service = ""] = new RegExp(`\\n {2}${part}:\\n([^]*?)\\n {2}\\w`).exec(text) ?? [];
    for (const line of ["read_only: true", "cap_drop: [ALL]", "no-new-privileges:true"]) {
      assert(service.includes(line), `${part}: ${line}`);
    }
    assertEquals(service.includes('group_add: ["${TLS_GROUP:?}"]'), part === "relay");
    assert(imageOf(part).healthCheck.length > 0, "compose asks the image's check");
  }
});

Deno.test("the compose file builds our images, mounts files that exist and sets variables that the parts know", () => {
  const text = read("deploy/compose.yaml");
  for (const [, path = ""] of text.matchAll(/dockerfile: ([\w./]+)/g)) {
    assert(Deno.statSync(repository + path), path);
  }
  for (const [, path = ""] of text.matchAll(/["\s]\.\/((?:prometheus|grafana)[\w./]*)/g)) {
    assert(Deno.statSync(`${repository}deploy/${path}`), path);
  }
  const known = read("docs/configuration.md");
  const set = Array.from(
    text.matchAll(/^ {6}(STATIC_\w+|DATABASE_URL):/gm),
    ([, name = ""]) => name,
  );
  assert(set.length > 10);
  assertEquals(set.filter((name) => !known.includes(`\`${name}\``)), []);
  const asked = Array.from(text.matchAll(/\$\{(\w+)/g), ([, name = ""]) => name);
  const given = Object.keys(variablesIn(read("deploy/compose.env")));
  assertEquals([...new Set(asked)].sort(), given.sort());
  const [, relay = ""] = /\n {2}relay:\n([^]*?)\n {2}\w/.exec(text) ?? [];
  assert(!relay.includes("DATABASE_URL"), "the relay does not know the database");
  const scraped = Array.from(
    read("deploy/prometheus/prometheus.yml").matchAll(/"(\w+):\d+"/g),
    ([, name = ""]) => name,
  );
  assertEquals(scraped.map((name) => composedFor(name)["STATIC_ADMIN_NAMES"]), scraped);
});

Deno.test("every variable that a proxy or balancer needs is in the files of deploy/, with a value that its part takes", () => {
  const [, part = ""] = read("docs/deploy.md").split("\n## The API behind a reverse proxy\n");
  const [page = ""] = part.split("\n## The stand-alone proxy\n");
  const needed = new Set(Array.from(page.matchAll(/`(STATIC_\w+)[`=]/g), ([, name = ""]) => name));
  // Its port is published under another number, or is the unit's own choice.
  needed.delete("STATIC_RELAY_GRPC_PORT");
  const settings = (text: string): Record<string, string> =>
    variablesIn(text.replaceAll(/^# (?=\w+=)/gm, ""));
  const ofUnits = { ...settings(read("deploy/api.env")), ...settings(read("deploy/relay.env")) };
  const ofImages = Object.assign(
    {},
    ...["api", "relay"].map((part) => ({ ...imageOf(part).variables, ...composedFor(part) })),
  );
  for (const given of [ofUnits, ofImages]) {
    assertEquals([...needed].filter((name) => !(name in given)), []);
  }
  for (const given of [ofUnits, ofImages]) {
    const variable = (name: string): string | undefined =>
      needed.has(name) ? given[name] : undefined;
    assertEquals(readApiConfig(variable).trustedHeader, "X-Forwarded-For");
    assertEquals(readRelayConfig(variable).balancers.length, given === ofUnits ? 1 : 0);
  }
});

Deno.test("the parts run as their units say, and stop with code 0 when asked", async (t) => {
  await using stage = await openStage();
  for (const part of parts) {
    await t.step(`unit of the ${part}`, async () => {
      const { args, variables } = unitOf(part);
      await serve(stage.place(args), stage.environment(part, variables), repository);
    });
  }
});

/** The folders that a machine would have, with a certificate and a database. */
interface Stage extends AsyncDisposable {
  place(args: readonly string[]): string[];
  environment(part: string, variables: Readonly<Record<string, string>>): Record<string, string>;
}

async function openStage(): Promise<Stage> {
  await using opened = new AsyncDisposableStack();
  const folder = await Deno.makeTempDir({ prefix: "static-deploy-" });
  opened.defer(() => Deno.remove(folder, { recursive: true }));
  const backend = await anyBackend.open();
  opened.defer(() => backend.close());
  await Deno.mkdir(`${folder}/etc/tls`, { recursive: true });
  const { cert, key } = await createCertificate();
  await Deno.writeTextFile(`${folder}/etc/tls/cert.pem`, cert);
  await Deno.writeTextFile(`${folder}/etc/tls/key.pem`, key);
  await Deno.writeTextFile(`${folder}/etc/database_ca.pem`, cert);
  const place = (text: string): string =>
    text.replaceAll(/\/var\/lib\/static-(\w+)/g, `${folder}/$1`)
      .replaceAll("/etc/static", `${folder}/etc`)
      .replaceAll("/opt/static", repository.slice(0, -1));
  const moved = opened.move();
  return {
    place: (args) => args.map(place),
    environment: (part, variables) => {
      const { DATABASE_URL: _, ...rest } = variables;
      const placed = Object.fromEntries(
        Object.entries(rest).map(([name, value]) => [name, place(value)]),
      );
      const tls = {
        STATIC_TLS_CERT: `${folder}/etc/tls/cert.pem`,
        STATIC_TLS_KEY: `${folder}/etc/tls/key.pem`,
      };
      return {
        ...(part === "api" ? backend.environment : {}),
        ...placed,
        ...(part === "proxy" ? { STATIC_RELAY_URL: "quic://localhost:4433", ...tls } : {}),
        STATIC_RELAY_SECRET: "0123456789abcdef0123456789abcdef",
        STATIC_API_PORT: "0",
        STATIC_INTERNAL_PORT: "0",
        STATIC_RELAY_GRPC_PORT: "0",
        STATIC_RELAY_QUIC_PORT: "0",
        STATIC_ADMIN_PORT: "0",
      };
    },
    [Symbol.asyncDispose]: () => moved.disposeAsync(),
  };
}

/** Until it says that it listens; then it is asked to stop. */
async function serve(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  cwd: string,
): Promise<void> {
  const child = new Deno.Command(Deno.execPath(), {
    args: [...args],
    env,
    cwd,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  })
    .spawn();
  let output = "";
  const collect = async (stream: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<void> => {
    for await (const text of stream.pipeThrough(new TextDecoderStream())) {
      output += text;
      if (output.includes('"event":"listening"')) stop();
    }
  };
  let stopped = false;
  const stop = (): void => {
    if (!stopped) child.kill("SIGTERM");
    stopped = true;
  };
  const [{ code }] = await Promise.all([
    child.status,
    collect(child.stdout),
    collect(child.stderr),
  ]);
  assertMatch(output, /"event":"listening"/);
  assertMatch(output, /"event":"configuration"/);
  assertEquals(code, 0, output);
  assert(!output.includes("Workspace member"), output);
  assert(!output.includes("0123456789abcdef"), "secrets are hidden");
}
