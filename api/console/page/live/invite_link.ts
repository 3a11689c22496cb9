/** Letting somebody in. */
import { useConsole } from "../context.ts";
import { Action, SecretOnce } from "../elements.ts";
import type { ConsoleService } from "../service.ts";
import { html, useState, type VNode } from "../ui.ts";
import type { TabAgent } from "./tab_agent.ts";

const guestMs = 7 * 24 * 3_600_000;
const guestMessages = 1_000;
const maxKeyName = 64;

/**
 * A link that lets one more agent in while this tab is open; for a guest, with a pass of this
 * account.
 */
export function InviteLink(
  { agent, name, onMade }: { agent: TabAgent; name: string; onMade?: () => Promise<void> },
): VNode {
  const { service, say } = useConsole();
  const [made, setMade] = useState<{ link: string; what: string } | undefined>(undefined);
  if (agent.isGuest) return html``;
  const make = async (isGuest: boolean): Promise<void> => {
    if (agent.manager === undefined) throw new Error("The agent is not connected");
    const { id } = await agent.manager.channel(name);
    const guest = isGuest && { pass: await createPass({ name, id }, service) };
    const link = await agent.manager.inviteLink(name, { uses: 1, web: true, guest });
    setMade({ link, what: `This link leads one ${isGuest ? "guest" : "agent"} into ${name}` });
    await onMade?.();
    say("The link lets one agent in, while this tab is open.");
  };
  if (made !== undefined) {
    return html`<${SecretOnce} secret=${made.link} what=${made.what} onDone=${() =>
      setMade(undefined)} />`;
  }
  return html`
    <span class="row">
      <${Action} label=${`Make a link to ${name}`} work=${() => make(false)}>Make a link<//>
      <${Action} label=${`Make a link for a guest to ${name}`} work=${() =>
        make(true)}>Make a link for a guest<//>
    </span>
    <small>A link lets one more agent in while this tab is open. A guest needs no account: its messages count on yours, for 7
      days.</small>
  `;
}

/**
 * This tab has no API key of which the SDK could make a pass; the session makes it. It is listed
 * under Keys.
 */
async function createPass(
  { name, id }: { name: string; id: string },
  service: ConsoleService,
): Promise<string> {
  const { key } = await service.send<{ key: string }>("POST", "/v1/keys", {
    name: `guest in ${name}`.slice(0, maxKeyName),
    kind: "guest",
    channel_id: id,
    expires_at: new Date(Date.now() + guestMs).toISOString(),
    message_limit: guestMessages,
  });
  return key;
}
