/** The agent and its channels as a whole. */
import { parseChannelName } from "../../proto/mod.ts";
import type { Channel } from "../channel.ts";
import { encodeMember } from "../host/wire_values.ts";
import { type Answer, channelOf, managerOf, type Operation } from "./operation.ts";
import { agentState, watch } from "./watching.ts";

export const agentOperations: Readonly<Record<string, Operation>> = {
  agent: ({ held }) => ({ ok: agentState(held.client) }),
  create: async ({ held, fields, signal }) => {
    const options = { signal, ...receiving(fields.optionalFlag("receive")) };
    return named(await held.client.createChannel(fields.text("channel"), options));
  },
  open: async ({ held, fields, signal }) => {
    const options = { signal, ...receiving(fields.optionalFlag("receive")) };
    return named(await held.client.channel(fields.text("channel"), options));
  },
  openOrCreate: async ({ held, fields, signal }) => {
    const options = { signal, ...receiving(fields.optionalFlag("receive")) };
    return named(await held.client.openChannel(fields.text("channel"), options));
  },
  join: async ({ held, fields, bytes, signal }) => {
    const options = { signal, ...receiving(fields.optionalFlag("receive")) };
    const welcome = fields.flag("delivered") ? undefined : bytes;
    return named(await held.client.joinChannel(fields.text("channel"), welcome, options));
  },
  keyPackage: async ({ held }) => ({ bytes: await held.client.generateKeyPackage() }),
  closeChannel: ({ held, fields, signal }) => held.client.closeChannel(fields.text("channel"), { signal }),
  watch,
  members: async (call) => ({ ok: { members: (await channelOf(call)).members().map(encodeMember) } }),
  fingerprint: async (call) => ({ ok: { fingerprint: (await channelOf(call)).fingerprint() } }),
  health: async (call) => ({ ok: { health: (await channelOf(call)).health() } }),
  addMember: async (call) => {
    const { fields, bytes, signal } = call;
    return { bytes: await (await channelOf(call)).addMember(fields.optionalText("agentId") ?? bytes, { signal }) };
  },
  removeMember: async (call) => {
    await (await channelOf(call)).removeMember(call.fields.text("agentId"), { signal: call.signal });
  },
  recover: async (call) => await (await channelOf(call)).recover(),
  leave: async (call) => await (await channelOf(call)).leave({ signal: call.signal }),
  invite: async (call) => {
    const { fields, signal } = call;
    const [expiresInMs, uses] = [fields.optionalNumber("expiresInMs"), fields.optionalNumber("uses")];
    const options = { signal, ...(expiresInMs !== undefined && { expiresInMs }), ...(uses !== undefined && { uses }) };
    return { ok: { token: await managerOf(call).invite(fields.text("channel"), options) } };
  },
  invites: async (call) => ({ ok: { invites: await managerOf(call).invites(call.fields.optionalText("channel")) } }),
  revokeInvite: async (call) => {
    const { fields, signal } = call;
    const token = fields.optionalText("token");
    if (token !== undefined) return await managerOf(call).revokeInvite(token, { signal });
    const channel = parseChannelName(fields.text("channel"));
    await managerOf(call).revokeInviteById({ channel, id: fields.text("invite") });
  },
  joinWithToken: async (call) => {
    const { fields, signal } = call;
    const timeoutMs = fields.optionalNumber("timeoutMs");
    const options = { signal, ...(timeoutMs !== undefined && { timeoutMs }) };
    return named(await managerOf(call).joinWithToken(fields.text("channel"), fields.text("token"), options));
  },
};

function receiving(receive: boolean | undefined): { readonly receive?: boolean } {
  return receive === undefined ? {} : { receive };
}

function named({ name, id }: Channel): Answer {
  return { ok: { name, id } };
}
