/** The API with the user's key, for commands that need one. */
import type { Context } from "../command.ts";
import { type AskApi, openApi } from "./api.ts";
import { readSettings, requireKey, type Settings } from "./settings.ts";

export interface ApiCaller {
  readonly ask: AskApi;
  readonly apiKey: string;
  readonly settings: Settings;
}

export async function callerOf(context: Context): Promise<ApiCaller> {
  const settings = await readSettings(context);
  return { ask: openApi(context.platform, settings), apiKey: requireKey(settings), settings };
}
