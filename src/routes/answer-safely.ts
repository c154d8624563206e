import type { HostResponse } from '../guard/host-types.ts'

/** Runs an asynchronous answer. When it fails and `onError` fails too, cuts the connection rather than end the process. */
export function answerSafely(
  response: HostResponse,
  answering: Promise<unknown>,
  onError: (error: unknown) => unknown,
): void {
  answering.catch(onError).catch(() => response.destroy())
}
