/** Everything that the operator's pages are given. */
import { createContext, useContext } from "../ui.ts";
import type { AdminService } from "./admin_service.ts";

export interface OperatorContext {
  readonly service: AdminService;
  /** Shown for a while at the top, and read out. */
  say(text: string): void;
}

const context = createContext<OperatorContext | undefined>(undefined);

export const OperatorProvider = context.Provider;

export function useOperator(): OperatorContext {
  const found = useContext(context);
  if (found === undefined) throw new TypeError("There is no operator's page around this element");
  return found;
}
