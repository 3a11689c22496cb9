import { assert, assertEquals } from "@std/assert";
import type { ClientEnvelope } from "../../proto/mod.ts";
import type { Connector } from "../transport/transport.ts";
import { Bench } from "./testing/bench.ts";
import { type RelayLink, ScriptedRelay } from "./testing/scripted_relay.ts";

type Script = (link: RelayLink, request: ClientEnvelope) => boolean | void;

/** A session with relays `r0`, `r1`, … of one service. */
class Service {
  readonly bench: Bench;
  readonly relays: readonly ScriptedRelay[];
  readonly scripts: Script[] = [];

  constructor(count: number) {
    this.relays = Array.from({ length: count }, (_, index) =>
      new ScriptedRelay({
        nowMs: () => Math.round(this.bench.clock.nowMs()),
        script: (link, request) => this.scripts[index]?.(link, request),
      }));
    const connector: Connector = {
      ...new ScriptedRelay({ nowMs: () => 0 }).connector(),
      connect: (target, signal) => this.#relay(target.host).connector().connect(target, signal),
    };
    const endpoint = this.relays.map((_, index) => `quic://r${index}`).join(",");
    this.bench = new Bench({ endpoint, connectors: () => [connector] });
  }

  /** The number of the relay with an open link. */
  async online(withinMs?: number): Promise<number> {
    await this.bench.online(withinMs);
    return this.relays.findIndex(({ links }) => links.some(({ isOpen }) => isOpen));
  }

  /** Connections that each relay was asked for. */
  get asked(): number[] {
    return this.relays.map(({ links, refused }) => links.length + refused);
  }

  relay(number: number): ScriptedRelay {
    const relay = this.relays[number];
    assert(relay !== undefined);
    return relay;
  }

  #relay(host: string): ScriptedRelay {
    return this.relay(Number(host.slice(1)));
  }
}

const refuse =
  (code: "overloaded" | "unsupported_version" | "rate_limited", retryAfterMs?: number): Script =>
  (link, { id, operation }) => {
    if (operation !== "GetChallenge") return false;
    link.error(id, code, retryAfterMs === undefined ? {} : { retryAfterMs });
    return true;
  };

Deno.test("agents spread over the relays of a service by chance", async () => {
  const seen = [0, 0, 0];
  for (let agent = 0; agent < 60; agent++) {
    const service = new Service(3);
    const relay = await service.online();
    seen[relay] = (seen[relay] ?? 0) + 1;
    assertEquals(service.asked.reduce((sum, count) => sum + count), 1);
    await service.bench.close();
  }
  // One of three is left out, or has less than five of 60, once in 10^5 runs.
  assert(seen.every((count) => count >= 5), seen.join());
});

Deno.test("an agent whose relay is lost goes to another one at once, and to each in turn", async () => {
  const service = new Service(3);
  const visited = new Set<number>();
  for (let loss = 0; loss < 3; loss++) {
    const relay = await service.online(1_000);
    visited.add(relay);
    service.relay(relay).last.hangUp();
  }
  assertEquals(visited.size, 3);
  await service.bench.close();
});

Deno.test("an agent that its relay sends away does not wait for that relay's time when another one is there", async () => {
  const service = new Service(2);
  const relay = await service.online();
  const { last } = service.relay(relay);
  last.notice("SessionEnding", {
    code: "relay_draining",
    message: "going away",
    retryAfterMs: 5_000,
  });
  last.hangUp();
  assertEquals(await service.online(300), 1 - relay);
  await service.bench.close();
});

for (const code of ["overloaded", "unsupported_version"] as const) {
  Deno.test(`a relay that refuses with ${code} is passed over`, async () => {
    const service = new Service(3);
    for (const number of [0, 1]) service.scripts[number] = refuse(code, 60_000);
    assertEquals(await service.online(50), 2);
    await service.bench.close();
  });
}

Deno.test("a relay that cannot be reached is passed over", async () => {
  const service = new Service(2);
  service.relay(0).unreachable = new Error("nobody listens there");
  assertEquals(await service.online(50), 1);
  await service.bench.close();
});

Deno.test("when every relay refuses, each is asked once a round, and the next round waits for the earliest time", async () => {
  const service = new Service(2);
  service.scripts[0] = refuse("overloaded", 4_000);
  service.scripts[1] = refuse("overloaded", 9_000);
  await service.bench.clock.advance(100);
  assertEquals(service.asked, [1, 1]);
  const { state } = service.bench.session;
  assert(
    state.kind === "offline" && state.error.code === "overloaded" &&
      state.error.retryAfterMs === 4_000,
  );
  await service.bench.clock.advance(3_800);
  assertEquals(service.asked, [1, 1]);
  await service.bench.clock.advance(state.retryAtMs - service.bench.clock.nowMs() + 10);
  assertEquals(service.asked, [2, 2]);
  await service.bench.close();
});

Deno.test("a refusal that every relay would repeat is not taken to another one, and its time counts", async () => {
  const service = new Service(3);
  for (const number of [0, 1, 2]) service.scripts[number] = refuse("rate_limited", 20_000);
  await service.bench.clock.advance(15_000);
  assertEquals(service.asked.reduce((sum, count) => sum + count), 1);
  await service.bench.close();
});

Deno.test("rounds in which no relay can be reached become rarer, up to one in 15 seconds", async () => {
  const service = new Service(3);
  for (const relay of service.relays) relay.unreachable = new Error("nobody listens there");
  await service.bench.clock.advance(600_000);
  const [rounds = 0] = service.asked;
  assertEquals(service.asked, [rounds, rounds, rounds]);
  assert(rounds >= 600 / 15 && rounds <= 600 / 7.5 + 8, String(rounds));
  await service.bench.close();
});
