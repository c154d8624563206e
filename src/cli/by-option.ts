import { Option } from 'commander'

/** Makes the option that says what the identifier of a user is. */
export function byOption(): Option {
  return new Option(
    '--by <kind>',
    'what <user> is; by default digits are an id, with an @ it is an e-mail address',
  ).choices(['id', 'login', 'email'])
}
