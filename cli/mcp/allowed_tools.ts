/**
 * Tools that a session has only when its user allows them: they change a channel's members. Invites
 * go by handles.
 */
import type { McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";
import { looksLikeJoinLink, parseInviteToken } from "../../proto/mod.ts";
import type { Channel } from "../../sdk/mod.ts";
import type { AgentLink } from "./agent_link.ts";
import type { ToolAnswers } from "./answering.ts";
import { argumentsOf } from "./arguments.ts";
import { askForInvite, invitePath } from "./invite_question.ts";
import type { InviteFiles } from "./invite_files.ts";
import { refused } from "./refusal.ts";
import { channelName, memberName, memberOf } from "./tools.ts";

export const allowable = ["create", "invite", "join", "remove", "leave"] as const;
export type AllowableTool = typeof allowable[number];

export interface AllowedParts {
  readonly link: AgentLink;
  readonly answering: ToolAnswers;
  readonly invites: InviteFiles;
  /** Names that agents chose for themselves are left out. */
  readonly hideNames: boolean;
}

const [maxUses, maxHours, hourMs, joinMs] = [100, 24 * 7, 3_600_000, 45_000];
const changes = { readOnlyHint: false, destructiveHint: false, openWorldHint: true };
const destroys = { ...changes, destructiveHint: true };

export function registerAllowed(
  server: McpServer,
  allowed: ReadonlySet<AllowableTool>,
  parts: AllowedParts,
): void {
  for (const name of allowable) if (allowed.has(name)) registrations[name](server, parts);
}

const registrations: Readonly<
  Record<AllowableTool, (server: McpServer, parts: AllowedParts) => void>
> = {
  create: (server, { link, answering }) =>
    void server.registerTool("create", {
      title: "Create a channel",
      description: "Creates a channel. This agent is its owner and only member.",
      inputSchema: argumentsOf({ channel: channelName }),
      annotations: changes,
    }, ({ channel }) =>
      answering.run(async () => {
        await (await link.agent()).enter("create", { channel });
        return { channel, created: true };
      })),
  invite: (server, { link, answering, invites }) =>
    void server.registerTool("invite", {
      title: "Invite an agent",
      description:
        "Makes an invite and writes it to a file that only your user can read. Your user passes it on; you get its " +
        "handle, and never the invite itself.",
      inputSchema: argumentsOf({
        channel: channelName,
        uses: z.number().int().min(1).max(maxUses).default(1).describe(
          "How many agents can join with it",
        ),
        hours: z.number().min(0.1).max(maxHours).default(24).describe("How long it is valid"),
      }),
      annotations: changes,
    }, ({ channel, uses, hours }) =>
      answering.run(async () => {
        const token = await (await link.agent()).act("invite", {
          channel,
          uses,
          expiresInMs: hours * hourMs,
        });
        return { channel, handle: invites.handleOf(token), file: await invites.save(token) };
      })),
  join: (server, { link, answering, invites }) =>
    void server.registerTool("join", {
      title: "Join a channel",
      description:
        "Joins a channel by the handle that a message shows in place of an invite. Without a handle, your " +
        "user is asked for the file with the invite.",
      inputSchema: argumentsOf({
        handle: z.string().max(100).optional().describe(
          "As a message shows it: invite- and 32 letters and digits",
        ),
      }),
      annotations: changes,
    }, ({ handle }, { mcpReq: { inputResponses, signal } }) => {
      if (handle === undefined && inputResponses === undefined) return askForInvite();
      return answering.run(async () => {
        const invite = handle === undefined
          ? await invites.take(invitePath(inputResponses))
          : await invites.read(handle);
        if (invite === undefined) {
          throw refused(
            "There is no invite with this handle; give a handle, never the invite itself",
          );
        }
        const channel = await joinBy(link, invite, signal);
        return { channel: channel.name, members: channel.members().length, joined: true };
      });
    }),
  remove: (server, { link, answering, hideNames }) =>
    void server.registerTool("remove", {
      title: "Remove a member",
      description: "Removes a member from a channel that this agent owns.",
      inputSchema: argumentsOf({ channel: channelName, member: memberName }),
      annotations: destroys,
    }, ({ channel: name, member }) =>
      answering.run(async () => {
        const channel = await link.channel(name);
        await channel.removeMember(memberOf(channel, member, hideNames).agentId);
        return { channel: name, member, removed: true };
      })),
  leave: (server, { link, answering }) =>
    void server.registerTool("leave", {
      title: "Leave a channel",
      description: "Leaves a channel for good. Only a new invite brings this agent back.",
      inputSchema: argumentsOf({ channel: channelName }),
      annotations: destroys,
    }, ({ channel }) =>
      answering.run(async () => {
        await (await link.channel(channel)).leave();
        return { channel, left: true };
      })),
};

async function joinBy(link: AgentLink, invite: string, signal: AbortSignal): Promise<Channel> {
  const agent = await link.agent();
  const timeoutMs = joinMs;
  if (looksLikeJoinLink(invite)) {
    return await agent.enter("joinLink", { link: invite, timeoutMs }, { signal });
  }
  const { name: channel } = parseInviteToken(invite);
  return await agent.enter("joinWithToken", { channel, token: invite, timeoutMs }, { signal });
}
