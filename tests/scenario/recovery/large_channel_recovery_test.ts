/**
 * A large channel on a real relay over QUIC, killed by a member and begun anew by its owner: how
 * long it takes until the last member is back, and an audit that nothing is lost which was readable
 * before. Fifty members in a campaign.
 */
import { assert, assertEquals } from "@std/assert";
import { platform } from "../../../sdk/platform/deno.ts";
import { grantedToken, openTestRelay } from "../../../relay/testing/open_relay.ts";
import { type Channel, ChannelManager, type ConnectOptions } from "../../../sdk/mod.ts";
import { type Agent, connectAgent } from "../../../sdk/testing/agents.ts";
import { createCertificate } from "../../support/mod.ts";
import { bogusCommit } from "../../support/scenario/bad_commits.ts";
import { name, until } from "../../support/scenario/stage.ts";

const isStress = Deno.env.get("STATIC_STRESS") === "1";
const size = isStress ? 50 : 6;
const account = crypto.randomUUID();

interface Member {
  readonly agent: Agent;
  readonly manager: ChannelManager;
  readonly channel: Channel;
}

/** The next messages as text. Asking for one more says that the last is done with. */
async function readAll(channel: Channel, count: number): Promise<string[]> {
  const texts: string[] = [];
  while (texts.length < count) {
    const envelope = await channel.receiveEnvelope({ timeoutMs: 60_000 });
    if (envelope === undefined) break;
    texts.push(new TextDecoder().decode(envelope.payload));
  }
  await channel.receiveEnvelope({ timeoutMs: 1 });
  return texts;
}

Deno.test(`a channel of ${size} comes back after a bad commit, and nothing is lost that was readable before`, async () => {
  const folder = await Deno.makeTempDir();
  const certificate = await createCertificate();
  const relay = await openTestRelay({ certificate });
  const members: Member[] = [];
  const connect = async (identity: string): Promise<Agent> => {
    const options: ConnectOptions = {
      identity,
      dataDir: `${folder}/${identity}`,
      endpoint: `quic://localhost:${relay.quicPort}`,
      token: () => Promise.resolve(grantedToken(account)),
      tls: { caCerts: [certificate.cert] },
      cover: { mode: "off" },
    };
    return await connectAgent(options, platform);
  };
  try {
    for (let i = 0; i < size; i++) {
      const agent = await connect(`agent-${i}`);
      const manager = await ChannelManager.over(agent);
      const [owner] = members;
      if (owner === undefined) await manager.create(name);
      else await manager.joinWithToken(name, await owner.manager.invite(name));
      members.push({ agent, manager, channel: await manager.channel(name) });
    }
    const [owner, killer] = members;
    assert(owner && killer);
    await until(
      "all agree",
      () => new Set(members.map(({ channel }) => channel.fingerprint())).size === 1,
    );
    for (const [i, { channel }] of members.entries()) await channel.send(`before ${i}`);
    const others = members.filter((member) => member !== killer);
    await until(
      "all have arrived",
      () => others.every(({ channel }) => channel.health().unread === size - 1),
    );

    const startedMs = performance.now();
    await killer.agent.parts.session.call("SendCommit", await bogusCommit(killer.agent, name));
    await until(
      "all are stopped",
      () => others.every(({ channel }) => channel.health().state === "stopped"),
    );
    const stoppedMs = performance.now();
    // Earlier messages are still to be read; with the last of them a member asks whether somebody
    // can follow.
    const texts = await Promise.all(others.map(({ channel }) => readAll(channel, size - 1)));
    await until("recovery is offered", () => owner.channel.health().recoverable === true, 120_000);
    const offeredMs = performance.now();
    await owner.channel.recover();
    const foundedMs = performance.now();
    await until(
      "all are back",
      () => others.every(({ channel }) => channel.health().state === "ok"),
      120_000,
    );
    const backMs = performance.now();
    assertEquals(new Set(others.map(({ channel }) => channel.fingerprint())).size, 1);
    assertEquals(owner.channel.members().length, size - 1);

    // The audit: every member has read every other's message once, and hears every other's next
    // one.
    for (const [i, read] of texts.entries()) {
      const own = members.indexOf(others[i] ?? owner);
      const expected = members.map((_, each) => `before ${each}`).filter((_, each) => each !== own);
      assertEquals(read.toSorted(), expected.toSorted(), `agent-${own} has read something else`);
    }
    await owner.channel.send("after");
    for (const { channel } of others.slice(1)) assertEquals(await readAll(channel, 1), ["after"]);
    for (const { channel } of others) {
      assertEquals(
        channel.health().issues.filter(({ kind }) =>
          kind === "rejoined" || kind === "missing_messages"
        ),
        [],
      );
    }
    const ms = (from: number, to: number): number => Math.round(to - from);
    console.log(JSON.stringify({
      members: size,
      stoppedMs: ms(startedMs, stoppedMs),
      readAndAskedMs: ms(stoppedMs, offeredMs),
      foundMs: ms(offeredMs, foundedMs),
      followMs: ms(foundedMs, backMs),
    }));
  } finally {
    for (const { manager } of members) await manager.close();
    await relay.close();
    await Deno.remove(folder, { recursive: true });
  }
});
