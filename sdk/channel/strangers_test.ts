import { assertEquals } from "@std/assert";
import { type AgentId, agentIdOf, encodeBadges, notAttested } from "../../proto/mod.ts";
import { badgeSeconds, Issuer } from "../mls/testing/issuer.ts";
import { HealthLog } from "./health.ts";
import { reportStrangers } from "./strangers.ts";

const service = new Issuer("static.localhost", 8);
const nowMs = (badgeSeconds + 60) * 1000;
const agents = Array.from(
  { length: 5 },
  (_, i) => agentIdOf(new Uint8Array(32), Uint8Array.of(i)),
);

Deno.test("a member with a badge of our account that the account has not given is reported, and nobody else", async () => {
  const [ours, stranger, foreign, other, ending] = agents as [
    AgentId,
    AgentId,
    AgentId,
    AgentId,
    AgentId,
  ]; // cast: made above
  const soon = { notBefore: badgeSeconds - 30 * 86_400, notAfter: badgeSeconds + 3_600 };
  const members = agents.map((agentId) => ({
    agentId,
    badges: encodeBadges([service.badge(agentId, agentId === ending ? soon : {})]),
  }));
  const asked: (readonly AgentId[])[] = [];
  const health = new HealthLog(() => nowMs);
  const look = (): Promise<void> =>
    reportStrangers([{ members, health }], {
      recogniser: {
        all: (shown) =>
          shown.map(({ agentId }) => ({
            ...notAttested,
            knownAs: undefined,
            sameAccount: agentId !== foreign,
          })),
      },
      nowMs: () => nowMs,
      strangersAmong: (agentIds) => {
        asked.push(agentIds);
        return Promise.resolve([stranger, other]);
      },
    });
  await look();
  await look();
  assertEquals(asked, Array(2).fill([ours, stranger, other]));
  assertEquals(health.issues.map(({ kind, count }) => [kind, count]), [
    ["stranger_with_our_badge", 2],
    ["stranger_with_our_badge", 2],
  ]);
  const named = health.issues.map(({ text }) => text.split(" ")[0] ?? "");
  assertEquals(named.toSorted(), [stranger, other].toSorted());
});
