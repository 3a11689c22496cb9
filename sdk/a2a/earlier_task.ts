/**
 * Finds the task that a repeated request began before the agent restarted. Over HTTP the caller
 * would have lost its connection and not asked again. Here the channel delivers the request again,
 * and the task must not begin twice.
 */
import { ListTasksRequest, SendMessageRequest, Task } from "@a2a-js/sdk";
import type { A2ARequestHandler, ServerCallContext } from "@a2a-js/sdk/server";
import { field } from "./wire.ts";

/**
 * The newest tasks of the caller are looked through; a task that was begun just before a restart is
 * among them.
 */
const pageSize = 100;

/**
 * The caller's task that its message is in, as JSON; undefined when there is none, or the agent
 * lists no tasks.
 */
export async function findEarlierTask(
  agent: A2ARequestHandler,
  body: unknown,
  context: ServerCallContext,
): Promise<unknown> {
  const method = field(body, "method");
  if (method !== "SendMessage" && method !== "SendStreamingMessage") return undefined;
  const { message, tenant } = SendMessageRequest.fromJSON(field(body, "params") ?? {});
  if (message === undefined || message.messageId === "") return undefined;
  const { contextId } = message;
  const wanted = ListTasksRequest.fromJSON({
    pageSize,
    includeArtifacts: true,
    ...(contextId !== "" && { contextId }),
    ...(tenant !== "" && { tenant }),
  });
  try {
    const { tasks } = await agent.listTasks(wanted, context);
    const found = tasks.find(({ history, status }) =>
      [...history, ...(status?.message === undefined ? [] : [status.message])]
        .some(({ messageId }) => messageId === message.messageId)
    );
    return found && Task.toJSON(found);
  } catch {
    return undefined;
  }
}
