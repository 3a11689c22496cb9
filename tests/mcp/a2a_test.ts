// An A2A agent and a client that know nothing of channels: first over the package's own HTTP, then
// unchanged over a channel.
import { assert, assertEquals, assertRejects } from "@std/assert";
import { AgentCard, TaskState } from "@a2a-js/sdk";
import { type Client, ClientFactory, ClientFactoryOptions } from "@a2a-js/sdk/client";
import { type Channel, ChannelManager, type ConnectOptions } from "../../sdk/mod.ts";
import { agentUrl, ChannelCardResolver, ChannelTransportFactory } from "../../sdk/a2a/mod.ts";
import { npmProjectFlags } from "../../tools/npm.ts";
import { stopHost } from "../support/hosts.ts";
import { TextLineStream } from "../support/lines.ts";
import { eventually } from "../support/mod.ts";
import { shareStack } from "../support/shared_stack.ts";
import type { SharedStack } from "../support/stack.ts";
import { asking, askingFor, talk, taskIn, taskText } from "./a2a/talk.ts";

const name = "acme/a2a/room";
const root = new URL("../../", import.meta.url).pathname;

Deno.test("A2A over a channel", async (t) => {
  const stack = await shareStack();
  const folder = await Deno.makeTempDir({ prefix: "static-a2a-" });
  await using closing = new AsyncDisposableStack();
  closing.defer(() => Deno.remove(folder, { recursive: true }));
  const optionsOf = (identity: string): ConnectOptions => ({
    ...service(stack),
    dataDir: `${folder}/${identity}`,
    identity,
  });
  const alice = closing.adopt(
    await ChannelManager.connect(optionsOf("alice")),
    (each) => each.close(),
  );
  const room = await alice.create(name);
  const workerId = await enter(alice, optionsOf("worker"));
  const url = agentUrl({ channel: name, agentId: workerId });
  const start = (): Promise<Program> =>
    startAgent(stack, [name, `${folder}/tasks`, `${folder}/worker`]);
  let server = await start();
  closing.defer(() => server.kill());
  const client = await clientOf(alice, url);

  await t.step(
    "the same agent and the same client say the same over HTTP and over a channel",
    async () => {
      await using http = await startProgram([
        ...npmProjectFlags,
        `${root}tools/npm/a2a_http.ts`,
        `${root}tests/mcp/a2a/agent.ts`,
      ], {});
      const overHttp = await talk(await new ClientFactory().createFromUrl(http.firstLine));
      assertEquals(await talk(client), overHttp);
      assertEquals([client.transport.protocolName, client.protocolVersion], [
        "static://bindings/a2a/v1",
        "1.0",
      ]);
      assert(
        overHttp.includes("artifact part 3") && overHttp.includes("message echo: hello"),
        overHttp.join("\n"),
      );
      assert(
        overHttp.some((line) => line.startsWith("cancelled task TASK_STATE_CANCELED")),
        overHttp.join("\n"),
      );
    },
  );

  await t.step(
    "messages of others in the channel stay for the program; its events do not stay",
    async () => {
      const bob = await ChannelManager.connect(optionsOf("bob"));
      const theirs = await bob.joinWithToken(name, await alice.invite(name));
      await theirs.send("for alice");
      const forging = forge(theirs, alice.client.agentId);
      const events = await Array.fromAsync(client.sendMessageStream(asking("work 5")));
      assertEquals(events.length, 8);
      await forging;
      assertEquals(
        new TextDecoder().decode(await room.receive({ timeoutMs: 60_000 })),
        "for alice",
      );
      // A message that another member forged is one like any other.
      assertEquals((await room.receiveEnvelope({ timeoutMs: 60_000 }))?.text(), "forged");
      assertEquals(await room.receive({ timeoutMs: 100 }), undefined);
      const stranger = await clientOf(bob, url);
      const [event] = events;
      const id = event?.payload?.$case === "task" ? event.payload.value.id : "";
      await assertRejects(() => stranger.getTask({ tenant: "", id }), Error, "not found");
      assertEquals((await client.getTask({ tenant: "", id })).id, id);
      await bob.close();
    },
  );

  await t.step(
    "a stream that nobody reads ends at the agent, and one that is given up ends here",
    async () => {
      let id = "";
      for await (const { payload } of client.sendMessageStream(asking("long"))) {
        if (payload?.$case !== "task") continue;
        id = payload.value.id;
        break;
      }
      const { status } = await client.cancelTask({ tenant: "", id, metadata: {} });
      assertEquals(status?.state, TaskState.TASK_STATE_CANCELED);
      for (let left = await room.receiveEnvelope({ timeoutMs: 300 }); left !== undefined;) {
        assert(!left.text().includes("CANCELED"), "the agent goes on sending");
        left = await room.receiveEnvelope({ timeoutMs: 300 });
      }
      const gone = new AbortController();
      const reading = Array.fromAsync(
        client.sendMessageStream(asking("long"), { signal: gone.signal }),
      );
      gone.abort(new Error("enough"));
      await assertRejects(() => reading, Error, "enough");
      assertEquals((await client.listTasks({ ...listing, pageSize: 50 })).tasks.length > 3, true);
    },
  );

  await t.step(
    "a task outlives a restart of its agent, and requests wait for an agent that is offline",
    async () => {
      const question = taskIn(await client.sendMessage(asking("ask")));
      const long = taskIn(await client.sendMessage(askingFor("long")));
      const isWorking = async (): Promise<boolean> =>
        (await client.getTask({ tenant: "", id: long.id })).status?.state ===
          TaskState.TASK_STATE_WORKING;
      await eventually({ what: "the long task to be worked on" }, isWorking, Boolean);
      await server.kill();
      const waiting = client.getTask({ tenant: "", id: question.id });
      const answer = client.sendMessage(asking("work 1", question.id, question.contextId));
      server = await start();
      assertEquals((await waiting).status?.state, TaskState.TASK_STATE_INPUT_REQUIRED);
      assertEquals(taskText(taskIn(await answer)).split(" ")[1], "TASK_STATE_COMPLETED");
      assert(await isWorking());
    },
  );

  await t.step("an agent that is killed in the middle does not begin a task twice", async () => {
    const counted = async (): Promise<number> =>
      (await client.listTasks({ ...listing, pageSize: 100 })).tasks.length;
    const before = await counted();
    const unary = client.sendMessage(asking("long"));
    const streaming = Array.fromAsync(client.sendMessageStream(asking("long")));
    await eventually({ what: "both to have begun" }, counted, (count) => count === before + 2);
    await server.kill();
    server = await start();
    assertEquals(taskIn(await unary).status?.state, TaskState.TASK_STATE_WORKING);
    const last = (await streaming).at(-1)?.payload;
    assertEquals(last?.$case, "task");
    assertEquals(await counted(), before + 2);
  });

  await t.step(
    "a client whose agent a host holds hears a stream from its first event",
    async () => {
      const options = { ...optionsOf("carol"), host: "auto" as const };
      await using carol = disposable(await ChannelManager.connect(options), options.dataDir ?? "");
      await carol.manager.joinWithToken(name, await alice.invite(name));
      const events = await Array.fromAsync(
        (await clientOf(carol.manager, url)).sendMessageStream(asking("work 3")),
      );
      assertEquals(events.length, 6);
    },
  );

  await t.step("what is no call of A2A is answered with an error", async () => {
    const ask = async (body: string, contentType?: string): Promise<unknown> =>
      (await room.request(body, {
        to: workerId,
        timeoutMs: 60_000,
        ...(contentType && { contentType }),
      })).json();
    const type = "application/a2a+json";
    for (
      const [body, given] of [["{}", undefined], ["no json", type], ["[1]", type], [
        "{}",
        type,
      ]] as const
    ) {
      const answer = await ask(body, given);
      assert(
        typeof answer === "object" && answer !== null && "error" in answer,
        JSON.stringify(answer),
      );
    }
    const stream = {
      jsonrpc: "2.0",
      id: 7,
      method: "SendStreamingMessage",
      params: { message: { messageId: "m" } },
    };
    assert(
      JSON.stringify(await ask(JSON.stringify(stream), type)).includes("error"),
      "no conversation",
    );
    await assertRejects(
      () => clientOf(alice, "static://channel/acme/a2a/room"),
      Error,
      "is no agent in a channel",
    );
  });

  await t.step(
    "the text of an agent's error has a bound, for its card, a call and a stream",
    async () => {
      const options = optionsOf("dave");
      await using dave = disposable(await ChannelManager.connect(options), options.dataDir ?? "");
      await dave.manager.joinWithToken(name, await alice.invite(name));
      const url = agentUrl({ channel: name, agentId: alice.client.agentId });
      const error = { code: -32603, message: "x".repeat(100_000) };
      const serving = room.serve((request) => ({
        json: { jsonrpc: "2.0", id: Object(request.json()).id, error },
      }));
      const transport = await new ChannelTransportFactory(dave.manager).create(
        url,
        AgentCard.fromJSON({}),
      );
      const calls: readonly (() => Promise<unknown>)[] = [
        () => clientOf(dave.manager, url),
        () => transport.sendMessage(asking("work 1")),
        () => Array.fromAsync(transport.sendMessageStream(asking("work 1"))),
      ];
      for (const call of calls) {
        const { message } = await assertRejects(call, Error, "x".repeat(1000));
        assert(message.length < 1200, String(message.length));
      }
      await serving.stop();
    },
  );
});

/**
 * Another member says that it is the agent, and that it is at a later attempt, as soon as it sees
 * the request.
 */
async function forge(channel: Channel, to: string): Promise<void> {
  for await (const { conversation, kind } of channel.envelopes({ all: true })) {
    if (kind !== "request" || conversation === undefined) continue;
    const headers = { "a2a-event": "9.1" };
    await channel.send("forged", {
      to,
      conversation,
      headers,
      contentType: "application/a2a+json",
    });
    return;
  }
}

const listing = {
  tenant: "",
  contextId: "",
  status: 0,
  pageToken: "",
  statusTimestampAfter: undefined,
};

function service(
  { api, account, quicUrl, caFile }: SharedStack,
): Omit<ConnectOptions, "dataDir" | "identity"> {
  return {
    endpoint: quicUrl,
    apiUrl: api.url,
    apiKey: account.apiKey,
    tls: { caFile },
    cover: "off",
  };
}

/** Returns the id of an agent that is in the channel from now on, and runs no more. */
async function enter(alice: ChannelManager, options: ConnectOptions): Promise<string> {
  const worker = await ChannelManager.connect(options);
  await worker.joinWithToken(name, await alice.invite(name));
  const { agentId } = worker.client;
  await worker.close();
  return agentId;
}

async function clientOf(manager: ChannelManager, url: string): Promise<Client> {
  const factory = new ClientFactory(ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
    transports: [new ChannelTransportFactory(manager)],
    cardResolver: new ChannelCardResolver(manager),
  }));
  return await factory.createFromUrl(url);
}

function disposable(
  manager: ChannelManager,
  dataDir: string,
): AsyncDisposable & { readonly manager: ChannelManager } {
  return {
    manager,
    [Symbol.asyncDispose]: async () => {
      await manager.close();
      await stopHost(dataDir);
    },
  };
}

interface Program extends AsyncDisposable {
  readonly firstLine: string;
  kill(): Promise<void>;
}

function startAgent(
  { api, account, quicUrl, caFile }: SharedStack,
  words: readonly string[],
): Promise<Program> {
  return startProgram([`${root}tests/mcp/a2a/serve.ts`, ...words], {
    STATIC_API_URL: api.url,
    STATIC_API_KEY: account.apiKey,
    STATIC_RELAY_URL: quicUrl,
    STATIC_CA_FILE: caFile,
  });
}

async function startProgram(
  words: readonly string[],
  env: Record<string, string>,
): Promise<Program> {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", ...words],
    env,
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const lines = child.stdout.pipeThrough(new TextDecoderStream()).pipeThrough(new TextLineStream());
  const reader = lines.getReader();
  const { value: firstLine } = await reader.read();
  if (firstLine === undefined) throw new Error(`${words.join(" ")} has ended`);
  const kill = async (): Promise<void> => {
    child.kill("SIGKILL");
    await child.status;
    await reader.cancel();
    await child.stdin.close().catch(() => {});
  };
  return { firstLine, kill, [Symbol.asyncDispose]: kill };
}
