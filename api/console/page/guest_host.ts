/**
 * Somebody who came by a link and is not signed in. With a pass in the link this tab is a guest of
 * the inviter's account; without one it takes an account of one's own. The link is in the page's
 * memory alone.
 */
import { useConsole } from "./context.ts";
import { Brand } from "./cells.ts";
import { Fault } from "./elements.ts";
import { useFocusThrough } from "./frame.ts";
import { Entrance } from "./entrance.ts";
import type { Invitation, TabAgent } from "./live/live.ts";
import type { LiveModule } from "./live_host.ts";
import { asServiceError, type ServiceError } from "./service.ts";
import { html, useEffect, useRef, useState, type VNode } from "./ui.ts";

interface LoadedGuest {
  readonly module: LiveModule;
  readonly invitation: Invitation;
  /** Undefined: the link has no pass. */
  readonly agent: TabAgent | undefined;
}

export function GuestHost({ link, onKey }: { link: string; onKey: (key: string) => void }): VNode {
  const { service } = useConsole();
  const [loaded, setLoaded] = useState<LoadedGuest | undefined>(undefined);
  const [error, setError] = useState<ServiceError | undefined>(undefined);
  const [isLeaving, setLeaving] = useState(false);
  const agent = useRef<TabAgent | undefined>(undefined);
  useFocusThrough(isLeaving ? "leaving" : "guest");
  useEffect(() => {
    const turn = { over: false };
    import("./live/live.ts").then((module) => {
      if (turn.over) return;
      const invitation = module.readInvitation(link);
      const { pass } = invitation;
      agent.current = pass === undefined
        ? undefined
        : new module.TabAgent(service, { ...invitation, pass });
      setLoaded({ module, invitation, agent: agent.current });
    }).catch((fault) => setError(asServiceError(fault)));
    return () => {
      turn.over = true;
      void agent.current?.stop();
    };
  }, [link, service]);
  if (error !== undefined) {
    return html`
      <main class="alone" id="main">
        <h1>
          <${Brand} />
        </h1>
        <${Fault} error=${error} />
        <p><a href="/console">To the console</a></p>
      </main>
    `;
  }
  if (loaded === undefined) {
    return html`
      <main class="alone" id="main" aria-busy="true">
        <h1>
          <${Brand} />
        </h1>
        <p>Loading …</p>
      </main>
    `;
  }
  if (loaded.agent === undefined || isLeaving) {
    const notice =
      `You are invited to ${loaded.invitation.name}. Sign in, or make an account, to join it.`;
    return html`<${Entrance} onKey=${onKey} notice=${notice} />`;
  }
  const { LiveView } = loaded.module;
  return html`
    <header>
      <${Brand} />
      <span class="grow quiet roomy">You are a guest</span>
      <button type="button" onClick=${() => setLeaving(true)}>Sign in instead</button>
    </header>
    <main id="main" tabindex="-1" class="full">
      <${LiveView} agent=${loaded.agent} link=${link} />
    </main>
  `;
}
