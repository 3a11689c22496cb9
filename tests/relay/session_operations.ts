/** Operations around a session: how it begins, is renewed, replaced and ended. */
import { limits, protocolVersion } from "../../proto/mod.ts";
import { type Relay, TestAgent } from "../support/relay/agent.ts";
import { check, failsWith } from "../support/runtime/suite.ts";

export async function ping(relay: Relay): Promise<void> {
  const client = await relay.open();
  const before = await client.call("Ping", {});
  check(Math.abs(before.relayTimeMs - Date.now()) < 60_000, "the relay's time is not the time");
  const agent = new TestAgent(relay, client, crypto.randomUUID());
  await agent.authenticate();
  const after = await client.call("Ping", {});
  check(after.relayTimeMs >= before.relayTimeMs, "time went back");
  client.close();
}

export async function authentication(relay: Relay): Promise<void> {
  const client = await relay.open();
  const agent = new TestAgent(relay, client, crypto.randomUUID());
  const challenge = { versions: [protocolVersion], features: [] };
  await failsWith("auth_failed", () => client.call("ListChannels", { limit: 1 }));
  await failsWith(
    "unsupported_version",
    () => client.call("GetChallenge", { ...challenge, versions: [99] }),
  );
  const first = await client.call("GetChallenge", challenge);
  const wrongOrigin = { ...agent.answer(first.nonce), origin: "quic://elsewhere:4433" };
  await failsWith("auth_failed", () => client.call("Authenticate", wrongOrigin));
  await failsWith("auth_failed", () => client.call("Authenticate", agent.answer(first.nonce)));
  const second = await client.call("GetChallenge", challenge);
  const forged = { ...agent.answer(second.nonce), signature: new Uint8Array(64) };
  await failsWith("auth_failed", () => client.call("Authenticate", forged));
  const third = await client.call("GetChallenge", challenge);
  const expired = agent.answer(third.nonce, agent.token(-1_000));
  await failsWith("auth_failed", () => client.call("Authenticate", expired));
  const fourth = await client.call("GetChallenge", challenge);
  const answer = agent.answer(fourth.nonce);
  const reply = await client.call("Authenticate", answer);
  check(reply.agentId === agent.agentId, "another agent id");
  check(reply.limits.payloadBytes === limits.payloadBytes, "other limits");
  await client.call("ListChannels", { limit: 1 });
  const other = await relay.open();
  await failsWith("auth_failed", () => other.call("Authenticate", answer));
  client.close();
  other.close();
}

export async function renewal(relay: Relay): Promise<void> {
  const agent = await TestAgent.connect(relay);
  const stranger = `${crypto.randomUUID()} ${Date.now() + 7_200_000}`;
  await failsWith("auth_failed", () => agent.client.call("RenewToken", { token: stranger }));
  const { expiresAtMs } = await agent.client.call("RenewToken", { token: agent.token(7_200_000) });
  check(expiresAtMs > Date.now() + 7_000_000, "the token was not renewed");
  agent.client.close();
}

export async function replacement(relay: Relay): Promise<void> {
  const agent = await TestAgent.connect(relay);
  const older = agent.client;
  const newer = await relay.open();
  await agent.authenticate(newer);
  check(await older.ended === "session_replaced", "the older session ended otherwise");
  check(
    older.notices.of("SessionEnding")[0]?.code === "session_replaced",
    "the older session was not told",
  );
  await failsWith("session_replaced", () => older.call("Ping", {}));
  await newer.call("ListChannels", { limit: 1 });
  newer.close();
}

export async function goodbye(relay: Relay): Promise<void> {
  const agent = await TestAgent.connect(relay);
  await agent.client.call("EndSession", {});
  check(await agent.client.ended === undefined, "an ordinary end has no code");
}
