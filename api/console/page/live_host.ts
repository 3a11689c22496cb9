/**
 * Keeps this tab's agent while its person looks at other pages, and through the end of a session.
 * The SDK is loaded with the first page that needs it. Signing out ends the agent.
 */
import { useConsole } from "./context.ts";
import { Fault } from "./elements.ts";
import type { TabAgent } from "./live/live.ts";
import { asServiceError, type ServiceError } from "./service.ts";
import { html, useEffect, useRef, useState, type VNode } from "./ui.ts";

export type LiveModule = typeof import("./live/live.ts");

interface LoadedAgent {
  readonly module: LiveModule;
  readonly agent: TabAgent;
}

export function LiveHost(
  { isShown, accountId, link }: { isShown: boolean; accountId: string; link: string | undefined },
): VNode {
  const { service } = useConsole();
  const [loaded, setLoaded] = useState<LoadedAgent | undefined>(undefined);
  const [error, setError] = useState<ServiceError | undefined>(undefined);
  const agent = useRef<TabAgent | undefined>(undefined);
  const isWanted = isShown && loaded === undefined;
  useEffect(() => {
    if (!isWanted) return;
    const turn = { over: false };
    import("./live/live.ts").then((module) => {
      if (turn.over) return;
      agent.current = new module.TabAgent(service, { accountId });
      void agent.current.start(agent.current.options);
      setLoaded({ module, agent: agent.current });
    }, (fault) => setError(asServiceError(fault)));
    return () => void (turn.over = true);
  }, [isWanted, service, accountId]);
  useEffect(() => () => void agent.current?.stop(), []);
  if (!isShown) return html``;
  if (loaded === undefined) {
    return html`
      <h1>Live</h1>
      <p>Loading …</p>
      <${Fault} error=${error} />
    `;
  }
  const { LiveView } = loaded.module;
  return html`<${LiveView} agent=${loaded.agent} link=${link} />`;
}
