/** `channel issuers`: the issuers of which every member of a channel needs a badge. */
import { encodeBase64url } from "../../../proto/mod.ts";
import { type Channel, type ChannelIssuer, StaticError } from "../../../sdk/mod.ts";
import { agentFlag } from "../../agent.ts";
import type { Command, Context } from "../../command.ts";
import { badInput, Failure } from "../../failure.ts";
import { readTrust } from "../../trust.ts";
import { nameArgument, withChannel } from "../channel.ts";

const nobody = "none";

export const channelIssuers: Command = {
  path: "channel issuers",
  summary: "show or change whose badges every member of a channel needs",
  details: [
    "Without flags it shows them. Only owners can change them; every member enforces them. The keys of a domain are those",
    "of your trust list (trust add); the channel has them from then on, so repeat the command when a domain has new keys.",
    "By a key that the domain has closed nobody comes in any more, and members that came by it stay.",
  ],
  arguments: [nameArgument],
  flags: [
    {
      name: "require",
      value: "DOMAIN,…",
      summary: `every member needs a badge of one of these; ${nobody}: nobody needs one`,
    },
    {
      name: "remove",
      value: "MEMBER,…",
      summary: "remove these in the same step: agent ids, or names that you gave",
    },
    agentFlag,
  ],
  examples: [
    { command: "channel issuers acme/ops/deploy", what: "" },
    {
      command: "channel issuers acme/ops/deploy --require acme.com",
      what: "only agents of acme.com",
    },
    { command: `channel issuers acme/ops/deploy --require ${nobody}`, what: "anybody again" },
  ],
  run: async (context) => {
    const wanted = await wantedIssuers(context);
    const remove = listOf(context, "remove");
    if (remove !== undefined && wanted === undefined) {
      throw badInput("--remove goes with --require", "To remove a member: {} channel remove");
    }
    await withChannel(context, async (channel) => {
      const { output } = context;
      if (wanted !== undefined) {
        const changing = channel.setIssuers(wanted, { remove }).catch(explain);
        await output.progress("changing the issuers", changing);
      }
      await show(context, channel, await channel.issuers());
    });
  },
};

/** With what a user of this program can do about it. */
function explain(cause: unknown): never {
  if (!(cause instanceof StaticError) || cause.code !== "members_not_attested") throw cause;
  const members = cause.members ?? [];
  const text = `These members have no badge of one of these issuers: ${members.join(", ")}`;
  throw new Failure(cause.code, text, {
    advice: "Each of them, once it has one: {} badge use BADGE, then {} channel rotate NAME\n" +
      `Or remove them in the same step, with --remove ${members.join(",")}`,
    cause,
  });
}

/** Returns the issuers that `--require` names, with every key that the user believes. */
async function wantedIssuers(context: Context): Promise<ChannelIssuer[] | undefined> {
  const domains = listOf(context, "require");
  if (domains === undefined || domains.join() === nobody) return domains && [];
  const trust = await readTrust(context);
  return domains.flatMap((domain) => {
    const issuer = trust.domains.get(domain);
    if (issuer === undefined) {
      const advice = `Look at its keys first: {} trust add ${domain}`;
      throw badInput(`${domain} is not on your trust list`, advice);
    }
    return issuer.keys.map(({ key, closed }) => ({ domain, key: encodeBase64url(key), closed }));
  });
}

async function show(
  { output }: Context,
  { name }: Channel,
  issuers: readonly ChannelIssuer[],
): Promise<void> {
  const lines = issuers.map(({ domain, key, closed, account, mailDomain }) => {
    const only = account !== undefined
      ? `, account ${account} only`
      : mailDomain !== undefined
      ? `, mailboxes at ${mailDomain} only`
      : "";
    return `${domain}${only}, key ${key}${closed ? ", closed: nobody comes in by it" : ""}`;
  });
  await output.result({ channel: name, issuers }, [
    lines.length === 0
      ? `Nobody needs a badge in ${name}`
      : `Every member of ${name} has a badge of:`,
    ...lines,
  ]);
}

function listOf({ given }: Context, flag: "require" | "remove"): string[] | undefined {
  const list = given.value(flag)?.split(",").map((each) => each.trim());
  if (list?.includes("")) {
    throw badInput(`--${flag} names nobody, or has a comma too many`, "Write commas between them");
  }
  return list;
}
