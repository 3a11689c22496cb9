/**
 * Beside the conversation: the members of the channel, letting others in, its end, and what others
 * can learn of it.
 */
import { ownersInWords } from "../../../../proto/mod.ts";
import type { ChannelMember, Presence } from "static-sdk";
import { Action, Ask, Fault, Time, useReading } from "../elements.ts";
import { html, useCallback, useEffect, useState, type VNode } from "../ui.ts";
import { InviteLink } from "./invite_link.ts";
import type { Pane } from "./pane.ts";
import { MeterView } from "./meter_view.ts";
import type { ChatRoom } from "./room.ts";
import type { TabAgent } from "./tab_agent.ts";
import { Name, Picture } from "./agent_view.ts";

/** Between two questions about who is there, while the members are looked at. */
const presenceMs = 60_000;

export function Details(
  { agent, room, onPane }: {
    agent: TabAgent;
    room: ChatRoom | undefined;
    onPane: (pane: Pane) => void;
  },
): VNode {
  return html`
    <aside class="live-details" tabindex="-1" aria-label="Members and privacy">
      <div class="bar narrow details">
        <h2>${room?.name ?? "Privacy"}</h2>
        <button type="button" onClick=${() => onPane("talk")}>Back</button>
      </div>
      ${room?.channel && html`<${Members} channel=${room.channel} />`}
      <${MeterView} agent=${agent} room=${room} />
      ${room && !agent.isGuest && html`<${Invites} key=${room.name} agent=${agent} room=${room} />`}
      ${room?.channel && !agent.isGuest &&
        html`<${Ends} key=${room.name} agent=${agent} room=${room} />`}
    </aside>
  `;
}

function Members({ channel }: { channel: NonNullable<ChatRoom["channel"]> }): VNode {
  const members = channel.members();
  const { value: presence = [], again } = useReading(
    useCallback(() => channel.presence(), [channel]),
  );
  useEffect(() => {
    const timer = setInterval(() => void again(), presenceMs);
    return () => clearInterval(timer);
  }, [again]);
  const there = new Map(presence.map((each) => [each.agentId, each]));
  return html`
    <section aria-labelledby="members-title">
      <h2 id="members-title">${members.length} ${members.length === 1 ? "member" : "members"}</h2>
      <ul class="members">
        ${members.map((member) =>
          html`<li key=${member.agentId}><${Picture} of=${member} /><p class="head"><${Name} of=${member} /></p>
            <small>${marksOf(member)}</small>
            ${!member.self && html`<${Heard} of=${there.get(member.agentId)} />`}</li>`
        )}
      </ul>
      <small>${rulesOf(channel)}</small>
      <details>
        <summary>Compare a number</summary>
        <p>All members of the channel see the same number. Compare it over another way, such as a call: then nobody stands between
          you.</p>
        <p><code class="fingerprint">${channel.fingerprint()}</code></p>
      </details>
    </section>
  `;
}

/** The relay's word is named so, and stands apart from what this tab has verified. */
function Heard({ of }: { of: Presence | undefined }): VNode | undefined {
  if (of === undefined) return undefined;
  const { online, lastHeardMs } = of;
  return html`<small>
    ${online === undefined ? "" : `relay: ${online ? "online" : "offline"}, `}heard ${
    lastHeardMs === undefined
      ? "not yet"
      : html`<${Time} at=${new Date(lastHeardMs).toISOString()} />`
  }</small>`;
}

function marksOf({ self, agentId, owner, guest, absent, resembles }: ChannelMember): string {
  return [
    ...(self ? [agentId] : []),
    ...(owner ? ["owner"] : []),
    ...(guest ? ["guest"] : []),
    ...(absent ? ["not back yet"] : []),
    ...(resembles.length === 0 ? [] : [`looks like ${resembles.join(" and ")}`]),
  ].join(", ");
}

function rulesOf(channel: NonNullable<ChatRoom["channel"]>): string {
  const { admission, posting } = channel.policy();
  return `Anyone can choose this channel's name. Owners: ${ownersInWords(channel.members())}. ` +
    `${whose(admission)} let others in, ${whose(posting).toLowerCase()} write.`;
}

function whose(scope: string): string {
  return scope === "owners" ? "Owners" : "Members";
}

function Invites({ agent, room: { name, channel } }: { agent: TabAgent; room: ChatRoom }): VNode {
  const members = channel?.members().length ?? 0;
  const { value, error, again } = useReading(
    // Somebody who came in has used one. Other events are no reason: a question about a channel
    // that ends would open it again.
    useCallback(async () => await agent.manager?.invites(name) ?? [], [
      agent,
      name,
      agent.state,
      members,
    ]),
  );
  const revoke = async (id: string): Promise<void> => {
    await agent.manager?.revokeInviteById({ channel: name, id });
    await again();
  };
  return html`
    <section aria-labelledby="invites-title">
      <h2 id="invites-title">Let others in</h2>
      <${Fault} error=${error} />
      <${InviteLink} agent=${agent} name=${name} onMade=${again} />
      <ul class="items">
        ${value?.map(({ id, expiresAtMs, uses, used }) =>
          html`
            <li
              key=${id}><small class="grow">${used} of ${uses} used, until <${Time} at=${new Date(
                expiresAtMs,
              ).toISOString()} /></small>
                      <${Action} label=${`Revoke the invite ${id}`} work=${() =>
                        revoke(id)}>Revoke<//></li>
          `
        )}
      </ul>
    </section>
  `;
}

const ends = {
  close: {
    yes: "Close it",
    text: "The channel ends for all its members, and its name is free again.",
  },
  leave: {
    yes: "Leave it",
    text: "This agent cannot read it any more. To come back it needs a new invite.",
  },
} as const;

function Ends({ agent, room: { name, channel } }: { agent: TabAgent; room: ChatRoom }): VNode {
  const [how, setHow] = useState<keyof typeof ends | undefined>(undefined);
  const owns = channel?.members().some(({ self, owner }) => self && owner);
  return html`
    <section aria-label="Leaving">
      <p class="row"><button type="button" onClick=${() =>
        setHow("leave")} aria-label=${`Leave ${name}`}>Leave</button>
        ${owns &&
          html`<button type="button" class="danger" onClick=${() =>
            setHow("close")} aria-label=${`Close ${name}`}>Close</button>`}</p>
      ${how && html`
        <${Ask} title=${`${how === "close" ? "Close" : "Leave"} ${name}?`} text=${ends[how]
          .text} yes=${ends[how].yes}
          onClose=${() => setHow(undefined)} work=${() => agent[how](name)} />
      `}
    </section>
  `;
}
