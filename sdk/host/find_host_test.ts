// Programs on their way to a host that dies, stands still or does not come up, over a platform that
// does what the test says.
import { assertEquals, assertRejects } from "@std/assert";
import { version } from "../../proto/mod.ts";
import { createError, StaticError } from "../base/errors.ts";
import type { Runtime } from "../base/runtime.ts";
import type { HostEnds, HostPlatform } from "../platform/platform.ts";
import { encodeFrame, type FrameHeader, HostFrameReader } from "./frames.ts";
import { findHost } from "./find_host.ts";
import { HostLink } from "./host_link.ts";
import { RemoteStream } from "./remote_stream.ts";
import { encodeError } from "./wire_errors.ts";

const place = { dataDir: "/agent", folder: "/agent/host", socket: "/agent/host/socket" };

/** Time passes only by waiting. */
function simulated(): Runtime {
  let nowMs = 0;
  return {
    nowMs: () => nowMs,
    after: (ms, run) => {
      const timer = setTimeout(() => {
        nowMs += ms;
        run();
      }, 0);
      return () => clearTimeout(timer);
    },
    randomBytes: (length) => new Uint8Array(length),
  };
}

/**
 * A host in this process: says hello, and answers each call with what `answer` gives; undefined
 * kills it.
 */
class FakeHosts implements HostPlatform {
  isUp = false;
  /** How the next children begin; those after the last come up. */
  starts: ("dies" | StaticError)[] = [];
  /** How often the turn is another program's. */
  takenTurns = 0;
  started = 0;
  answer: (call: FrameHeader) => FrameHeader | undefined = () => ({});

  place(): ReturnType<HostPlatform["place"]> {
    return Promise.resolve(place);
  }

  connect(_: unknown, { onData, onEnd }: HostEnds): ReturnType<HostPlatform["connect"]> {
    if (!this.isUp) return Promise.resolve(undefined);
    const reader = new HostFrameReader();
    onData(encodeFrame({ event: "hello", protocol: 1, sdk: version, runtime: "test", pid: 1 }));
    const write = (bytes: Uint8Array): void => {
      for (const { header } of reader.push(bytes)) {
        queueMicrotask(() => this.#take(header, { onData, onEnd }));
      }
    };
    return Promise.resolve({ write, close: () => {} });
  }

  takeTurn(): ReturnType<HostPlatform["takeTurn"]> {
    return Promise.resolve(this.takenTurns-- > 0 ? undefined : () => Promise.resolve());
  }

  start(_: unknown, __: unknown, { onData, onEnd }: HostEnds): () => void {
    this.started++;
    const how = this.starts.shift();
    queueMicrotask(() => {
      if (how === "dies") return onEnd();
      const frame = encodeFrame(
        how === undefined ? { id: 1, ok: {} } : { id: 1, error: encodeError(how) },
      );
      this.isUp = how === undefined;
      // In two pieces, as a pipe may give it.
      onData(frame.subarray(0, 5));
      onData(frame.subarray(5));
    });
    return () => {};
  }

  #take(header: FrameHeader, { onData, onEnd }: HostEnds): void {
    const ok = this.answer(header);
    if (ok !== undefined) return onData(encodeFrame({ id: header["id"], ok }));
    this.isUp = false;
    onEnd();
  }
}

function linkTo(hosts: FakeHosts, runtime = simulated()): HostLink {
  const options = (): ReturnType<Parameters<typeof findHost>[0]["options"]> =>
    Promise.resolve({ fields: {}, identity: new Uint8Array(1) });
  const finding = { hosts, runtime, dataDir: place.dataDir, options };
  return new HostLink({
    runtime,
    find: (onEvent, signal) => findHost({ ...finding, onEvent }, signal),
  });
}

Deno.test("a host that is killed while it starts is started again; one that always dies is not", async () => {
  const hosts = new FakeHosts();
  hosts.starts = ["dies", "dies"];
  await linkTo(hosts).ask("agent", {});
  assertEquals(hosts.started, 3);
  const hopeless = new FakeHosts();
  hopeless.starts = Array.from({ length: 9 }, () => "dies");
  assertEquals(
    (await assertRejects(() => linkTo(hopeless).ask("agent", {}), StaticError)).code,
    "internal",
  );
  assertEquals(hopeless.started, 3);
});

Deno.test("a directory that is let go of late is waited for, however long the turn was another's", async () => {
  const hosts = new FakeHosts();
  hosts.takenTurns = 200;
  hosts.starts = Array.from({ length: 5 }, () => createError("store_locked", "in use"));
  await linkTo(hosts).ask("agent", {});
  assertEquals(hosts.started, 6);
});

Deno.test("a host that takes long to come up is connected to all the same", async () => {
  const hosts = new FakeHosts();
  const runtime = simulated();
  const start = hosts.start.bind(hosts);
  hosts.start = (...given) => {
    void (async () => {
      for (let minute = 0; minute < 3; minute++) {
        await new Promise<void>((resolve) => void runtime.after(60_000, resolve));
      }
      start(...given);
    })();
    return () => {};
  };
  const options = (): ReturnType<Parameters<typeof findHost>[0]["options"]> =>
    Promise.resolve({ fields: {}, identity: new Uint8Array(1) });
  await findHost({ hosts, runtime, dataDir: place.dataDir, options, onEvent: () => {} });
  assertEquals([hosts.started, runtime.nowMs() >= 180_000], [1, true]);
});

Deno.test("a host that stands still is given up in words", async () => {
  const hosts = new FakeHosts();
  hosts.isUp = true;
  const silent: HostPlatform = {
    place: () => hosts.place(),
    takeTurn: () => hosts.takeTurn(),
    start: () => () => {},
    connect: () => Promise.resolve({ write: () => {}, close: () => {} }),
  };
  const finding = {
    hosts: silent,
    runtime: simulated(),
    dataDir: "",
    onEvent: () => {},
    options: () => Promise.reject(),
  };
  const refused = await assertRejects(() => findHost(finding), StaticError);
  assertEquals([refused.code, refused.message.includes("does not say anything")], [
    "connection_error",
    true,
  ]);
});

Deno.test("a host that is gone before it was looked at is as good as none", async () => {
  const hosts = new FakeHosts();
  let tries = 0;
  const connect = hosts.connect.bind(hosts);
  hosts.connect = (at, ends) => {
    if (tries++ > 0) return connect(at, ends);
    ends.onEnd();
    return Promise.resolve({ write: () => {}, close: () => {} });
  };
  await linkTo(hosts).ask("agent", {});
  assertEquals(hosts.started, 1);
});

Deno.test("one that gives up ends the search for nobody else", async () => {
  const hosts = new FakeHosts();
  hosts.takenTurns = 3;
  const link = linkTo(hosts);
  const stop = new AbortController();
  const [first, second] = [link.ask("agent", {}, { signal: stop.signal }), link.ask("agent", {})];
  stop.abort(new Error("no patience"));
  await assertRejects(() => first, Error, "no patience");
  await second;
});

Deno.test("a call at which every host dies fails in the end", async () => {
  const hosts = new FakeHosts();
  hosts.answer = ({ op }) => op === "health" ? undefined : {};
  const link = linkTo(hosts);
  assertEquals(
    (await assertRejects(() => link.ask("health", {}), StaticError)).code,
    "listener_died",
  );
  assertEquals(hosts.started, 4);
  await link.ask("agent", {});
});

Deno.test("a call that hosts bear for long is not what they die of: it goes on at any number of them", async () => {
  const hosts = new FakeHosts();
  const clock = simulated();
  let borneMs = 0;
  const link = linkTo(hosts, { ...clock, nowMs: () => clock.nowMs() + borneMs });
  hosts.answer = ({ op }) => {
    if (op !== "receive") return {};
    borneMs += 60_000;
    return hosts.started > 20 ? {} : undefined;
  };
  await link.ask("receive", {});
  assertEquals(hosts.started, 21);
});

Deno.test("a loop goes on when the next host cannot come up for a while, and ends when it never could", async () => {
  const hosts = new FakeHosts();
  let given = 0;
  hosts.answer = ({ op }) =>
    op === "read" ? { stream: 1 } : given++ === 1 ? undefined : { item: given };
  const stream = new RemoteStream(linkTo(hosts), "read", {});
  assertEquals((await stream.next())?.fields.number("item"), 1);
  // The host dies at the second question, and the relay is away when the next ones start.
  hosts.starts = [
    createError("connection_error", "no relay"),
    createError("connection_error", "no relay"),
  ];
  assertEquals((await stream.next())?.fields.number("item"), 3);
  const none = new FakeHosts();
  none.starts = [createError("connection_error", "no relay")];
  await assertRejects(
    () => new RemoteStream(linkTo(none), "read", {}).next(),
    StaticError,
    "no relay",
  );
});
