// Messages that a program sends in one moment, over a host that the test plays.
import { assertEquals, assertRejects } from "@std/assert";
import { StaticError } from "../base/errors.ts";
import type { Runtime } from "../base/runtime.ts";
import { HostConnection } from "./connection.ts";
import { HeaderFields } from "./fields.ts";
import { encodeFrame, type FrameHeader, type HostFrame, HostFrameReader } from "./frames.ts";
import { GroupedSends } from "./grouped_sends.ts";
import { HostLink } from "./host_link.ts";
import { RemoteChannel } from "./remote_channel.ts";

const name = "acme/ops/deploy";
const runtime: Runtime = {
  nowMs: () => 0,
  after: () => () => {},
  randomBytes: (length) => crypto.getRandomValues(new Uint8Array(length)),
};

/**
 * Plays a host: `answer` gives the reply to each call; undefined kills the host, and the next call
 * finds another one.
 */
function play(
  answer: (frame: HostFrame) => FrameHeader | undefined = accept,
  waiting: Runtime = runtime,
): { link: HostLink; heard: HostFrame[] } {
  const heard: HostFrame[] = [];
  const find = (): Promise<HostConnection> => {
    const reader = new HostFrameReader();
    const connection = new HostConnection({
      write: (bytes) => {
        for (const frame of reader.push(bytes)) {
          heard.push(frame);
          const ok = answer(frame);
          queueMicrotask(() =>
            ok === undefined
              ? connection.end()
              : connection.receive(encodeFrame({ id: frame.header["id"], ok }))
          );
        }
      },
      close: () => {},
    });
    return Promise.resolve(connection);
  };
  return { link: new HostLink({ runtime: waiting, find }), heard };
}

function messagesOf({ header }: HostFrame): readonly HeaderFields[] {
  return new HeaderFields(header).optionalObjects("messages") ?? [];
}

function accept(frame: HostFrame): FrameHeader {
  const { header } = frame;
  if (header["op"] !== "sendAll") return { id: header["message"], accepted: true };
  return { sent: messagesOf(frame).map((each) => ({ id: each.text("message"), accepted: true })) };
}

function send(sends: GroupedSends, text: string): Promise<{ readonly id: string }> {
  return sends.send({ message: sends.newId() }, new TextEncoder().encode(text));
}

const opsOf = (heard: readonly HostFrame[]): unknown[] => heard.map(({ header }) => header["op"]);

Deno.test("what is sent in one moment is one frame, and each message is answered by its own id", async () => {
  const { link, heard } = play();
  const sends = new GroupedSends(link, runtime, name);
  const sent = await Promise.all(["one", "two", "three"].map((text) => send(sends, text)));
  assertEquals(opsOf(heard), ["sendAll"]);
  const [frame] = heard;
  assertEquals(new TextDecoder().decode(frame?.bytes), "onetwothree");
  assertEquals(frame && messagesOf(frame).map((each) => each.number("length")), [3, 3, 5]);
  assertEquals(
    frame && messagesOf(frame).map((each) => each.text("message")),
    sent.map(({ id }) => id),
  );
  await send(sends, "alone");
  assertEquals(opsOf(heard), ["sendAll", "send"]);
});

Deno.test("a group has at most 64 messages and 14,000 bytes, and keeps the order", async () => {
  const { link, heard } = play();
  const sends = new GroupedSends(link, runtime, name);
  const texts = [
    ...Array.from({ length: 70 }, (_, i) => `${i} `),
    "x".repeat(20_000),
    ...new Array(13).fill("y".repeat(1_024)),
  ];
  await Promise.all(texts.map((text) => send(sends, text)));
  assertEquals(heard.map((frame) => messagesOf(frame).length), [55, 15, 0, 11, 2]);
  assertEquals(heard.map(({ bytes }) => new TextDecoder().decode(bytes)).join(""), texts.join(""));
});

Deno.test("a group whose host dies goes to the next one as it was, and says that it goes again", async () => {
  let deaths = 1;
  const { link, heard } = play((frame) => deaths-- > 0 ? undefined : accept(frame));
  const sends = new GroupedSends(link, runtime, name);
  await Promise.all(["one", "two"].map((text) => send(sends, text)));
  const [first, again] = heard.map(({ header: { id: _, ...header } }) => header);
  assertEquals(again, { ...first, again: true });
});

Deno.test("a message that is sent while the next host is waited for does not overtake those that go again", async () => {
  let deaths = 2;
  const { link, heard } = play((frame) => deaths-- > 0 ? undefined : accept(frame), {
    ...runtime,
    after: (_, run) => {
      // Its host has died twice: the next one is waited for.
      later.resolve(send(sends, "two"));
      // wait: a turn of the event loop, in which a message that does not wait would be sent
      const timer = setTimeout(run, 0);
      return () => clearTimeout(timer);
    },
  });
  const later = Promise.withResolvers<{ readonly id: string }>();
  const sends = new GroupedSends(link, runtime, name);
  await Promise.all([send(sends, "one"), later.promise]);
  assertEquals(heard.map(({ bytes }) => new TextDecoder().decode(bytes)), [
    "one",
    "one",
    "one",
    "two",
  ]);
});

Deno.test("one that fails fails alone, and a host that says too little is told of", async () => {
  const error = { class: "ChannelError", code: "payload_too_large", message: "too large" };
  const { link } = play((frame) => {
    const [one] = messagesOf(frame);
    return { sent: [{ id: one?.text("message"), accepted: true }, { error }] };
  });
  const sends = new GroupedSends(link, runtime, name);
  const [one, two, three] = ["one", "two", "three"].map((text) => send(sends, text));
  two?.catch(() => {});
  three?.catch(() => {});
  await one;
  assertEquals(
    (await assertRejects(() => two ?? Promise.resolve(), StaticError)).code,
    "payload_too_large",
  );
  assertEquals(
    (await assertRejects(() => three ?? Promise.resolve(), StaticError)).code,
    "protocol_error",
  );
});

Deno.test("a call that follows a message does not overtake it", async () => {
  const { link, heard } = play((frame) => {
    const { op } = frame.header;
    if (op === "send" || op === "sendAll") return accept(frame);
    return {};
  });
  const health = { state: "ready" };
  const state = new HeaderFields({ name, id: "A".repeat(22), fingerprint: "", health });
  const channel = new RemoteChannel(link, runtime, state);
  const stop = new AbortController();
  await Promise.all([
    channel.send("one", {}),
    channel.send("two", {}),
    channel.send("three", { signal: stop.signal }),
    channel.send("four", {}),
    channel.act("rotate", {}),
  ]);
  assertEquals(opsOf(heard), ["sendAll", "send", "send", "rotate"]);
});
