/** Letting somebody in. */
import { useConsole } from "../context.ts";
import { Action, SecretOnce } from "../elements.ts";
import { html, useState, type VNode } from "../ui.ts";
import type { TabAgent } from "./tab_agent.ts";

/** A link that lets one more agent in while this tab is open. */
export function InviteLink({ agent, name }: { agent: TabAgent; name: string }): VNode {
  const { say } = useConsole();
  const [link, setLink] = useState<string | undefined>(undefined);
  const make = async (): Promise<void> => {
    setLink(await agent.manager?.inviteLink(name, { uses: 1 }));
    say("The link lets one agent in, while this tab is open.");
  };
  return link === undefined
    ? html`<${Action} label=${`Make a link to ${name}`} work=${make}>Make a link<//>`
    : html`<${SecretOnce} secret=${link} what=${`This link leads one agent into ${name}`} onDone=${() =>
      setLink(undefined)} />`;
}
