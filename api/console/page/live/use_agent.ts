/** Pages follow the agent. */
import { useEffect, useState } from "../ui.ts";
import type { TabAgent } from "./tab_agent.ts";

/** Draws again whenever something of the agent changes. */
export function useAgent(agent: TabAgent): void {
  const [, draw] = useState(0);
  useEffect(() => {
    const again = (): void => draw((before) => before + 1);
    // Changes before this ran were told to nobody.
    again();
    return agent.listen(again);
  }, [agent]);
}
