/** Channels of this tab's agent: members and owners, policy, invites, and the end. Beside them the account's other channels. */
import { agentInWords, ownersInWords } from "../../../../proto/mod.ts";
import { useConsole } from "../context.ts";
import { Action, Ask, Fault, Time, useReading } from "../elements.ts";
import { follow } from "../frame.ts";
import { html, useCallback, useState, type VNode } from "../ui.ts";
import type { AccountChannel } from "./account_channels.ts";
import { InviteLink } from "./invite_link.ts";
import type { Room } from "./room.ts";
import type { TabAgent } from "./tab_agent.ts";
import { useAgent } from "./use_agent.ts";

export function ChannelsView({ agent }: { agent: TabAgent }): VNode {
  useAgent(agent);
  const [ending, setEnding] = useState<{ name: string; how: "close" | "leave" } | undefined>(undefined);
  return html`
    <h1>Channels</h1>
    <p class="quiet">The channels that this tab's agent is in. <${ToLive} text="Live" /> is where it talks.</p>
    ${agent.state !== "on" && html`
      <p>
        <${Action} work=${() => agent.start(agent.options)}>Connect this tab's agent<//></p>
    `}
    ${agent.problem && html`<p class="fault">${agent.problem}</p>`}
    ${agent.state === "on" && agent.rooms.length === 0 &&
      html`<p>There is none yet. <${ToLive} text="Make one, or join by a link" />.</p>`}
    ${agent.rooms.map((room) =>
      html`
        <${ChannelCard} key=${room.name} agent=${agent} room=${room}
          onEnd=${(how: "close" | "leave") => setEnding({ name: room.name, how })} />
      `
    )}
    ${agent.state === "on" && html`<${OtherChannels} agent=${agent} />`}
    ${ending && html`
      <${Ask} title=${`${ending.how === "close" ? "Close" : "Leave"} ${ending.name}?`}
        text=${ending.how === "close"
          ? "The channel ends for all its members, and its name is free again."
          : "This agent cannot read it any more. To come back it needs a new invite."}
        yes=${ending.how === "close" ? "Close it" : "Leave it"} onClose=${() => setEnding(undefined)}
        work=${() => agent[ending.how](ending.name)} />
    `}
  `;
}

function ToLive({ text }: { text: string }): VNode {
  const { go } = useConsole();
  const path = "/console/live";
  return html`<a href=${path} onClick=${(event: MouseEvent) => follow(event, () => go(path))}>${text}</a>`;
}

function ChannelCard(
  { agent, room, onEnd }: { agent: TabAgent; room: Room; onEnd: (how: "close" | "leave") => void },
): VNode {
  const { channel, name } = room;
  const members = channel?.members() ?? [];
  const policy = channel?.policy();
  const owns = members.some(({ self, owner }) => self && owner);
  return html`
    <section class="card" aria-label=${name}>
      <h2 class="text">${name}</h2>
      <p>${members.length} ${members.length === 1 ? "member" : "members"}. ${policy &&
        `${whose(policy.admission)} let others in, ${whose(policy.posting).toLowerCase()} write.`}</p>
      <p>Anyone can choose this name. Owners: ${ownersInWords(members)}</p>
      <ul class="items">${members.map((member) =>
        html`<li key=${member.agentId}><code>${member.agentId}</code> <span class="grow text">${
          agentInWords(member)
        }</span>
        <span>${member.owner ? "owner" : "member"}</span></li>`
      )}</ul>
      <${Invites} agent=${agent} name=${name} members=${members.length} />
      <p class="row"><button type="button" onClick=${() => onEnd("leave")} aria-label=${`Leave ${name}`}>Leave</button>
        ${owns &&
          html`<button type="button" class="danger" onClick=${() =>
            onEnd("close")} aria-label=${`Close ${name}`}>Close</button>`}</p>
    </section>
  `;
}

/** The relay is asked when somebody wants to know: it is a connection of its own, without cover. */
function OtherChannels({ agent }: { agent: TabAgent }): VNode {
  const [found, setFound] = useState<readonly AccountChannel[] | undefined>(undefined);
  const [ending, setEnding] = useState<string | undefined>(undefined);
  const look = async (): Promise<void> => setFound(await agent.otherChannels());
  const close = async (name: string): Promise<void> => {
    await agent.close(name);
    await look();
  };
  return html`
    <section class="card" aria-labelledby="others-title">
      <h2 id="others-title">Other channels of this account</h2>
      <p class="quiet">Made by other agents of yours. The relay knows their names and how many members they have; who is in them,
        only members are told. Asking takes a connection of its own, without cover.</p>
      ${found?.length === 0 && html`<p>There is none.</p>`}
      <ul class="items">
        ${found?.map(({ id, name, members, createdAt }) =>
          html`<li key=${id}><span class="grow text"><strong>${name}</strong></span>
            <span>${members} ${members === 1 ? "member" : "members"}</span>
            <span class="quiet">made <${Time} at=${createdAt} /></span>
            <button type="button" class="danger" aria-label=${`Close ${name}`} onClick=${() =>
            setEnding(name)}>Close</button></li>`
        )}
      </ul>
      <p>
        <${Action} work=${look}>${found === undefined ? "Ask the relay" : "Ask the relay again"}<//></p>
      ${ending !== undefined && html`
        <${Ask} title=${`Close ${ending}?`} text="The channel ends for all its members, and its name is free again."
          yes="Close it" onClose=${() => setEnding(undefined)} work=${() => close(ending)} />
      `}
    </section>
  `;
}

function whose(scope: string): string {
  return scope === "owners" ? "Owners" : "Members";
}

function Invites({ agent, name, members }: { agent: TabAgent; name: string; members: number }): VNode {
  const { value, error, again } = useReading(
    // Somebody who came in has used one. Other events are no reason: a question about a channel that ends would open it again.
    useCallback(async () => await agent.manager?.invites(name) ?? [], [agent, name, agent.state, members]),
  );
  const revoke = async (id: string): Promise<void> => {
    await agent.manager?.revokeInviteById({ channel: name, id });
    await again();
  };
  return html`
    <h3>Invites</h3>
    <${Fault} error=${error} />
    ${value?.length === 0 && html`<p class="quiet">No invite is open.</p>`}
    <ul class="items">
      ${value?.map(({ id, expiresAtMs, uses, used }) =>
        html`<li key=${id}><span class="grow">${used} of ${uses} used, until <${Time} at=${
          new Date(expiresAtMs).toISOString()
        } /></span>
        <${Action} label=${`Revoke the invite ${id}`} work=${() => revoke(id)}>Revoke<//></li>`
      )}
    </ul>
    <${InviteLink} agent=${agent} name=${name} onMade=${again} />
  `;
}
