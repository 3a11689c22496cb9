/** Tools that a session has only when its user allows them: they change a channel's members. Invites go by handles. */
import type { McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";
import { looksLikeJoinLink, parseInviteToken } from "../../proto/mod.ts";
import type { Channel } from "../../sdk/mod.ts";
import type { AgentLink } from "./agent_link.ts";
import type { Answering } from "./answering.ts";
import { askForInvite, invitePath } from "./invite_question.ts";
import type { InviteFiles } from "./invite_files.ts";
import { refused } from "./refusal.ts";
import { channelName } from "./tools.ts";

export const allowable = ["create", "invite", "join", "remove", "leave"] as const;
export type Allowable = typeof allowable[number];

export interface AllowedParts {
  readonly link: AgentLink;
  readonly answering: Answering;
  readonly invites: InviteFiles;
}

const [maxUses, maxHours, hourMs, joinMs] = [100, 24 * 7, 3_600_000, 45_000];
const changes = { readOnlyHint: false, destructiveHint: false, openWorldHint: true };
const destroys = { ...changes, destructiveHint: true };

export function registerAllowed(server: McpServer, allowed: ReadonlySet<Allowable>, parts: AllowedParts): void {
  for (const name of allowable) if (allowed.has(name)) registrations[name](server, parts);
}

const registrations: Readonly<Record<Allowable, (server: McpServer, parts: AllowedParts) => void>> = {
  create: (server, { link, answering }) =>
    void server.registerTool("create", {
      title: "Create a channel",
      description: "Creates a channel with this agent as its owner and only member.",
      inputSchema: z.object({ channel: channelName }),
      annotations: changes,
    }, ({ channel }) =>
      answering.run(async () => {
        await (await link.agent()).createChannel(channel);
        return { channel, created: true };
      })),
  invite: (server, { link, answering, invites }) =>
    void server.registerTool("invite", {
      title: "Invite an agent",
      description:
        "Creates an invite and writes it to a file that only the user can read. The user passes it on; you get " +
        "its handle and never the invite itself.",
      inputSchema: z.object({
        channel: channelName,
        uses: z.number().int().min(1).max(maxUses).default(1),
        hours: z.number().min(0.1).max(maxHours).default(24),
      }),
      annotations: changes,
    }, ({ channel, uses, hours }) =>
      answering.run(async () => {
        const token = await (await link.agent()).invite(channel, { uses, expiresInMs: hours * hourMs });
        return { channel, handle: invites.handleOf(token), file: await invites.save(token) };
      })),
  join: (server, { link, answering, invites }) =>
    void server.registerTool("join", {
      title: "Join a channel",
      description: "Joins a channel by the handle that a message shows in place of an invite. Without a handle, your " +
        "user is asked for the file with the invite.",
      inputSchema: z.object({ handle: z.string().max(100).optional() }),
      annotations: changes,
    }, ({ handle }, { mcpReq: { inputResponses, signal } }) => {
      if (handle === undefined && inputResponses === undefined) return askForInvite();
      return answering.run(async () => {
        const invite = handle === undefined
          ? await invites.take(invitePath(inputResponses))
          : await invites.read(handle);
        if (invite === undefined) {
          throw refused("There is no invite with this handle; give a handle, never the invite itself");
        }
        const channel = await joinBy(link, invite, signal);
        return { channel: channel.name, members: channel.members().length, joined: true };
      });
    }),
  remove: (server, { link, answering }) =>
    void server.registerTool("remove", {
      title: "Remove a member",
      description: "Removes a member, by its agent id, from a channel that this agent owns.",
      inputSchema: z.object({ channel: channelName, member: z.string().max(300) }),
      annotations: destroys,
    }, ({ channel: name, member }) =>
      answering.run(async () => {
        const channel = await link.channel(name);
        await channel.removeMember(channel.member(member).agentId);
        return { channel: name, member, removed: true };
      })),
  leave: (server, { link, answering }) =>
    void server.registerTool("leave", {
      title: "Leave a channel",
      description: "Leaves a channel permanently and deletes its keys here.",
      inputSchema: z.object({ channel: channelName }),
      annotations: destroys,
    }, ({ channel }) =>
      answering.run(async () => {
        await (await link.channel(channel)).leave();
        return { channel, left: true };
      })),
};

async function joinBy(link: AgentLink, invite: string, signal: AbortSignal): Promise<Channel> {
  const agent = await link.agent();
  const options = { timeoutMs: joinMs, signal };
  if (looksLikeJoinLink(invite)) return await agent.join(invite, options);
  return await agent.joinWithToken(parseInviteToken(invite).name, invite, options);
}
