/**
 * OpenMLS, the implementation that most others stand on, is the third judge of our groups: it reads
 * our KeyPackages, lets them in, and joins by our Welcomes once their layer is off.
 */
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { assert, assertEquals } from "@std/assert";
import { tried } from "../../tests/support/campaign.ts";
import { createRandom } from "../../tests/support/mod.ts";
import { createProject } from "../../tools/bundle.ts";
import { newSealing } from "./sealing_rules.ts";
import {
  loadOpenMls,
  type OpenMls,
  OpenMlsPeer,
  readByOpenMls,
  welcomeByOpenMls,
} from "./testing/open_mls_peer.ts";
import { withoutLayer } from "./testing/without_layer.ts";
import { World } from "./testing/world.ts";
import { encodeKeyPackage } from "./ts_mls.ts";
import { decodeWelcomeMessage, openWelcome } from "./welcome.ts";

/** OpenMLS looks at the machine's clock. */
const tomorrow = Date.now() + 86_400_000;
const anything = (): undefined => undefined;

async function withOpenMls(test: (openMls: OpenMls) => Promise<void>): Promise<void> {
  await using project = await createProject(["mls-ts"]);
  await test(await loadOpenMls(project.folder));
}

Deno.test("OpenMLS reads our KeyPackages, with the key for the layer and without", () =>
  withOpenMls(async (openMls) => {
    const agent = new World(createRandom(54)).newAgent();
    for (
      const own of [
        agent.createKeyPackage(tomorrow),
        await agent.createSealedKeyPackage(tomorrow),
      ]
    ) {
      assertEquals(readByOpenMls(openMls, own), encodeKeyPackage(own.keyPackage));
      // And lets it in: both sides know the KeyPackage by the same reference.
      const { welcome } = welcomeByOpenMls(openMls, own);
      const decoded = decodeWelcomeMessage(welcome);
      assertEquals(decoded.secrets.map(({ newMember }) => newMember), [own.reference]);
      const { groupInfo } = openWelcome(decoded, own, agent.deps);
      assertEquals(groupInfo.groupContext.epoch, 1n);
    }
  }));

Deno.test("OpenMLS joins a sealed channel by our Welcome with the layer taken off, and both talk", () =>
  withOpenMls(async (openMls) => {
    const world = new World(createRandom(55));
    const owner = await world.create(newSealing("require"));
    const [bob, joiner] = [world.newAgent(), world.newAgent()];
    await world.add(owner, bob);
    // A leaf that its member has renewed has no lifetime any more.
    for (const agent of [owner, bob]) {
      await agent.sync();
      await world.commit(agent, () => ({ forcePath: true }));
    }
    await owner.sync();
    const own = await joiner.createSealedKeyPackage(tomorrow);
    await world.commit(owner, () => ({ add: [own.keyPackage] }));
    await bob.sync();
    const welcome = world.log.at(-1)?.welcome?.bytes;
    assert(welcome !== undefined);
    const peer = new OpenMlsPeer(openMls, {
      own,
      identity: joiner.identity,
      welcome: await withoutLayer(welcome, own, joiner.deps.signatures),
      ratchetTree: owner.member.current.tree.encode(),
    });
    const hear = async (text: string): Promise<void> => {
      const bytes = peer.say(utf8ToBytes(text));
      for (const agent of [owner, bob]) {
        const { outcome } = await agent.joined.receive(bytes, anything);
        assert(outcome.kind === "message", JSON.stringify(outcome));
        assertEquals([outcome.payload, outcome.sender.agentId], [utf8ToBytes(text), joiner.id]);
      }
    };
    await hear("said by OpenMLS");
    // OpenMLS follows our commits: one that heals, and one that lets somebody in.
    await world.commit(owner, () => ({ forcePath: true }));
    const commits = [world.log.at(-1)];
    await bob.sync();
    const { keyPackage } = await world.newAgent().createSealedKeyPackage(tomorrow);
    await world.commit(bob, () => ({ add: [keyPackage] }));
    commits.push(world.log.at(-1));
    await owner.sync();
    for (const commit of commits) {
      assert(commit !== undefined);
      peer.receive(commit.bytes);
    }
    const text = utf8ToBytes("said by ours");
    const { message } = await owner.joined.seal(text, new Uint8Array(0));
    assertEquals(peer.receive(message), text);
    await bob.joined.receive(message, anything);
    await hear("said behind two commits");
    tried("a KeyPackage with and one without the key; one group that OpenMLS joined");
  }));
