// A host in this process, over a relay in memory, and programs at its socket.
import { connect } from "node:net";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { StaticError } from "../../base/errors.ts";
import { HostConnection } from "../connection.ts";
import { breakConnections, statesOf, ways } from "../../../tests/support/breaking_client.ts";
import { inCampaign, tried } from "../../../tests/support/campaign.ts";
import { type Actor, name, Stage } from "../../../tests/support/scenario/stage.ts";
import { SharedAgent } from "./shared_agent.ts";
import { SocketHost } from "./socket_host.ts";

interface Place extends AsyncDisposable {
  readonly host: SocketHost;
  readonly path: string;
}

async function listen(
  { agent }: Actor,
  times: { idleMs: number; slowMs?: number },
): Promise<Place> {
  const folder = await Deno.makeTempDir({ prefix: "static-socket-" });
  const path = `${folder}/socket`;
  const host = await SocketHost.listen({ agent: await SharedAgent.over(agent), path, ...times });
  return {
    host,
    path,
    [Symbol.asyncDispose]: async () => {
      await host.close();
      await Deno.remove(folder, { recursive: true });
    },
  };
}

function program({ path }: Place): HostConnection {
  const socket = connect({ path });
  const connection = new HostConnection({
    write: (bytes) => void socket.write(bytes),
    close: () => socket.destroy(),
  });
  socket.on("data", (chunk: Uint8Array) => connection.receive(chunk));
  socket.once("close", () => connection.end());
  socket.once("error", () => connection.end());
  return connection;
}

Deno.test("a program that reads nothing is cut off, and the others do not notice", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  await using place = await listen(bob, { idleMs: 60_000, slowMs: 200 });
  const slow = connect({ path: place.path });
  const stuck = new HostConnection({
    write: (bytes) => void slow.write(bytes),
    close: () => slow.destroy(),
  });
  slow.on("data", (chunk: Uint8Array) => stuck.receive(chunk));
  const closed = new Promise((resolve) => slow.once("close", resolve));
  slow.on("error", () => {});
  const streams = await Promise.all(
    Array.from({ length: 24 }, () => stuck.call("read", { channel: name, tail: true })),
  );
  slow.pause();
  for (const { fields } of streams) {
    stuck.call("next", { stream: fields.number("stream") }).catch(() => {});
  }
  const other = program(place);
  const { fields } = await other.call("read", { channel: name });
  const stream = fields.number("stream");
  for (const size of [900_000, 1]) {
    const next = other.call("next", { stream });
    await (await alice.channel()).send(new Uint8Array(size));
    assertEquals((await next).bytes.length, size);
  }
  while ((await other.call("status")).fields.number("programs") > 1);
  slow.resume();
  // It is told why, if it reads on before it is cut off for good.
  const told = await Promise.race([
    stuck.over.then(({ code }) => code),
    closed.then(() => "closed"),
  ]);
  assert(told === "slow_reader" || told === "closed", told);
  await closed;
  other.end();
});

Deno.test("a host whose disk refuses a write tells every program why, and ends: the next one may go on", async () => {
  await using stage = await Stage.open();
  const { bob } = await stage.pair();
  await using place = await listen(bob, { idleMs: 60_000 });
  const [writing, waiting] = [program(place), program(place)];
  await Promise.all([writing.hello, waiting.hello]);
  void bob.diesAfter(0);
  const refused = await assertRejects(() => writing.call("rotate", { channel: name }), StaticError);
  assertEquals([refused.code, (await waiting.over).code], ["store_failed", "store_failed"]);
  await place.host.ended;
});

Deno.test("a host ends when nobody has used it for its time, in order, and a program keeps it", async () => {
  await using stage = await Stage.open();
  const alice = await stage.actor("alice");
  await using place = await listen(alice, { idleMs: 1_000 });
  const user = program(place);
  await user.hello;
  const over = await Promise.race([
    place.host.ended.then(() => "ended"),
    user.call("status").then(() => "used"),
  ]);
  assertEquals(over, "used");
  user.end();
  await place.host.ended;
  assertEquals(await Deno.lstat(place.path).then(() => "there", () => "gone"), "gone");
});

Deno.test("what is no frame costs its own program the connection", async () => {
  await using stage = await Stage.open();
  const alice = await stage.actor("alice");
  await using place = await listen(alice, { idleMs: 60_000 });
  const good = program(place);
  await good.hello;
  const socket = connect({ path: place.path });
  const bad = new HostConnection({
    write: (bytes) => void socket.write(bytes),
    close: () => socket.destroy(),
  });
  socket.on("data", (chunk: Uint8Array) => bad.receive(chunk));
  socket.write(Uint8Array.of(0xff, 0xff, 0xff, 0xff));
  assertEquals((await bad.over).code, "protocol_error");
  assertEquals((await good.call("status")).fields.number("programs") >= 1, true);
  good.end();
});

Deno.test("names that every object has are no operations", async () => {
  await using stage = await Stage.open();
  await using place = await listen(await stage.actor("alice"), { idleMs: 60_000 });
  const one = program(place);
  for (const op of ["constructor", "toString", "__proto__", ""]) {
    assertEquals((await assertRejects(() => one.call(op), StaticError)).code, "unknown_operation");
  }
  one.end();
});

Deno.test("more programs than a host serves are told so", async () => {
  await using stage = await Stage.open();
  const alice = await stage.actor("alice");
  await using place = await listen(alice, { idleMs: 60_000 });
  const programs = Array.from({ length: 64 }, () => program(place));
  await Promise.all(programs.map(({ hello }) => hello));
  assertEquals((await program(place).over).code, "overloaded");
  for (const each of programs) each.end();
});

Deno.test("a program cannot make the channel throw away what others wait for", async () => {
  await using stage = await Stage.open();
  const { bob } = await stage.pair();
  await using place = await listen(bob, { idleMs: 60_000 });
  const one = program(place);
  const refused = await assertRejects(
    () => one.call("open", { channel: name, receive: false }),
    StaticError,
  );
  assertEquals(refused.code, "invalid_request");
  one.end();
});

Deno.test("a host keeps messages that wait for a connection, however long nobody uses it", async () => {
  await using stage = await Stage.open();
  const { bob } = await stage.pair();
  bob.session.disconnect();
  await using place = await listen(bob, { idleMs: 20 });
  const one = program(place);
  await one.call("send", { channel: name, queue: true }, { bytes: new Uint8Array(1) });
  assertEquals((await one.call("stop", { whenIdle: true })).fields.all, {
    stopping: false,
    unsent: 1,
  });
  one.end();
  // wait: several times its idle time
  await new Promise((resolve) => setTimeout(resolve, 200));
  const two = program(place);
  assertEquals((await two.call("stop", { whenIdle: true })).fields.flag("stopping"), false);
  two.end();
  await bob.session.connect();
  await place.host.ended;
});

Deno.test("programs that break off in every state and way leave the host serving, and nothing of theirs in it", async () => {
  await using stage = await Stage.open();
  const { bob } = await stage.pair();
  await using place = await listen(bob, { idleMs: 60_000 });
  const door = { name: "host", at: { path: place.path }, speaks: "frames" } as const;
  const honest = program(place);
  const count = inCampaign ? 500 : 20;
  let broken = 0;
  for (const state of statesOf(door).filter((each) => each !== "draining")) {
    for (const way of ways) {
      const end = await breakConnections(door, { state, way, count });
      broken += count;
      assert((await honest.call("status")).fields.number("programs") >= 1);
      end();
    }
  }
  while ((await honest.call("status")).fields.number("programs") > 1);
  tried(`${broken.toLocaleString("en")} broken connections to a host`);
});
