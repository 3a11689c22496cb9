/** Invites that an agent has given out: `invites list`, `invites revoke`. */
import { agentFlag, withAgent } from "../agent.ts";
import type { Command } from "../command.ts";
import { Failure } from "../failure.ts";
import { table } from "../output.ts";
import { isoTime, utc } from "../texts/amounts.ts";
import { nameArgument } from "./channel.ts";

export const listInvites: Command = {
  path: "invites list",
  summary: "list this agent's valid invites, without their secrets",
  arguments: [{ ...nameArgument, optional: true }],
  flags: [agentFlag],
  examples: [{ command: "invites list", what: "" }],
  run: (context) =>
    withAgent(context, async (agent) => {
      const { output, given } = context;
      const channel = given.value("NAME");
      const invites = await agent.act("invites", channel === undefined ? {} : { channel });
      const shown = invites.map(({ id, channel, expiresAtMs, uses, used }) => ({
        id,
        channel,
        expires_at: isoTime(expiresAtMs),
        uses,
        used,
      }));
      const rows = invites.map(({ id, channel, expiresAtMs, uses, used }) => [
        id,
        channel,
        `${used} of ${uses}`,
        utc(expiresAtMs),
      ]);
      await output.result(
        { invites: shown },
        rows.length === 0 ? [] : table([["ID", "CHANNEL", "USED", "UNTIL"], ...rows]),
      );
      if (rows.length === 0) await output.note("This agent has no valid invites");
    }),
};

export const revokeInvite: Command = {
  path: "invites revoke",
  summary: "revoke an invite, so that nobody can join with it",
  arguments: [{ name: "ID", summary: "id of the invite, as shown by invites list" }],
  flags: [agentFlag],
  examples: [{ command: "invites revoke 5sB0kqZ0RkWb8m4pXJkK9w", what: "" }],
  run: (context) =>
    withAgent(context, async (agent) => {
      const { output, given } = context;
      const id = given.value("ID") ?? "";
      const invite = (await agent.act("invites", {})).find((each) => each.id === id);
      if (invite === undefined) {
        throw new Failure("not_found", `This agent has no invite ${id}`, {
          advice: "List the invites with: {} invites list",
        });
      }
      await agent.act("revokeInvite", { channel: invite.channel, invite: id });
      await output.result({ revoked: id, channel: invite.channel }, [
        `${output.paint("green", "✓")} The invite to ${invite.channel} is revoked`,
      ]);
    }),
};
