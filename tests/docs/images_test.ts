// Builds the images of deploy/ without a container engine, and runs what they run: the very
// commands and variables, from exactly the files that an image contains, as its user, on a root
// that is read-only, with the key's group as the compose file gives it.
import { assert, assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { anyBackend } from "../support/api/harness.ts";
import { inCampaign } from "../support/campaign.ts";
import {
  type Container,
  containersPossible,
  containerVariables,
  inContainer,
} from "../support/container.ts";
import { createCertificate, eventually, runCommand, testWhen } from "../support/mod.ts";
import { composedFor, type Image, imageOf, repository } from "./deployed.ts";

/** Of the key of the certificate. */
const keyGroup = 4242;
const secret = "0123456789abcdef0123456789abcdef";

interface Stage extends AsyncDisposable {
  readonly container: Container;
  /** Variables for the database, where there is one outside. */
  readonly database: Readonly<Record<string, string>>;
}

/** Copies what an image copies, and prepares it as the image is prepared. */
async function build({ copies, preparations, builds }: Image): Promise<Stage> {
  await using opened = new AsyncDisposableStack();
  const folder = await Deno.makeTempDir({ prefix: "static-image-" });
  opened.defer(() => Deno.remove(folder, { recursive: true }));
  for (const words of builds) await runCommand(Deno.execPath(), words, { cwd: repository });
  const [app, data, etc] = [`${folder}/app`, `${folder}/data`, `${folder}/etc`];
  await Deno.mkdir(app);
  await Deno.mkdir(data, { mode: 0o700 });
  await runCommand("cp", ["-r", "--parents", ...copies, app], { cwd: repository });
  assertEquals(preparations.length, 1);
  for (const words of preparations) await runCommand(Deno.execPath(), words, { cwd: app });
  await Deno.mkdir(`${etc}/tls`, { recursive: true });
  const { cert, key } = await createCertificate();
  for (const [name, text] of [["cert.pem", cert], ["key.pem", key]] as const) {
    await Deno.writeTextFile(`${etc}/tls/${name}`, text, { mode: 0o640 });
    await Deno.chown(`${etc}/tls/${name}`, 0, keyGroup);
  }
  await Deno.chmod(`${etc}/tls`, 0o750);
  await Deno.chown(`${etc}/tls`, 0, keyGroup);
  const backend = await anyBackend.open();
  opened.defer(() => backend.close());
  const { STATIC_DATA_DIR: _, ...database } = backend.environment;
  const moved = opened.move();
  return {
    container: { app, data, etc, groups: [keyGroup] },
    database,
    [Symbol.asyncDispose]: () => moved.disposeAsync(),
  };
}

/** With ports of the system's choice, because the network is this machine's. */
function variablesFor(part: string, { variables }: Image, stage: Stage): Record<string, string> {
  const { DATABASE_URL: _, ...composed } = composedFor(part);
  return {
    ...containerVariables,
    ...variables,
    ...composed,
    ...(part === "api" ? stage.database : {}),
    ...(part === "proxy"
      ? {
        STATIC_RELAY_URL: "quic://localhost:4433",
        STATIC_TLS_CERT: "/etc/static/tls/cert.pem",
        STATIC_TLS_KEY: "/etc/static/tls/key.pem",
      }
      : {}),
    STATIC_RELAY_SECRET: secret,
    STATIC_API_PORT: "0",
    STATIC_INTERNAL_PORT: "0",
    STATIC_RELAY_GRPC_PORT: "0",
    STATIC_RELAY_QUIC_PORT: "0",
    STATIC_ADMIN_PORT: "0",
  };
}

interface Ran {
  readonly code: number;
  readonly said: string;
}

async function run(
  container: Container,
  command: readonly string[],
  env: Record<string, string> = { ...containerVariables },
): Promise<Ran> {
  const { program, args } = await inContainer(container, command);
  const { code, stdout, stderr } = await new Deno.Command(program, {
    args: [...args],
    env,
    clearEnv: true,
    stdin: "null",
  }).output();
  const decoder = new TextDecoder();
  return { code, said: decoder.decode(stdout) + decoder.decode(stderr) };
}

/** Until it says that it listens; then what is asked of it is done, and it is asked to stop. */
async function serve(
  container: Container,
  command: readonly string[],
  env: Record<string, string>,
  during: (listening: Readonly<Record<string, string>>) => Promise<void>,
): Promise<void> {
  const { program, args } = await inContainer(container, command);
  await using child = new Deno.Command(program, {
    args: [...args],
    env,
    clearEnv: true,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const state = { output: "", ended: false };
  const collect = async (stream: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<void> => {
    for await (const text of stream.pipeThrough(new TextDecoderStream())) state.output += text;
  };
  const reading = Promise.all([collect(child.stdout), collect(child.stderr)]);
  void child.status.then(() => state.ended = true);
  const line = (): string | undefined => /^\{.*"event":"listening".*\}$/m.exec(state.output)?.[0];
  await eventually(
    { what: "listening" },
    () => Promise.resolve(line() ?? (state.ended ? state.output : undefined)),
    (seen) => seen !== undefined,
  );
  await during(JSON.parse(line() ?? `"it ended: ${state.output}"`));
  child.kill("SIGTERM");
  const { code } = await child.status;
  await reading;
  assertEquals(code, 0, state.output);
  assertMatch(state.output, /"event":"configuration"/);
  assert(!state.output.includes("Workspace member"), state.output);
  assert(!state.output.includes(secret), "secrets are hidden");
}

for (const part of ["api", "relay", "proxy"] as const) {
  // Building takes long, so the smallest one shows by default how they are built.
  if (!inCampaign && part !== "proxy") continue;
  testWhen(
    containersPossible,
    `image of the ${part}: it runs as its user on a root that is read-only, tells its health, and stops with code 0`,
    async () => {
      const image = imageOf(part);
      await using stage = await build(image);
      const { container } = stage;
      const env = variablesFor(part, image, stage);

      const key = "/etc/static/tls/key.pem";
      for (const path of ["/x", "/app/x", "/etc/static/x", "/deno-dir/x", "/usr/x"]) {
        assertNotEquals((await run(container, ["touch", path])).code, 0, path);
      }
      assertEquals(await run(container, ["touch", "/data/x"]), { code: 0, said: "" });
      assertEquals((await run(container, ["id", "-u"])).said, "1993\n");
      assertEquals((await run(container, ["test", "-r", key])).code, 0);
      const without = { ...container, groups: [] };
      assertEquals((await run(without, ["test", "-r", key])).code, 1);

      await serve(container, ["deno", ...image.args], env, async (listening) => {
        const { port, url, admin_url: adminUrl } = listening;
        const asked = part === "api"
          ? url
          : part === "relay"
          ? adminUrl
          : `https://localhost:${port}`;
        const actual = new URL(asked ?? "").port;
        const check = image.healthCheck.map((word) => word.replace(/(?<=\w:)\d+(?=\/)/, actual));
        assertNotEquals(check, image.healthCheck);
        const health = await run(container, check);
        // It has no API here, and says so.
        assertEquals(health.code, part === "relay" ? 1 : 0, health.said);
        if (part === "relay") assertMatch(health.said, /The API has not answered this relay/);
        if (part !== "api") return;
        const admin = await run(container, ["deno", "task", "admin", "accounts"], env);
        assertEquals(admin.code, 0, admin.said);
        const rotated = await run(container, ["deno", "task", "admin", "rotate-jwt-key"], env);
        assertEquals(rotated.code, 0, rotated.said);
      });
    },
  );
}
