import { explainError } from './explain-error.ts'
import { explainLoadError } from './explain-load-error.ts'

const ADVICE = "A client that does not reach its server needs a listener: client.on('error', (error) => …)."

/** Says which error of the application came up where nothing waits for it, as that of a client without a listener. */
export function explainUncaught(config: string, error: unknown): string {
  // Node 20 throws that of a file which the configuration imports once more, for nobody to catch.
  if (error instanceof SyntaxError) return explainLoadError(config, error)
  const sentence = `${config || 'This command'} has met an error that nothing handles: ${explainError(error)}`
  const isOfConnection = (error as NodeJS.ErrnoException | undefined)?.syscall !== undefined
  return isOfConnection ? `${sentence}\n${ADVICE}` : sentence
}
