// Requests and replies between agents on one relay: how often handlers run, through crashes, lost
// replies and lies.
import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { concatBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import { assert, assertEquals, assertNotEquals, assertRejects } from "@std/assert";
import {
  binaryIdToBytes,
  encodeBase64url,
  encodeContent,
  type MessageId,
  readPrivateMessageHeader,
  replySecretBytes,
} from "../../../proto/mod.ts";
import { type Channel, InvalidArgumentError, RemoteError, StaticError } from "../../../sdk/mod.ts";
import { createError } from "../../../sdk/testing/agents.ts";
import { type Actor, name, Stage, until } from "../../support/scenario/stage.ts";

async function codeOf(act: Promise<unknown>): Promise<string> {
  return await act.then(
    () => "fulfilled",
    (error: unknown) => error instanceof StaticError ? error.code : String(error),
  );
}

/** Alice asks, bob serves. */
async function createPair(
  stage: Stage,
): Promise<{ alice: Actor; bob: Actor; asking: Channel; serving: Channel }> {
  const { alice, bob } = await stage.pair();
  return { alice, bob, asking: await alice.channel(), serving: await bob.channel() };
}

Deno.test("a request gets the value that its handler returns, and neither shows among messages", async () => {
  await using stage = await Stage.open();
  const { alice, bob, asking, serving } = await createPair(stage);
  serving.serve((request) => ({
    json: { heard: request.json(), by: request.sender.identity, attempt: request.attempt },
  }));
  const reply = await asking.request({ json: [1, 2] }, { to: bob.client.agentId });
  assertEquals(reply.json(), { heard: [1, 2], by: "alice", attempt: 1 });
  assertEquals([reply.kind, reply.contentType, reply.sender.identity], [
    "reply",
    "application/json",
    "bob",
  ]);
  assertEquals(await serving.receive({ timeoutMs: 50 }), undefined);
  assertEquals(await asking.receive({ timeoutMs: 50 }), undefined);
  await until(
    "everything is acknowledged",
    () => asking.health().unread === 0 && serving.health().unread === 0,
  );
  assertEquals(await codeOf(asking.request("?", { to: alice.client.agentId })), "invalid_request");
});

Deno.test("a handler's RemoteError arrives with its code and text, any other error without its text", async () => {
  await using stage = await Stage.open();
  const { bob, asking, serving } = await createPair(stage);
  const events = serving.events();
  serving.serve((request) => {
    if (request.text() === "known") {
      throw new RemoteError("no such city", { remoteCode: "no_such_city" });
    }
    throw new Error("password=swordfish");
  });
  const to = bob.client.agentId;
  const known = await assertRejects(() => asking.request("known", { to }), RemoteError);
  assertEquals([known.code, known.remoteCode, known.message, known.retryable], [
    "remote_error",
    "no_such_city",
    "no such city",
    false,
  ]);
  const other = await assertRejects(() => asking.request("other", { to }), RemoteError);
  assertEquals([other.remoteCode, other.message.includes("swordfish")], ["handler_failed", false]);
  for (const text of ["no such city", "password=swordfish"]) {
    const { value } = await events.next();
    assert(
      value?.type === "handler_failed" && value.error instanceof Error &&
        value.error.message === text,
    );
  }
  const [issue] = serving.health().issues;
  assertEquals([issue?.kind, issue?.count, issue?.text.includes("swordfish")], [
    "handler_failed",
    1,
    false,
  ]);
});

Deno.test("a request to somebody offline waits for it, and not beyond its deadline", async () => {
  await using stage = await Stage.open();
  const { alice, bob, asking } = await createPair(stage);
  const to = bob.client.agentId;
  await bob.stop();
  const deadlineMs = alice.agent.relayNowMs + 250;
  const [answered, late] = [
    asking.request("soon", { to }),
    asking.request("late", { to, timeoutMs: 200 }),
  ];
  assertEquals(await codeOf(late), "request_timeout");
  await until("the relay's clock says so too", () => alice.agent.relayNowMs > deadlineMs);
  await bob.start();
  const handled: string[] = [];
  (await bob.channel()).serve((request) => void handled.push(request.text()));
  await answered;
  assertEquals(handled, ["soon"]);
  await until("the late one is consumed", async () => (await bob.channel()).health().unread === 0);
});

Deno.test("several members: one answer for each, as they come, failures among them", async () => {
  await using stage = await Stage.open();
  const { alice, bob, asking, serving } = await createPair(stage);
  const [carol, dave] = [await stage.actor("carol"), await stage.actor("dave")];
  for (const guest of [carol, dave]) {
    await guest.client.joinChannel(
      name,
      await asking.addMember(await guest.client.generateKeyPackage()),
    );
  }
  serving.serve(() => "yes");
  (await carol.channel()).serve(() => {
    throw new RemoteError("no");
  });
  const others = asking.members().filter(({ self }) => !self);
  const list: unknown = others;
  // cast: what a program without types may do
  const asOne = asking.request("?", { to: list as string });
  await assertRejects(() => asOne, InvalidArgumentError, "requestAll");
  const answers = new Map<string, string>();
  for await (const answer of asking.requestAll("?", { to: others, timeoutMs: 1000 })) {
    answers.set(answer.from, answer.ok ? answer.reply.text() : answer.error.code);
  }
  assertEquals(Object.fromEntries(answers), {
    [bob.client.agentId]: "yes",
    [carol.client.agentId]: "remote_error",
    [dave.client.agentId]: "request_timeout",
  });
  const gone = asking.request("?", { to: dave.client.agentId });
  await alice.client.channel(name).then((channel) => channel.removeMember(dave.client.agentId));
  assertEquals(await codeOf(gone), "not_found");
});

Deno.test("a handler that is killed while it runs gets the request again, with the attempt counted", async () => {
  await using stage = await Stage.open();
  const { bob, asking, serving } = await createPair(stage);
  const attempts: number[] = [];
  serving.serve((request) => {
    attempts.push(request.attempt);
    return new Promise(() => {});
  });
  const reply = asking.request("?", { to: bob.client.agentId });
  await until("it runs", () => attempts.length === 1);
  await bob.crash();
  (await bob.channel()).serve((request) => {
    attempts.push(request.attempt);
    return "done";
  });
  assertEquals((await reply).text(), "done");
  assertEquals(attempts, [1, 2]);
});

Deno.test("a request whose reply the relay has accepted is not run again, whatever its handler knows of it", async () => {
  await using stage = await Stage.open();
  const { bob, asking, serving } = await createPair(stage);
  let runs = 0;
  serving.serve(() => {
    runs++;
    // The relay takes the reply, and the handler's process never hears of it.
    bob.session.loseReplies = 1;
    return "once";
  });
  assertEquals((await asking.request("?", { to: bob.client.agentId })).text(), "once");
  await bob.crash();
  const again = await bob.channel();
  again.serve(() => {
    runs++;
    return "twice";
  });
  await until("it is consumed", () => again.health().unread === 0 && again.health().state === "ok");
  assertEquals(runs, 1);
  assertEquals((await asking.request("?", { to: bob.client.agentId })).text(), "twice");
  assertEquals(asking.health().issues, []);
});

Deno.test("a reply that the relay refuses is tried again until the deadline, and its handler does not run again", async () => {
  await using stage = await Stage.open();
  const { bob, asking, serving } = await createPair(stage);
  let [runs, refused] = [0, 0];
  bob.session.tampering = {
    call: (operation, _, forward) => {
      if (operation !== "SendMessage" || refused > 0) return forward();
      refused++;
      return Promise.reject(createError("mls_error", "out of step for a while"));
    },
  };
  const events = serving.events();
  serving.serve(() => `run ${++runs}`);
  assertEquals((await asking.request("?", { to: bob.client.agentId })).text(), "run 1");
  assertEquals([runs, refused], [1, 1]);
  const { value } = await events.next();
  assertEquals(value?.type, "reply_failed");
  await until("it is acknowledged", () => serving.health().unread === 0);
});

Deno.test("a requester that is killed finds its reply by the request's key, without a second run", async () => {
  await using stage = await Stage.open();
  const { alice, bob, asking, serving } = await createPair(stage);
  let runs = 0;
  const release = Promise.withResolvers<void>();
  serving.serve(async (request) => {
    runs++;
    await release.promise;
    return `${request.text()} shipped`;
  });
  const to = bob.client.agentId;
  asking.request("17", { to, key: "order-17" }).catch(() => {});
  await until("it runs", () => runs === 1);
  await alice.crash();
  release.resolve();
  await until("it has replied", () => serving.health().unread === 0);
  await until("the reply is acknowledged", async () => {
    const { state, unread } = (await alice.channel()).health();
    return state === "ok" && unread === 0;
  });
  await alice.crash();
  const reply = await (await alice.channel()).request("17", { to, key: "order-17" });
  assertEquals([reply.text(), reply.sender.identity, runs], ["17 shipped", "bob", 1]);
});

Deno.test("a request with a key that was answered is answered again until its deadline, also after a crash and after its handler has left", async () => {
  await using stage = await Stage.open();
  const { alice, bob, asking, serving } = await createPair(stage);
  const carol = await stage.actor("carol");
  await carol.client.joinChannel(
    name,
    await asking.addMember(await carol.client.generateKeyPackage()),
  );
  let runs = 0;
  serving.serve(() => `run ${++runs}`);
  const to = bob.client.agentId;
  const ask = async (channel: Channel, timeoutMs = 60_000): Promise<string> =>
    (await channel.request("17", { to, key: "order-17", timeoutMs })).text();
  assertEquals([await ask(asking), await ask(asking)], ["run 1", "run 1"]);
  await alice.crash();
  assertEquals(await ask(await alice.channel()), "run 1");
  const others = asking.request("17", { to: carol.client.agentId, key: "order-17" });
  assertEquals(await codeOf(others), "invalid_request", "a key is for the same members");
  await (await alice.channel()).removeMember(to);
  assertEquals(await ask(await alice.channel()), "run 1", "it replied before it left");
  assertEquals(runs, 1);
});

Deno.test("a key is free again when its deadline is over", async () => {
  await using stage = await Stage.open();
  const { bob, asking, serving } = await createPair(stage);
  let runs = 0;
  serving.serve(() => `run ${++runs}`);
  const options = { to: bob.client.agentId, key: "order-17", timeoutMs: 500 };
  assertEquals((await asking.request("17", options)).text(), "run 1");
  await until(
    "it is asked anew",
    async () => (await asking.request("17", options)).text() === "run 2",
  );
});

Deno.test("giving up a request with a key forgets nothing", async () => {
  await using stage = await Stage.open();
  const { bob, asking, serving } = await createPair(stage);
  let runs = 0;
  const release = Promise.withResolvers<void>();
  serving.serve(async () => {
    runs++;
    await release.promise;
    return "shipped";
  });
  const given = new AbortController();
  const options = { to: bob.client.agentId, key: "order-17" };
  const first = codeOf(asking.request("17", { ...options, signal: given.signal }));
  await until("it runs", () => runs === 1);
  given.abort(new Error("enough"));
  assertEquals(await first, "Error: enough");
  release.resolve();
  await until(
    "the reply is acknowledged",
    () => serving.health().unread === 0 && asking.health().unread === 0,
  );
  assertEquals([(await asking.request("17", options)).text(), runs], ["shipped", 1]);
});

Deno.test("some of several members have replied when the requester is killed: their replies are kept, the others awaited", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  const runs: string[] = [];
  const release = Promise.withResolvers<void>();
  (await bob.channel()).serve(() => {
    runs.push("bob");
    return "bob";
  });
  (await carol.channel()).serve(async () => {
    runs.push("carol");
    await release.promise;
    return "carol";
  });
  const to = [bob.client.agentId, carol.client.agentId];
  const answers = (await alice.channel()).requestAll("?", { to, key: "vote" });
  const { value } = await answers.next();
  assert(value?.ok === true && value.reply.text() === "bob");
  await until("carol runs", () => runs.length === 2);
  await alice.crash();
  const replies: string[] = [];
  const again = (await alice.channel()).requestAll("?", { to, key: "vote" });
  for await (const answer of again) {
    replies.push(answer.ok ? answer.reply.text() : answer.error.code);
    release.resolve();
  }
  assertEquals([replies, runs.sort()], [["bob", "carol"], ["bob", "carol"]]);
});

Deno.test("the relay cannot tell which reply belongs to which request", async () => {
  await using stage = await Stage.open();
  const { alice, bob, asking, serving } = await createPair(stage);
  const ids: string[] = [];
  for (const { session } of [alice, bob]) {
    session.tampering = {
      call: (operation, body, forward) => {
        if (operation === "SendMessage") {
          ids.push((body as { readonly messageId: MessageId }).messageId); // cast: its body
        }
        return forward();
      },
    };
  }
  serving.serve(() => "yes");
  await asking.request("?", { to: bob.client.agentId, key: "order-17" });
  const [request, reply] = ids;
  assert(request !== undefined && reply !== undefined && ids.length === 2);
  const members = asking.members().map(({ agentId }) => utf8ToBytes(agentId));
  for (const from of members) {
    for (const handler of members) {
      const parts = concatBytes(
        utf8ToBytes("static reply\0"),
        binaryIdToBytes(request as MessageId),
        from,
        handler,
      ); // cast: seen above
      for (const digest of [sha256(parts), hmac(sha256, new Uint8Array(replySecretBytes), parts)]) {
        assertNotEquals(reply, encodeBase64url(digest.subarray(0, 16)));
      }
    }
    const guess = sha256(
      concatBytes(utf8ToBytes("static request\0"), from, utf8ToBytes("order-17")),
    );
    assertNotEquals(request, encodeBase64url(guess.subarray(0, 16)));
  }
});

Deno.test("a reply that nobody asked for holds nothing up", async () => {
  await using stage = await Stage.open();
  const { alice, bob, asking, serving } = await createPair(stage);
  const release = Promise.withResolvers<void>();
  let runs = 0;
  serving.serve(async () => {
    runs++;
    await release.promise;
  });
  asking.request("?", { to: bob.client.agentId }).catch(() => {});
  await until("it runs", () => runs === 1);
  await alice.crash();
  release.resolve();
  await serving.send("after it");
  const channel = await alice.channel();
  assertEquals((await channel.receiveEnvelope())?.text(), "after it");
  await until("it has replied", () => serving.health().unread === 0);
  await serving.send("after the reply");
  assertEquals((await channel.receiveEnvelope())?.text(), "after the reply");
  await until(
    "only the message that was given is not acknowledged",
    () => channel.health().unread === 1,
  );
});

Deno.test("one handler at a time, in as many requests as it wants, and none after stop()", async () => {
  await using stage = await Stage.open();
  const { bob, asking, serving } = await createPair(stage);
  let [running, most, handled] = [0, 0, 0];
  const serve = serving.serve(async () => {
    most = Math.max(most, ++running);
    await new Promise((resolve) => setTimeout(resolve, 5)); // wait: work that takes its time
    running--;
    handled++;
  }, { concurrency: 3 });
  let refused: unknown;
  try {
    serving.serve(() => {});
  } catch (error) {
    refused = error;
  }
  assert(refused instanceof InvalidArgumentError);
  const to = bob.client.agentId;
  await Promise.all(Array.from({ length: 12 }, () => asking.request("?", { to })));
  assertEquals([most, handled], [3, 12]);
  await serve.stop();
  await serve.ended;
  assertEquals(await codeOf(asking.request("?", { to, timeoutMs: 200 })), "request_timeout");
  assertEquals(handled, 12);
});

Deno.test("close() waits for handlers that run, and their replies are sent; for a while", async () => {
  await using stage = await Stage.open();
  const { bob, asking, serving } = await createPair(stage);
  const release = Promise.withResolvers<string>();
  const running: string[] = [];
  serving.serve((request) => {
    running.push(request.text());
    return request.text() === "short" ? release.promise : new Promise(() => {});
  });
  const to = bob.client.agentId;
  const reply = asking.request("short", { to });
  await until("it runs", () => running.length === 1);
  const closed = bob.client.close();
  const late = asking.request("after close() was called", { to });
  release.resolve("done");
  assertEquals((await reply).text(), "done");
  await closed;
  assertEquals(running, ["short"], "nothing more is begun");
  const { after } = bob;
  bob.after = (ms, run) => after(ms === 5000 ? 50 : ms, run);
  await bob.start();
  (await bob.channel()).serve((request) => {
    running.push(request.text());
    return new Promise(() => {});
  });
  await until("the other runs", () => running.length === 2);
  await bob.client.close();
  await bob.start();
  (await bob.channel()).serve((request) => `attempt ${request.attempt}`);
  assertEquals((await late).text(), "attempt 2");
});

Deno.test("replies of others, under other ids, and requests that repeat an id are told apart", async () => {
  await using stage = await Stage.open();
  const { alice, bob, asking, serving } = await createPair(stage);
  const mallory = await stage.actor("mallory");
  await mallory.client.joinChannel(
    name,
    await asking.addMember(await mallory.client.generateKeyPackage()),
  );
  const inside = await mallory.inside();
  const [from, to] = [alice.client.agentId, bob.client.agentId];
  const expiryMs = alice.agent.relayNowMs + 60_000;
  let requests = 0;
  serving.serve(async (request) => {
    if (request.sender.agentId !== from) return void requests++;
    const body = new TextEncoder().encode("mallory");
    const lie = encodeContent({
      kind: "reply",
      fields: { to: [from], expiryMs, replyTo: request.id },
      body,
    });
    // Replies of somebody who was not asked, and of bob under an id that is not derived; a request
    // under alice's id.
    await inside.send(lie);
    await (await bob.inside()).send(lie);
    const repeated = {
      to: [to],
      deadlineMs: expiryMs,
      replySecret: new Uint8Array(replySecretBytes),
    };
    await inside.send(encodeContent({ kind: "request", fields: repeated, body }), {
      id: request.id,
    });
    await until("bob has served mallory", () => requests === 1);
    return "bob";
  });
  assertEquals((await asking.request("?", { to })).text(), "bob");
  await until(
    "all of it is consumed",
    () => asking.health().unread === 0 && serving.health().unread === 0,
  );
  assertEquals(asking.health().issues.map(({ kind }) => kind), ["bad_content"]);
});

Deno.test("requests that nobody serves are bounded, each sender's to a half, and cost no message", async () => {
  await using stage = await Stage.open();
  const { bob, asking, serving } = await createPair(stage);
  const dropped: string[] = [];
  const events = serving.events();
  void (async () => {
    for await (const event of events) if (event.type === "request_dropped") dropped.push(event.id);
  })();
  const big = new Uint8Array(1024 * 1024);
  const to = bob.client.agentId;
  const asked = Array.from(
    { length: 6 },
    () => asking.request(big, { to, timeoutMs: 60_000 }).then((reply) => reply.text()),
  );
  for (const each of asked) each.catch(() => {});
  await asking.send("hello");
  assertEquals((await serving.receiveEnvelope())?.text(), "hello");
  assertEquals(dropped.length, 4);
  const carol = await stage.actor("carol");
  await carol.client.joinChannel(
    name,
    await asking.addMember(await carol.client.generateKeyPackage()),
  );
  const other = (await carol.channel()).request(big, { to });
  await until("both wait", () => serving.health().unread === 4);
  serving.serve((request) => request.sender.identity);
  assertEquals([await Promise.any(asked), (await other).text()], ["alice", "carol"]);
});

Deno.test("messages that nobody reads are told by health(), and a channel without messages serves requests behind any number", async () => {
  await using stage = await Stage.open();
  const { asking, serving: deaf } = await createPair(stage);
  const carol = await stage.actor("carol");
  const welcome = await asking.addMember(await carol.client.generateKeyPackage());
  const serving = await carol.client.joinChannel(name, welcome, { receive: false });
  serving.serve(() => "served");
  const big = new Uint8Array(1024 * 1024);
  for (let i = 0; i < 9; i++) await asking.send(big);
  assertEquals((await asking.request("?", { to: carol.client.agentId })).text(), "served");
  await until("all is acknowledged", () => serving.health().unread === 0);
  await until(
    "it is told",
    () => deaf.health().issues.some(({ kind }) => kind === "unread_messages"),
  );
  assertEquals(serving.health().issues, []);
});

Deno.test("the relay sees the same of bytes, JSON, a request and its reply of one length", async () => {
  await using stage = await Stage.open();
  const { alice, bob, asking, serving } = await createPair(stage);
  const sent: string[] = [];
  for (const { session } of [alice, bob]) {
    session.tampering = {
      call: (operation, body, forward) => {
        const { ciphertext } = body as { readonly ciphertext?: Uint8Array };
        if (operation === "SendMessage") {
          sent.push(`${operation} ${ciphertext?.length} ${clearPart(ciphertext)}`);
        }
        return forward();
      },
    };
  }
  serving.serve((request) => request.bytes);
  for (const length of [2, 100, 1000, 3500]) {
    const text = "x".repeat(length - 2);
    const before = sent.length;
    await asking.send(new Uint8Array(length));
    await asking.send({ json: text });
    await asking.request(new Uint8Array(length), { to: bob.client.agentId });
    assertEquals(sent.length - before, 4, "one entry each: bytes, JSON, request, reply");
    assertEquals(
      new Set(sent.slice(before)).size,
      1,
      `${length} bytes: ${sent.slice(before).join()}`,
    );
  }
});

/** The part before the encrypted parts, without group, epoch, id and counter: lengths and kinds. */
function clearPart(ciphertext: Uint8Array | undefined): string {
  const header = readPrivateMessageHeader(ciphertext ?? new Uint8Array(0));
  return `${header.contentType} ${header.authenticatedData.length}`;
}
