/**
 * Keeps this tab's agent while its person looks at other pages, and through the end of a session. The SDK is loaded with the
 * first page that needs it. Signing out ends the agent.
 */
import { useConsole } from "./context.ts";
import { Fault } from "./elements.ts";
import type { TabAgent } from "./live/live.ts";
import { asServiceError, type ServiceError } from "./service.ts";
import { html, useEffect, useRef, useState, type VNode } from "./ui.ts";

export type LivePageName = "live" | "channels";
type Module = typeof import("./live/live.ts");

interface Loaded {
  readonly module: Module;
  readonly agent: TabAgent;
}

export function LiveHost(
  { page, accountId, link }: { page: LivePageName | undefined; accountId: string; link: string | undefined },
): VNode {
  const { service } = useConsole();
  const [loaded, setLoaded] = useState<Loaded | undefined>(undefined);
  const [error, setError] = useState<ServiceError | undefined>(undefined);
  const agent = useRef<TabAgent | undefined>(undefined);
  const isWanted = page !== undefined && loaded === undefined;
  useEffect(() => {
    if (!isWanted) return;
    const turn = { over: false };
    import("./live/live.ts").then((module) => {
      if (turn.over) return;
      agent.current = new module.TabAgent(service, { accountId });
      setLoaded({ module, agent: agent.current });
    }, (fault) => setError(asServiceError(fault)));
    return () => void (turn.over = true);
  }, [isWanted, service, accountId]);
  useEffect(() => () => void agent.current?.stop(), []);
  if (page === undefined) return html``;
  if (loaded === undefined) {
    return html`
      <h1>${page === "live" ? "Live" : "Channels"}</h1>
      <p>Loading …</p>
      <${Fault} error=${error} />
    `;
  }
  const { LiveView, ChannelsView } = loaded.module;
  return page === "live"
    ? html`<${LiveView} agent=${loaded.agent} link=${link} />`
    : html`<${ChannelsView} agent=${loaded.agent} />`;
}
