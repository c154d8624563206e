import { SessmgrError } from '../../ground/errors.ts'
import { isAddress } from './page-addresses.ts'

/**
 * Adds the address of a script or style sheet to those on the page.
 *
 * @throws SessmgrError `invalid_option` for anything but a path or an http or https address.
 */
export function enqueueAddress(enqueued: Set<string>, url: unknown): void {
  if (!isAddress(url)) {
    throw new SessmgrError(
      'invalid_option',
      'enqueueAdmin() takes a path such as "/add-on.js", or an http or https address.',
    )
  }
  enqueued.add(url)
}
