/**
 * What every gRPC client must be able to do against the server, over one small interface that each client implements:
 * `unary`, `serverStream`, `clientStream`, `bidi`. Prints a JSON line for each check.
 */
import assert from "node:assert/strict";

const [cancelled, deadlineExceeded, failedPrecondition, unimplemented] = [1, 4, 9, 12];
const bytes = (length) => Uint8Array.from({ length }, (_, i) => i);

async function collect(messages) {
  const all = [];
  for await (const message of messages) all.push(message);
  return all;
}

async function codeOf(promise) {
  try {
    await promise;
  } catch (error) {
    return error.code;
  }
  throw new Error("the call succeeded");
}

/** grpc-js has it in `details`, connect in `rawMessage`. */
async function textOf(promise) {
  try {
    await promise;
  } catch (error) {
    return error.rawMessage ?? error.details;
  }
  throw new Error("the call succeeded");
}

async function* repeat(message, count) {
  for (let i = 0; i < count; i++) yield message;
}

/** How many calls have learnt of their cancellation. */
async function cancelledCalls(client) {
  return (await client.unary({ fail: "stats" })).message.count % 1_000_000;
}

async function untilCancelled(client, wanted) {
  for (const deadline = Date.now() + 10_000; Date.now() < deadline;) {
    if (await cancelledCalls(client) >= wanted) return;
  }
  throw new Error("the server did not learn of the cancellation");
}

const checks = {
  "unary": async (client) => {
    const data = bytes(4_096);
    assert.deepEqual(new Uint8Array((await client.unary({ data })).message.data), data);
  },
  "empty message": async (client) => assert.equal((await client.unary({})).message.data.length, 0),
  "server streaming": async (client) => {
    const messages = await collect(client.serverStream({ data: bytes(4_096), count: 1_000 }));
    assert.equal(messages.length, 1_000);
    assert.ok(messages.every(({ data }) => data.length === 4_096));
  },
  "client streaming": async (client) => {
    const { count, fail } = await client.clientStream(repeat({ data: bytes(4_096) }, 1_000));
    assert.deepEqual([count, fail], [1_000, String(4_096 * 1_000)]);
  },
  "bidi streaming": async (client) => {
    const messages = await collect(client.bidi(repeat({ data: bytes(4_096) }, 500)));
    assert.equal(messages.length, 500);
  },
  "bidi ping-pong": async (client) => {
    let release = () => {};
    async function* requests() {
      for (let i = 0; i < 100; i++) {
        const answered = new Promise((resolve) => release = resolve);
        yield { data: bytes(i) };
        await answered;
      }
    }
    let count = 0;
    for await (const { data } of client.bidi(requests())) {
      assert.equal(data.length, count++);
      release();
    }
    assert.equal(count, 100);
  },
  "metadata, text and binary, in headers and trailers": async (client) => {
    const metadata = { "x-echo": "text value", "x-echo-bin": bytes(40) };
    const { headers, trailers } = await client.unary({}, { metadata });
    assert.equal(headers["x-echo"], "text value");
    assert.equal(trailers["x-trailer"], "text value");
    assert.deepEqual(new Uint8Array(headers["x-echo-bin"]), bytes(40));
    assert.deepEqual(new Uint8Array(trailers["x-trailer-bin"]), bytes(40));
  },
  "long metadata": async (client) => {
    const value = "v".repeat(6_000);
    assert.equal((await client.unary({}, { metadata: { "x-echo": value } })).headers["x-echo"], value);
  },
  "an error of a unary call": async (client) => {
    assert.equal(await codeOf(client.unary({ fail: "ünïcode reason" })), failedPrecondition);
  },
  "an error's text, as it was written": async (client) => {
    const text = `Cannot send, 100 % full: "a/b" is at 5; ünïcode & 🦆`;
    assert.equal(await textOf(client.unary({ fail: text })), text);
  },
  "an error after streamed messages": async (client) => {
    let count = 0;
    const code = await codeOf((async () => {
      for await (const _ of client.serverStream({ count: 10, fail: "late" })) count++;
    })());
    assert.deepEqual([code, count], [failedPrecondition, 10]);
  },
  "an unknown method": async (client) => assert.equal(await codeOf(client.unknown()), unimplemented),
  "a deadline of a unary call": async (client) => {
    assert.equal(await codeOf(client.unary({ hang: true }, { timeoutMs: 100 })), deadlineExceeded);
  },
  "a deadline of a stream": async (client) => {
    const messages = client.serverStream({ hang: true, count: 3 }, { timeoutMs: 200 });
    assert.equal(await codeOf(collect(messages)), deadlineExceeded);
  },
  "cancelling a stream reaches its handler": async (client) => {
    const before = await cancelledCalls(client);
    const controller = new AbortController();
    const messages = client.serverStream({ data: bytes(10), hang: true, count: 1 }, { signal: controller.signal });
    const code = await codeOf((async () => {
      for await (const _ of messages) controller.abort();
    })());
    assert.equal(code, cancelled);
    await untilCancelled(client, before + 1);
  },
  "300 parallel streams": async (client) => {
    const streams = Array.from({ length: 300 }, () => collect(client.serverStream({ data: bytes(1_000), count: 20 })));
    assert.deepEqual((await Promise.all(streams)).map(({ length }) => length), new Array(300).fill(20));
  },
  "300 parallel calls, cancelled at once, five times": async (client) => {
    for (let round = 0; round < 5; round++) {
      const controller = new AbortController();
      const calls = Array.from(
        { length: 300 },
        () => codeOf(client.unary({ hang: true }, { signal: controller.signal })),
      );
      await client.unary({});
      controller.abort();
      assert.deepEqual(new Set(await Promise.all(calls)), new Set([cancelled]));
    }
    assert.equal((await client.unary({ data: bytes(5) })).message.data.length, 5);
  },
  "messages of 3 MB, each way": async (client) => {
    const data = bytes(3_000_000);
    const { message } = await client.unary({ data });
    assert.deepEqual(new Uint8Array(message.data), data);
    assert.equal((await client.clientStream(repeat({ data }, 3))).fail, "9000000");
    assert.equal((await collect(client.serverStream({ data, count: 3 }))).length, 3);
  },
};

/** Runs every check that `client` can do; `cannot` names those that its protocol lacks. */
export async function runChecks(client, cannot = []) {
  for (const [name, check] of Object.entries(checks)) {
    if (cannot.includes(name)) continue;
    try {
      await check(client);
      console.log(JSON.stringify({ name, ok: true }));
    } catch (error) {
      console.log(JSON.stringify({ name, ok: false, error: String(error?.stack ?? error) }));
    }
  }
}
