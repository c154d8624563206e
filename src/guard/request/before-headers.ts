import type { ServerResponse } from 'node:http'
import onHeaders from 'on-headers'

/**
 * Runs `change` just before the headers are sent. A failure of it leaves them as they are: the error would come out of
 * `writeHead`, wherever the application answers, where nobody expects one.
 */
export function beforeHeaders(response: ServerResponse, change: () => void): void {
  onHeaders(response, () => {
    try {
      change()
    } catch {
      // The answer matters more than what we wanted to add to it.
    }
  })
}
