/**
 * An A2A agent as anybody writes one: nothing but `@a2a-js/sdk`'s public surface, and nothing about
 * how it is reached.
 */
import {
  AgentCard,
  type AgentInterface,
  type Message,
  Role,
  type Task,
  TaskState,
} from "@a2a-js/sdk";
import {
  AgentEvent,
  type AgentExecutor,
  DefaultRequestHandler,
  type ExecutionEventBus,
  type RequestContext,
  type TaskStore,
} from "@a2a-js/sdk/server";

export function cardOf(...interfaces: readonly AgentInterface[]): AgentCard {
  return AgentCard.fromJSON({
    name: "worker",
    description: "echoes, works, waits and asks",
    version: "1.0.0",
    supportedInterfaces: interfaces,
    capabilities: { streaming: true },
    defaultInputModes: ["text/plain"],
    defaultOutputModes: ["text/plain"],
    skills: [],
  });
}

export function createAgent(card: AgentCard, store: TaskStore): DefaultRequestHandler {
  return new DefaultRequestHandler(card, store, new Worker());
}

/**
 * `echo X` answers with a message, `work N` makes N artifacts, `long` waits to be cancelled, `ask`
 * wants more.
 */
class Worker implements AgentExecutor {
  readonly #running = new Map<string, () => void>();

  async execute(context: RequestContext, bus: ExecutionEventBus): Promise<void> {
    const { taskId, contextId, userMessage, task } = context;
    const [word = "", rest = ""] = textIn(userMessage).split(" ");
    if (word === "echo") {
      return bus.publish(AgentEvent.message(messageOf(`echo: ${rest}`, contextId)));
    }
    bus.publish(AgentEvent.task(task ?? taskOf(taskId, contextId, userMessage)));
    const tell = (state: TaskState, text?: string): void =>
      bus.publish(
        AgentEvent.statusUpdate({
          taskId,
          contextId,
          status: statusOf(state, contextId, text),
          metadata: {},
        }),
      );
    if (word === "ask") return tell(TaskState.TASK_STATE_INPUT_REQUIRED, "which one?");
    tell(TaskState.TASK_STATE_WORKING);
    if (word === "long") {
      await new Promise<void>((resolve) => this.#running.set(taskId, resolve));
      return tell(TaskState.TASK_STATE_CANCELED);
    }
    for (let number = 1; number <= Number(rest); number++) {
      const parts = [partOf(`part ${number}`)];
      const artifact = {
        artifactId: String(number),
        name: "",
        description: "",
        parts,
        metadata: {},
        extensions: [],
      };
      bus.publish(
        AgentEvent.artifactUpdate({
          taskId,
          contextId,
          artifact,
          append: false,
          lastChunk: true,
          metadata: {},
        }),
      );
      await Promise.resolve();
    }
    tell(TaskState.TASK_STATE_COMPLETED, `done: ${word}`);
  }

  cancelTask(taskId: string): Promise<void> {
    this.#running.get(taskId)?.();
    return Promise.resolve();
  }
}

export function messageOf(
  text: string,
  contextId: string,
  role = Role.ROLE_AGENT,
  taskId = "",
): Message {
  return {
    messageId: crypto.randomUUID(),
    contextId,
    taskId,
    role,
    parts: [partOf(text)],
    metadata: {},
    extensions: [],
    referenceTaskIds: [],
  };
}

export function textIn({ parts }: Pick<Message, "parts">): string {
  return parts.map(({ content }) => content?.$case === "text" ? content.value : "").join("");
}

function partOf(text: string): Message["parts"][number] {
  return {
    content: { $case: "text", value: text },
    metadata: {},
    filename: "",
    mediaType: "text/plain",
  };
}

function taskOf(id: string, contextId: string, message: Message): Task {
  const status = statusOf(TaskState.TASK_STATE_SUBMITTED, contextId);
  return { id, contextId, status, history: [message], artifacts: [], metadata: {} };
}

function statusOf(state: TaskState, contextId: string, text?: string): NonNullable<Task["status"]> {
  const message = text === undefined ? undefined : messageOf(text, contextId);
  return { state, message, timestamp: new Date().toISOString() };
}
