/** The agent and its channels as a whole. */
import type { Channel } from "../channel.ts";
import { encodeMember } from "../host/wire_values.ts";
import { invalidArgument } from "../base/errors.ts";
import type { RecoveryChoice } from "../channel/recovery/recovery_preview.ts";
import type { Fields } from "../host/fields.ts";
import type { GuestOptions } from "../invites/links.ts";
import type { ChannelManager } from "../manager.ts";
import type { Held } from "./held.ts";
import { type Answer, type Call, channelOf, managerOf, type Operation } from "./operation.ts";
import { agentState, watch, wholeState } from "./watching.ts";

export const agentOperations: Readonly<Record<string, Operation>> = {
  agent: ({ held }) => ({ ok: agentState(held.client) }),
  create: async ({ held, fields, signal }) => {
    const options = { signal, ...receiving(held, fields) };
    return named(await held.client.createChannel(fields.text("channel"), options));
  },
  open: async ({ held, fields, signal }) => {
    const options = { signal, ...receiving(held, fields) };
    return named(await held.client.channel(fields.text("channel"), options));
  },
  openOrCreate: async ({ held, fields, signal }) => {
    const options = { signal, ...receiving(held, fields) };
    return named(await held.client.openChannel(fields.text("channel"), options));
  },
  join: async ({ held, fields, bytes, signal }) => {
    const options = { signal, ...receiving(held, fields) };
    const welcome = fields.flag("delivered") ? undefined : bytes;
    return named(await held.client.joinChannel(fields.text("channel"), welcome, options));
  },
  number: async (call) => {
    const { fields, held } = call;
    const agentId = fields.optionalText("agentId");
    return {
      ok: { number: await (agentId === undefined ? held.client.number() : (await channelOf(call)).numberOf(agentId)) },
    };
  },
  keyPackage: async ({ held }) => ({ bytes: await held.client.generateKeyPackage() }),
  closeChannel: ({ held, fields, signal }) => held.client.closeChannel(fields.text("channel"), { signal }),
  watch,
  waitForMember: async (call) => {
    const { fields, signal } = call;
    const options = { signal, ...numbers(fields, "timeoutMs") };
    const found = await (await channelOf(call)).waitForMember(fields.optionalText("member"), options);
    return { ok: found === undefined ? { none: true } : { member: encodeMember(found) } };
  },
  members: async (call) => ({ ok: { members: (await channelOf(call)).members().map(encodeMember) } }),
  fingerprint: async (call) => ({ ok: { fingerprint: (await channelOf(call)).fingerprint() } }),
  health: async (call) => ({ ok: { health: (await channelOf(call)).health() } }),
  addMember: async (call) => {
    const { fields, bytes, signal } = call;
    const channel = await channelOf(call);
    const options = { signal, ...replacing(fields) };
    const welcome = await channel.addMember(fields.optionalText("agentId") ?? bytes, options);
    return { bytes: welcome, ok: { state: wholeState(channel) } };
  },
  removeMember: changing((channel, { fields, signal }) => channel.removeMember(fields.text("agentId"), { signal })),
  recover: changing((channel, { fields, signal }) => channel.recover({ signal, ...leavingOut(fields) })),
  previewRecovery: async (call) => {
    const preview = await (await channelOf(call)).previewRecovery(leavingOut(call.fields));
    return { ok: { preview: { ...preview, leftOut: preview.leftOut.map((member) => ({ ...member })) } } };
  },
  promote: changing(async (channel, { fields, signal }) => {
    const to = fields.one("to", ["owner", "member"] as const) ?? "owner";
    await channel.promote(fields.text("agentId"), { signal, to });
  }),
  demote: changing((channel, { fields, signal }) => channel.demote(fields.text("agentId"), { signal })),
  rotate: changing((channel, { signal }) => channel.rotate({ signal })),
  policy: async (call) => ({ ok: { policy: { ...(await channelOf(call)).policy() } } }),
  setPolicy: changing(async (channel, { fields, signal }) => {
    const scopes = ["members", "owners"] as const;
    const [admission, posting] = [fields.one("admission", scopes), fields.one("posting", scopes)];
    const policy = { ...(admission !== undefined && { admission }), ...(posting !== undefined && { posting }) };
    await channel.setPolicy(policy, { signal });
  }),
  leave: async (call) => {
    const successor = call.fields.optionalText("successor");
    const options = { signal: call.signal, ...(successor !== undefined && { successor }) };
    await (await channelOf(call)).leave(options);
  },
  invite: async (call) => {
    const { fields, signal } = call;
    const options = { signal, ...numbers(fields, "expiresInMs", "uses"), ...replacing(fields) };
    return { ok: { token: await managerOf(call).invite(fields.text("channel"), options) } };
  },
  inviteLink: async (call) => {
    const { fields, signal } = call;
    const guest = fields.optionalObject("guest");
    const options = {
      signal,
      // cast: a link that shall replace somebody is refused where links are made
      ...replacing(fields) as { readonly replaces?: never },
      ...numbers(fields, "expiresInMs", "uses"),
      ...(guest !== undefined && { guest: guestOf(guest) }),
      web: fields.flag("web"),
    };
    return { ok: { link: await managerOf(call).inviteLink(fields.text("channel"), options) } };
  },
  invites: async (call) => ({ ok: { invites: await managerOf(call).invites(call.fields.optionalText("channel")) } }),
  revokeInvite: async (call) => {
    const { fields, signal } = call;
    const token = fields.optionalText("token");
    if (token !== undefined) return await managerOf(call).revokeInvite(token, { signal });
    await managerOf(call).revokeInviteById({ channel: fields.text("channel"), id: fields.text("invite") });
  },
  joinWithToken: joining((manager, ...given) => manager.joinWithToken(...given)),
  joinOrOpen: joining((manager, ...given) => manager.joinOrOpen(...given)),
  joinLink: async ({ held, fields, signal }) => {
    return named(await held.client.join(fields.text("link"), { signal, ...numbers(fields, "timeoutMs") }));
  },
};

/** Makes an operation that changes a channel and answers with the state after it, which events would tell a moment later. */
function changing(act: (channel: Channel, call: Call) => Promise<unknown>): Operation {
  return async (call) => {
    const channel = await channelOf(call);
    await act(channel, call);
    return { ok: { state: wholeState(channel) } };
  };
}

/** Makes an operation that enters a channel by a token. */
function joining(act: (manager: ChannelManager, ...given: Joining) => Promise<Channel>): Operation {
  return async (call) => {
    const { fields, signal } = call;
    const options = { signal, ...numbers(fields, "timeoutMs") };
    return named(await act(managerOf(call), fields.text("channel"), fields.text("token"), options));
  };
}

type Joining = Parameters<ChannelManager["joinWithToken"]>;

/** Those of these fields that are given. */
function numbers<Name extends string>(fields: Fields, ...names: readonly Name[]): { readonly [name in Name]?: number } {
  const given = names.flatMap((name) => {
    const value = fields.optionalNumber(name);
    return value === undefined ? [] : [[name, value]];
  });
  return Object.fromEntries(given);
}

/** The limits of a guest pass, or a pass that was made elsewhere. */
function guestOf(fields: Fields): GuestOptions {
  const pass = fields.optionalText("pass");
  return { ...numbers(fields, "expiresInMs", "messages"), ...(pass !== undefined && { pass }) };
}

/** Whom a recovery leaves out, if lists are given. */
function leavingOut(fields: Fields): RecoveryChoice {
  const [without, keep] = [fields.optionalTexts("without"), fields.optionalTexts("keep")];
  return { ...(without !== undefined && { without }), ...(keep !== undefined && { keep }) };
}

/** The member whose place somebody takes, if one is named. */
function replacing(fields: Fields): { readonly replaces?: string } {
  const replaces = fields.optionalText("replaces");
  return replaces === undefined ? {} : { replaces };
}

/** A message that one program does not want may be meant for another. */
function receiving({ isShared }: Held, fields: Fields): { readonly receive?: boolean } {
  const receive = fields.optionalFlag("receive");
  if (isShared && receive === false) {
    throw invalidArgument("A host receives for all its programs; leave `receive` out");
  }
  return receive === undefined ? {} : { receive };
}

function named({ name, id }: Channel): Answer {
  return { ok: { name, id } };
}
