import { assert, assertEquals } from "@std/assert";
import { parseEndpoints, type RelayRoute, waysTo } from "../transport/endpoint.ts";
import type { Connector } from "../transport/transport.ts";
import { RelayChoice } from "./relay_choice.ts";

const connector = (transport: "quic" | "cells"): Connector => ({
  transport,
  carrier: transport === "quic" ? "udp" : "tcp",
  unusable: () => undefined,
  connect: () => Promise.reject(new Error("not here")),
});

class Stage {
  nowMs = 0;
  readonly ways: readonly RelayRoute[];
  readonly choice: RelayChoice;

  constructor(endpoint: string) {
    const trust = { caCerts: [], certificateHashes: [] };
    const connectors = [connector("quic"), connector("cells")];
    this.ways = waysTo(parseEndpoints(endpoint, trust), connectors, "auto");
    this.choice = new RelayChoice(this.ways, { nowMs: () => this.nowMs, random: Math.random });
  }

  get round(): string[] {
    return this.choice.round().map(({ connector, target }) =>
      `${connector.transport} ${target.host}`
    );
  }

  way(number: number): RelayRoute {
    const way = this.ways[number];
    assert(way !== undefined);
    return way;
  }
}

Deno.test("ways of one relay stay together, the best first, also when the list names its TCP address apart", () => {
  const stage = new Stage("quic://a:1,https://a:2,quic://b:1,https://b:2");
  for (let round = 0; round < 20; round++) {
    const hosts = stage.round.map((way) => way.slice(-1)).join("");
    assert(hosts === "aaabbb" || hosts === "bbbaaa", hosts);
    assertEquals(stage.round.filter((way) => way.endsWith("a")), ["quic a", "cells a", "cells a"]);
  }
});

Deno.test("a relay that was lost comes last for half a minute, and for longer when it says so", () => {
  const stage = new Stage("https://a,https://b,https://c");
  stage.choice.rest(stage.way(1));
  for (let round = 0; round < 20; round++) assertEquals(stage.round[2], "cells b");
  stage.nowMs = 10_000;
  stage.choice.rest(stage.way(0), 60_000);
  for (let round = 0; round < 20; round++) {
    assertEquals(stage.round, ["cells c", "cells b", "cells a"]);
  }
  assert(stage.choice.hasFresh);
  stage.nowMs = 30_001;
  for (let round = 0; round < 20; round++) assertEquals(stage.round[2], "cells a");
  stage.choice.rest(stage.way(1));
  stage.choice.rest(stage.way(2), 24 * 60 * 60 * 1000);
  assert(!stage.choice.hasFresh);
  stage.nowMs += 10 * 60 * 1000;
  assert(stage.choice.hasFresh, "nobody is sent away for a day");
});

Deno.test("a way that failed while another one to its relay worked comes last of that relay's ways for ten minutes", () => {
  const stage = new Stage("quic://a,quic://b");
  stage.choice.worked(stage.way(1), [stage.way(0)]);
  const ofA = (): string[] => stage.round.filter((way) => way.endsWith("a"));
  assertEquals(ofA(), ["cells a", "quic a"]);
  assertEquals(stage.round.filter((way) => way.endsWith("b")), ["quic b", "cells b"]);
  stage.nowMs = 10 * 60 * 1000 + 1;
  assertEquals(ofA(), ["quic a", "cells a"]);
});

Deno.test("one relay alone has no other to go to, and never rests", () => {
  const stage = new Stage("quic://a,https://a:5000");
  stage.choice.rest(stage.way(0), 60_000);
  assertEquals(stage.round, ["quic a", "cells a", "cells a"]);
  assert(!stage.choice.hasFresh);
});
