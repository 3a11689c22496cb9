/**
 * An A2A client as anybody writes one: it gets a `Client`, and does not know how the agent is
 * reached.
 */
import {
  Role,
  type SendMessageRequest,
  type StreamResponse,
  type Task,
  TaskState,
} from "@a2a-js/sdk";
import type { Client } from "@a2a-js/sdk/client";
import { messageOf, textIn } from "./agent.ts";

export function asking(text: string, taskId = "", contextId = ""): SendMessageRequest {
  const message = messageOf(text, contextId, Role.ROLE_USER, taskId);
  return { tenant: "", message, configuration: undefined, metadata: {} };
}

/** The same, without waiting for the end of the task. */
export function askingFor(text: string): SendMessageRequest {
  const configuration = {
    acceptedOutputModes: [],
    taskPushNotificationConfig: undefined,
    returnImmediately: true,
  };
  return { ...asking(text), configuration };
}

/** Everything that it hears, without ids and times. */
export async function talk(client: Client): Promise<readonly string[]> {
  const heard: string[] = [];
  const said = await client.sendMessage(asking("echo hello"));
  heard.push("messageId" in said ? `message ${textIn(said)}` : "a task");
  heard.push(taskText(taskIn(await client.sendMessage(asking("work 2")))));
  for await (const event of client.sendMessageStream(asking("work 3"))) {
    heard.push(eventText(event));
  }
  let taskId = "";
  for await (const event of client.sendMessageStream(asking("long"))) {
    heard.push(eventText(event));
    const isWorking = event.payload?.$case === "statusUpdate" &&
      event.payload.value.status?.state === TaskState.TASK_STATE_WORKING;
    if (event.payload?.$case === "task") taskId = event.payload.value.id;
    if (isWorking) {
      heard.push(
        `cancelled ${taskText(await client.cancelTask({ tenant: "", id: taskId, metadata: {} }))}`,
      );
    }
  }
  const question = taskIn(await client.sendMessage(asking("ask")));
  heard.push(
    taskText(question),
    taskText(taskIn(await client.sendMessage(asking("work 1", question.id, question.contextId)))),
  );
  heard.push(taskText(await client.getTask({ tenant: "", id: question.id })));
  for (const id of ["none", ""]) {
    await client.getTask({ tenant: "", id }).catch((error: Error) =>
      heard.push(`${error.name}: ${error.message}`)
    );
  }
  await client.cancelTask({ tenant: "", id: question.id, metadata: {} }).catch((error: Error) =>
    heard.push(error.name)
  );
  try {
    for await (const event of client.resubscribeTask({ tenant: "", id: "none" })) {
      heard.push(eventText(event));
    }
  } catch (error) {
    heard.push(error instanceof Error ? error.name : "?");
  }
  return heard;
}

export function taskIn(result: Task | object): Task {
  if (!("artifacts" in result)) throw new Error("not a task");
  return result;
}

export function taskText({ status, artifacts, history }: Task): string {
  const texts = artifacts.map((artifact) => textIn(artifact)).join(", ");
  return `task ${TaskState[status?.state ?? 0]} [${texts}] ${history.map(textIn).join(" / ")}`;
}

function eventText({ payload }: StreamResponse): string {
  if (payload?.$case === "artifactUpdate") {
    return `artifact ${textIn(payload.value.artifact ?? { parts: [] })}`;
  }
  if (payload?.$case === "statusUpdate") {
    return `status ${TaskState[payload.value.status?.state ?? 0]}`;
  }
  return payload?.$case === "task" ? taskText(payload.value) : payload?.$case ?? "";
}
