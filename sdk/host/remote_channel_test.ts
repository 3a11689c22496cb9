import { assertEquals } from "@std/assert";
import { HeaderFields } from "./fields.ts";
import { HostLink } from "./host_link.ts";
import { RemoteChannel } from "./remote_channel.ts";

const runtime = {
  nowMs: (): number => 0,
  after: (_: number, run: () => void): () => void => {
    queueMicrotask(run);
    return () => {};
  },
  randomBytes: (length: number): Uint8Array<ArrayBuffer> => new Uint8Array(length),
};

function stateWith(
  members: readonly { readonly id: string; readonly absent?: boolean }[],
): HeaderFields {
  const said = { identity: "", keyUnchanged: true, owner: false, self: false, lapsed: false };
  return new HeaderFields({
    name: "acme/ops/deploy",
    id: "A".repeat(22),
    fingerprint: "",
    health: { state: "ready" },
    members: members.map(({ id, absent = false }) => ({ ...said, agentId: id.repeat(22), absent })),
  });
}

Deno.test("a member that was absent and is back is no newcomer; one that comes absent is one when it can be asked", async () => {
  const link = new HostLink({ runtime, find: () => new Promise(() => {}) });
  const channel = new RemoteChannel(link, runtime, stateWith([{ id: "A" }]));
  const wait = async (): Promise<string | undefined> =>
    (await channel.waitForMember(undefined, { timeoutMs: 1 }))?.agentId[0];
  channel.update(stateWith([{ id: "A", absent: true }, { id: "B", absent: true }]), []);
  assertEquals(await wait(), undefined);
  channel.update(stateWith([{ id: "A" }, { id: "B" }]), []);
  assertEquals([await wait(), await wait()], ["B", undefined]);
});
