import {
  assert,
  assertEquals,
  assertExists,
  assertLess,
  assertMatch,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { inCampaign, tried } from "../support/campaign.ts";
import {
  boundAddresses,
  failedStart,
  inFolder,
  isRunning,
  processOf,
  root,
  type RunningStack,
  secretNames,
  startStack,
} from "./stack_process.ts";

Deno.test("deno task start", (t) =>
  inFolder(async (folder) => {
    let stack: RunningStack | undefined;
    await t.step(
      "runs API and relay, and names both, also after a first start that was interrupted",
      async () => {
        await leaveHalfDatabase(folder);
        stack = await startStack(folder, ["--watch"]);
        await visit(stack, folder);
      },
    );
    await t.step("keeps from the relay what only the API may know", () => compareVariables(stack));
    await t.step("listens for this machine alone", () => lookAtAddresses(stack));
    await t.step("refuses a second start on the same directory", () => refuseSecond(folder));
    await t.step("starts a part again that was killed, on the same ports", () => killRelay(stack));
    await t.step("--watch starts the part again whose code has changed, and not the other", () =>
      changeRelay(stack));
    await t.step("stops on Ctrl-C", () =>
      interrupt(stack));
    if (inCampaign) {
      await t.step(
        "starts again with what it had, and ends its parts when it is killed itself",
        async () => {
          await killSupervisor(await startStack(folder));
          tried("2 starts of a stack");
        },
      );
      await t.step("listens for other machines when it is told so", async () => {
        const relayUrls = ["quic://relay.example:4433", "https://relay.example:5000"];
        const variables = { STATIC_TLS_TERMINATED: "true", STATIC_RELAY_URL: relayUrls.join() };
        const stack = await startStack(folder, ["--public"], variables);
        const told = await (await fetch(`${stack.apiUrl}/.well-known/static`)).json();
        assertEquals(told.relay.urls, relayUrls);
        const bound = await Promise.all((await partsOf(stack)).map(boundAddresses));
        assertEquals(bound.map((addresses) => addresses.includes(everyAddress)), [true, true]);
        assertEquals(await relayHealth(stack), { status: "ok" });
        await interrupt(stack);
      });
    }
    await t.step(
      "names every port that is taken and the variable to change, and starts nothing",
      () => collide(folder),
    );
    await t.step("says which directory cannot be used, and what to do", async () => {
      const { code, errors } = await failedStart({ STATIC_DATA_DIR: `${folder}/start.lock` });
      assertEquals(code, 1);
      assertMatch(
        errors,
        /^Cannot start: the data directory .+start\.lock cannot be used: .+STATIC_DATA_DIR.+\n$/,
      );
    });
    await t.step(
      "--public needs a certificate, and the relay's address for other machines",
      async () => {
        const { code, errors } = await failedStart(
          { STATIC_DATA_DIR: `${folder}/none` },
          "--public",
        );
        assertEquals(code, 1);
        assertMatch(errors, /STATIC_API_HOST must be [^]*STATIC_TLS_CERT and STATIC_TLS_KEY/);
        assertMatch(errors, /STATIC_RELAY_URL must be .+quic:\/\/relay\.example:4433/);
      },
    );
    await t.step("--relays says which program is missing, and makes nothing", async () => {
      const variables = {
        STATIC_DATA_DIR: `${folder}/none`,
        STATIC_NATS_SERVER: "/nowhere/nats-server",
      };
      const { code, errors } = await failedStart(variables, "--relays", "3");
      assertEquals(code, 1);
      assertMatch(
        errors,
        /^Cannot start several relays: STATIC_NATS_SERVER names \/nowhere\/nats-server, .+2\.15 or newer/,
      );
      await assertRejects(() => Deno.stat(`${folder}/none`), Deno.errors.NotFound);
    });
    await t.step("refuses a variable that no part knows", async () => {
      const { code, errors } = await failedStart({ [["STATIC", "API_ULR"].join("_")]: "canary" });
      assertEquals(code, 1);
      assertMatch(
        errors,
        /1 fault\(s\)[^]*API_ULR is not a variable of Static\. The nearest is STATIC_API_URL\./,
      );
      assert(!errors.includes("canary"));
    });
    await t.step("tells faults in the configuration of API and relay together", async () => {
      const { code, errors } = await failedStart({
        STATIC_ENVIRONMENT: "production",
        STATIC_RELAY_ENGINE: "cloud",
      });
      assertEquals(code, 1);
      assertMatch(
        errors,
        /2 fault\(s\)[^]*STATIC_ENVIRONMENT must be[^]*STATIC_RELAY_ENGINE must be/,
      );
    });
  }));

/** As a first start leaves it that was interrupted while it made the database. */
async function leaveHalfDatabase(folder: string): Promise<void> {
  await Deno.mkdir(`${folder}/database`);
  await Deno.writeTextFile(`${folder}/database/PG_VERSION`, "17\n");
  await Deno.writeTextFile(`${folder}/database.making`, "");
}

async function relayHealth({ grpcUrl, caFile }: RunningStack): Promise<unknown> {
  using client = Deno.createHttpClient({ caCerts: [await Deno.readTextFile(caFile)] });
  return await (await fetch(`${grpcUrl}/health`, { client })).json();
}

async function visit(stack: RunningStack, folder: string): Promise<void> {
  const output = stack.output();
  assertEquals(await (await fetch(`${stack.apiUrl}/health`)).json(), { status: "ok" });
  assertMatch(output, /Relay +quic:\/\/localhost:\d+ /);
  assertEquals(await relayHealth(stack), { status: "ok" });
  for (const url of stack.metricsUrls) {
    assertMatch(await (await fetch(url)).text(), /^# TYPE static_(api|relay)_/m);
  }
  assertStringIncludes(output, `Data      ${folder}\n`);
  assertMatch(
    output,
    /making its database[^]*done[^]*Next, in another terminal:\n +export .+\n( +(?:npx -y deno@\S+|deno) task static .+\n){3}/,
  );
  const log = await Deno.readTextFile(`${folder}/logs/relay.log`);
  assertStringIncludes(log, '"event":"configuration"');
  assert(!log.includes("quota_api_failed"), "the relay has found the API");
}

async function compareVariables(stack: RunningStack | undefined): Promise<void> {
  assertExists(stack);
  const [ofApi, ofRelay] = (await partsOf(stack)).map((pid) => {
    const variables = Deno.readTextFileSync(`/proc/${pid}/environ`).split("\0").map((variable) =>
      variable.split("=")[0]
    );
    return secretNames.filter((name) => variables.includes(name));
  });
  assertEquals([ofApi, ofRelay], [secretNames, []]);
}

/** `127.0.0.1` and `::1` in the system's tables, and `::`. */
const ownAddresses = ["0100007F", "00000000000000000000000001000000"];
const everyAddress = "0".repeat(32);

async function lookAtAddresses(stack: RunningStack | undefined): Promise<void> {
  assertExists(stack);
  const [ofApi = [], ofRelay = []] = await Promise.all((await partsOf(stack)).map(boundAddresses));
  assertEquals([...ofApi, ...ofRelay].filter((address) => !ownAddresses.includes(address)), []);
  // Programs take localhost for either.
  assertEquals([...new Set(ofRelay)].sort(), [...ownAddresses].sort());
}

async function interrupt(stack: RunningStack | undefined): Promise<void> {
  assertExists(stack);
  const startMs = performance.now();
  stack.child.kill("SIGINT");
  assertEquals(await stack.ended(), 0);
  // An agent or a request that hangs would hold it for longer; the five seconds that are promised
  // are for a machine at rest.
  assertLess(performance.now() - startMs, inCampaign ? 5_000 : 60_000);
}

async function refuseSecond(folder: string): Promise<void> {
  const { code, errors } = await failedStart({ STATIC_DATA_DIR: folder });
  assertEquals(code, 1);
  assertMatch(errors, /^Cannot start: another stack \(process \d+\) runs in .*STATIC_DATA_DIR/);
}

async function killRelay(stack: RunningStack | undefined): Promise<void> {
  assertExists(stack);
  Deno.kill(await processOf(stack.child.pid, "deploy/local/relay/main.ts"), "SIGKILL");
  await stack.printed(/Relay was ended by SIGKILL; starting it again in 0\.5 s\nRelay runs again/);
  assertEquals(await relayHealth(stack), { status: "ok" });
}

/**
 * Nothing but the time of one file is changed, so that whatever else reads the code now reads the
 * same.
 */
async function changeRelay(stack: RunningStack | undefined): Promise<void> {
  assertExists(stack);
  const [apiBefore, relayBefore] = await partsOf(stack);
  await Deno.utime(new URL("relay/main.ts", root), new Date(), new Date());
  await stack.printed(/The code of the relay has changed\nRelay runs again/);
  assertEquals(await relayHealth(stack), { status: "ok" });
  const [apiNow, relayNow] = await partsOf(stack);
  assertEquals([apiNow === apiBefore, relayNow === relayBefore], [true, false]);
}

/** The processes of API and relay. */
async function partsOf({ child }: RunningStack): Promise<number[]> {
  return await Promise.all(
    ["api", "relay"].map((part) => processOf(child.pid, `deploy/local/${part}/main.ts`)),
  );
}

async function killSupervisor(stack: RunningStack): Promise<void> {
  const { child, ended } = stack;
  const supervisor = await processOf(child.pid, "start.ts");
  const parts = await partsOf(stack);
  Deno.kill(supervisor, "SIGKILL");
  await ended();
  // wait: for processes that are nobody's children any more; the test would hang, and fail, if they
  // stayed
  while (parts.some(isRunning)) await new Promise((resolve) => setTimeout(resolve, 50));
}

async function collide(folder: string): Promise<void> {
  using api = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  using relay = Deno.listen({ hostname: "::", port: 0 });
  const ports = {
    STATIC_API_PORT: String(api.addr.port),
    STATIC_RELAY_GRPC_PORT: String(relay.addr.port),
  };
  const { code, errors } = await failedStart({ STATIC_DATA_DIR: folder, ...ports });
  assertEquals(code, 1);
  const lines = Object.entries(ports).map(([variable, port]) =>
    `Cannot listen: port ${port} is taken. Stop what uses it, or set ${variable} to another port\n`
  );
  assertEquals(errors, lines.join(""));
}
