/** The HTTP API as an issuer of badges. See `docs/http_api.md`. */
import { type AgentId, isAgentId } from "../base/ids.ts";
import { type ApiAccess, type ApiOutcome, callApi, fieldOf } from "./http_call.ts";
import { missingField, textOf, timeOf } from "./http_api.ts";

/** The latest badge of an agent of the account. */
export interface ListedBadge {
  readonly agentId: AgentId;
  readonly issuedAtMs: number;
  readonly expiresAtMs: number;
}

/** `POST /v1/badges`: the badge as text. */
export function createBadge(
  api: ApiAccess,
  { apiKey, agentId }: { readonly apiKey: string; readonly agentId: AgentId },
): Promise<ApiOutcome<string>> {
  return callApi(api, {
    method: "POST",
    path: "/v1/badges",
    credential: apiKey,
    body: { agent_id: agentId },
    parse: (json) => textOf(json, "badge"),
  });
}

export interface BadgeList {
  /** The latest first. */
  readonly agents: readonly ListedBadge[];
  /** Whether these are all. */
  readonly isComplete: boolean;
}

/** `GET /v1/badges`: agents of the account whose badge has not expired. */
export function listBadges(api: ApiAccess, apiKey: string): Promise<ApiOutcome<BadgeList>> {
  return callApi(api, {
    method: "GET",
    path: "/v1/badges",
    credential: apiKey,
    parse: (json) => {
      const agents = fieldOf(json, "agents");
      if (!Array.isArray(agents)) throw missingField("agents");
      return {
        agents: agents.map((each: unknown) => ({
          agentId: agentIdOf(each),
          issuedAtMs: timeOf(each, "issued_at"),
          expiresAtMs: timeOf(each, "expires_at"),
        })),
        isComplete: fieldOf(json, "complete") === true,
      };
    },
  });
}

/** `GET /.well-known/static-agents` of the API, as `parseIssuerDocument` takes it. */
export function readServiceIssuer(
  api: ApiAccess,
): Promise<ApiOutcome<{ readonly domain: string; readonly text: string }>> {
  return callApi(api, {
    method: "GET",
    path: "/.well-known/static-agents",
    parse: (json) => ({ domain: textOf(json, "domain"), text: JSON.stringify(json) }),
  });
}

function agentIdOf(json: unknown): AgentId {
  const id = textOf(json, "agent_id");
  if (!isAgentId(id)) throw missingField("agent_id");
  return id;
}
