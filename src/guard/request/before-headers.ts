import type { ServerResponse } from 'node:http'
import onHeaders from 'on-headers'

/**
 * Runs `change` just before the headers are sent. Ignores its errors, which could otherwise be thrown from `writeHead`
 * anywhere in the application.
 */
export function beforeHeaders(response: ServerResponse, change: () => unknown): void {
  onHeaders(response, () => {
    try {
      change()
    } catch {
      // The response matters more than our change.
    }
  })
}
