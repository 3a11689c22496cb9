// A loop over messages at a host that the test plays.
import { assertEquals } from "@std/assert";
import { agentIdOf } from "../../proto/mod.ts";
import { HostConnection } from "./connection.ts";
import { encodeFrame, type FrameHeader, HostFrameReader } from "./frames.ts";
import { HostLink } from "./host_link.ts";
import { readRemote } from "./remote_reader.ts";

const runtime = {
  nowMs: (): number => 0,
  after: () => (): void => {},
  randomBytes: (length: number): Uint8Array<ArrayBuffer> => new Uint8Array(length),
};
const sender = {
  agentId: agentIdOf(new Uint8Array(32), Uint8Array.of(1)),
  identity: "alice",
  keyUnchanged: true,
};

/** A host that answers when it is told to. */
class SlowHost {
  readonly heard: FrameHeader[] = [];
  readonly connection: HostConnection;
  #heard = (): void => {};

  constructor() {
    const reader = new HostFrameReader();
    const write = (bytes: Uint8Array): void => {
      for (const { header } of reader.push(bytes)) this.heard.push(header);
      this.#heard();
    };
    this.connection = new HostConnection({ write, close: () => {} });
  }

  /** The first call of this name that was not answered. */
  async call(op: string): Promise<FrameHeader> {
    for (;;) {
      const found = this.heard.findIndex((each) => each["op"] === op);
      if (found >= 0) return this.heard.splice(found, 1)[0] ?? {};
      await new Promise<void>((resolve) => this.#heard = resolve);
    }
  }

  answer({ id }: FrameHeader, ok: FrameHeader): void {
    this.connection.receive(encodeFrame({ id, ok }));
  }
}

const message = (item: number): FrameHeader => ({
  item,
  envelope: { kind: "message", id: String(item).padEnd(22, "A"), sender, timeMs: item },
});

Deno.test("a loop that is finished while it waits acknowledges what it has shown, and shows nothing more", async () => {
  const host = new SlowHost();
  const link = new HostLink({ runtime, find: () => Promise.resolve(host.connection) });
  const loop = readRemote(link, "acme/ops/deploy", {}, {
    runtime,
    holding: new Set(),
    onMissed: () => {},
  });
  const first = loop.next();
  host.answer(await host.call("read"), { stream: 3 });
  host.answer(await host.call("next"), message(1));
  assertEquals((await first).value?.timeMs, 1);
  const second = loop.next();
  const asked = await host.call("next");
  const finished = loop.finish();
  const { stream, item, ...finish } = await host.call("finish");
  assertEquals([stream, item], [3, 1]);
  // It was on its way when the loop ended.
  host.answer(asked, message(2));
  host.answer(finish, {});
  await finished;
  assertEquals((await second).done, true);
});
