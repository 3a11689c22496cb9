/** Tasks in files, one folder for each caller, so that they outlive the program. */
import { ListTasksResponse, Task } from "@a2a-js/sdk";
import type { ListTasksRequest } from "@a2a-js/sdk";
import type { ServerCallContext, TaskStore } from "@a2a-js/sdk/server";

export class FileTaskStore implements TaskStore {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async save(task: Task, context: ServerCallContext): Promise<void> {
    const folder = this.#folderOf(context);
    await Deno.mkdir(folder, { recursive: true });
    const fresh = `${folder}/${task.id}.new`;
    await Deno.writeTextFile(fresh, JSON.stringify(Task.toJSON(task)));
    await Deno.rename(fresh, `${folder}/${task.id}.json`);
  }

  async load(taskId: string, context: ServerCallContext): Promise<Task | undefined> {
    if (!/^[\w-]+$/.test(taskId)) return undefined;
    const text = await Deno.readTextFile(`${this.#folderOf(context)}/${taskId}.json`).catch(() =>
      undefined
    );
    return text === undefined ? undefined : Task.fromJSON(JSON.parse(text));
  }

  async list(_params: ListTasksRequest, context: ServerCallContext): Promise<ListTasksResponse> {
    const tasks: Task[] = [];
    try {
      for await (const { name } of Deno.readDir(this.#folderOf(context))) {
        const task = await this.load(name.replace(/\.json$/, ""), context);
        if (task !== undefined) tasks.push(task);
      }
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
    return { ...ListTasksResponse.fromJSON({}), tasks };
  }

  #folderOf({ user }: ServerCallContext): string {
    return `${this.#folder}/${user?.userName || "anybody"}`;
  }
}
