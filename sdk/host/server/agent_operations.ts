/** The agent and its channels as a whole. */
import {
  channelOperations,
  clientOperations,
  entrances,
  type HostOperation as Row,
  looks,
  managerOperations,
} from "../../../proto/host/operations.ts";
import { abortable } from "../../base/abortable.ts";
import { missing } from "../fields.ts";
import { encodeMember } from "../wire_values.ts";
import { invalidArgument } from "../../base/errors.ts";
import {
  channelOf,
  checked,
  each,
  managerOf,
  type OperationAnswer,
  type OperationsByName,
} from "./operation.ts";
import { agentState, watch, wholeState } from "./state_updates.ts";

export const agentOperations: OperationsByName = new Map([
  ...checked(looks, {
    agent: ({ held }) => ({ ok: agentState(held.client) }),
    number: async (call) => {
      const { held: { client }, fields: { channel, agentId } } = call;
      if (agentId === undefined) return { ok: { number: await client.number() } };
      const found = await channelOf(call, channel ?? missing("channel", "text"));
      return { ok: { number: await found.numberOf(agentId) } };
    },
    watch,
    waitForMember: async (call) => {
      const { fields: { channel, member, ...given }, signal } = call;
      const found = await (await channelOf(call, channel)).waitForMember(member, {
        ...given,
        signal,
      });
      return { ok: found === undefined ? { none: true } : { member: encodeMember(found) } };
    },
    members: async (call) => {
      const channel = await channelOf(call, call.fields.channel);
      await channel.port.prepareMembers();
      return { ok: { members: channel.members().map(encodeMember) } };
    },
    fingerprint: async (call) => {
      const channel = await channelOf(call, call.fields.channel);
      return { ok: { fingerprint: channel.fingerprint() } };
    },
    health: async (call) => ({
      ok: { health: (await channelOf(call, call.fields.channel)).health() },
    }),
    policy: async (call) => ({
      ok: { policy: (await channelOf(call, call.fields.channel)).policy() },
    }),
  }),
  ...each(entrances, async (op, call) => {
    const { held, fields, bytes, signal } = call;
    // A message that one program does not want may be meant for another.
    if (held.isShared && "receive" in fields && fields.receive === false) {
      throw invalidArgument("A host receives for all its programs; leave `receive` out");
    }
    if (op === "joinWithToken" || op === "joinOrOpen") managerOf(call);
    const { name, id } = await held.client.port.enter(op, fields, { bytes, signal });
    return { ok: { name, id } };
  }),
  ...each(clientOperations, async (op, { held, fields, bytes, signal }) => {
    return answerOf(
      clientOperations[op],
      await held.client.port.act(op, fields, { bytes, signal }),
    );
  }),
  ...each(managerOperations, async (op, { held, fields, bytes, signal }) => {
    return answerOf(
      managerOperations[op],
      await managerOf({ held }).port.act(op, fields, { bytes, signal }),
    );
  }),
  ...each(channelOperations, async (op, call) => {
    const { header, fields, bytes, signal } = call;
    const row: Row = channelOperations[op];
    const channel = await channelOf(call, header.text("channel"));
    const value = await abortable(signal, () => channel.port.act(op, fields, { bytes }));
    const answer = answerOf(row, value);
    return row.changes === true ? { ...answer, ok: { state: wholeState(channel) } } : answer;
  }),
]);

/** The value where the table has it. */
function answerOf({ answer, brings }: Row, value: unknown): OperationAnswer {
  if (brings !== undefined) return { bytes: value as Uint8Array }; // cast: the table says so
  const [name] = Object.keys(answer ?? {});
  return name === undefined ? {} : { ok: { [name]: value } };
}
