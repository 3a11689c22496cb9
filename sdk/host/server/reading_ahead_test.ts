// Loops of quick programs, which get several messages at once: none is lost, none changes its
// place, and none is done with unseen.
import { assertEquals } from "@std/assert";
import { HostLink } from "../host_link.ts";
import type { ReadAhead } from "../read_ahead.ts";
import { readRemote } from "../remote_reader.ts";
import type { InboxReader } from "../../channel/runner/inbox_runner.ts";
import { eventually } from "../../../tests/support/mod.ts";
import { type Actor, name, runtime, Stage } from "../../../tests/support/scenario/stage.ts";
import { holdAlone } from "./connecting.ts";
import type { AgentHandle } from "./agent_handle.ts";
import { SharedAgent } from "./shared_agent.ts";
import { programWith } from "./testing/memory_program.ts";

const count = 120;
const ways: Readonly<Record<string, (actor: Actor) => Promise<() => AgentHandle>>> = {
  "a program that holds its agent": ({ manager }) =>
    Promise.resolve(() => ({
      ...holdAlone(manager.client, manager),
      close: () => Promise.resolve(),
    })),
  "a program of a host": async ({ agent }) => {
    const shared = await SharedAgent.over(agent);
    return () => shared.hold();
  },
};

/** A program whose loops are always quick, by their clock. */
class Program {
  readonly holding = new Set<ReadAhead>();
  readonly #program: ReturnType<typeof programWith>;
  readonly #link: HostLink;

  constructor(held: AgentHandle) {
    this.#program = programWith(held);
    this.#link = new HostLink({ runtime, find: () => Promise.resolve(this.#program.connection) });
  }

  loop(): InboxReader {
    for (const each of [...this.holding]) each.giveBack();
    const clock = { nowMs: () => 0, after: () => () => {} };
    return readRemote(this.#link, name, {}, {
      runtime: clock,
      holding: this.holding,
      onMissed: () => {},
    });
  }

  /** As the client's own `close`. */
  async close(): Promise<void> {
    for (const each of [...this.holding]) each.giveBack();
    await this.#link.close();
    this.#program.die();
  }
}

async function take(loop: InboxReader, number: number): Promise<number[]> {
  const got: number[] = [];
  while (got.length < number) got.push(Number((await loop.next()).value?.text()));
  return got;
}

async function unreadIs({ manager }: Actor, wanted: number): Promise<void> {
  const ask = async (): Promise<number> => (await manager.channel(name)).health().unread;
  await eventually({ what: `${wanted} messages unread` }, ask, (unread) => unread === wanted);
}

const from = (first: number, end: number): number[] =>
  Array.from({ length: end - first }, (_, i) => first + i);

for (const [who, way] of Object.entries(ways)) {
  Deno.test(`what ${who} has and has not seen comes to its next loop, to another program, and in order`, async () => {
    await using stage = await Stage.open();
    const [alice, bob] = [await stage.actor("alice"), await stage.actor("bob")];
    const channel = await alice.manager.create(name);
    await bob.manager.joinWithToken(name, await alice.manager.invite(name));
    await Promise.all(from(0, count).map((i) => channel.send(String(i))));
    const hold = await way(bob);
    await unreadIs(bob, count);
    const one = new Program(hold());
    const left = one.loop();
    assertEquals(await take(left, 20), from(0, 20));
    assertEquals(one.holding.size, 1, "several came at once");
    await left.return?.();
    const finished = one.loop();
    assertEquals(await take(finished, 20), from(19, 39), "the one that it worked on comes again");
    await finished.finish();
    assertEquals(await take(one.loop(), 20), from(39, 59), "its loop is forgotten, not ended");
    await one.close();
    const other = new Program(hold());
    const last = other.loop();
    assertEquals(await take(last, count - 58), from(58, count));
    await last.finish();
    await unreadIs(bob, 0);
    await other.close();
  });
}
