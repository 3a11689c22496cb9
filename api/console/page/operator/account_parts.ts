/** An account as the operator's pages show it: in the list, and by itself. */
import { html, type VNode } from "../ui.ts";

const number = new Intl.NumberFormat();

export interface OperatorAccount {
  readonly id: string;
  readonly email: string | null;
  readonly email_verified: boolean;
  readonly plan: string;
  readonly limit: number | null;
  readonly state: "active" | "suspended" | "deleted";
  readonly messages: number;
  readonly keys: number;
  readonly sessions: number;
  readonly created_at: string;
}

export function State({ of: state }: { of: OperatorAccount["state"] }): VNode {
  return html`<span class=${state === "active" ? "good" : "problem"}>${state}</span>`;
}

export function count(value: number): string {
  return number.format(value);
}
