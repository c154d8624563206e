/** Sections of docs/troubleshooting.md about warnings and commands. Each error code has a section named after it. */
export const HELP_TOPICS = [
  'a-rest-call-failed',
  'a-store-call-failed',
  'activity-not-recorded',
  'add-on-catalogue-not-updated',
  'add-on-not-registered',
  'block-without-a-way-out',
  'command-cannot-load-the-configuration',
  'command-needs-a-host',
  'command-needs-a-shared-store',
  'comments-block-not-cached',
  'directory-is-incomplete',
  'host-details-left-out',
  'host-must-return-a-boolean',
  'idle-release-has-no-effect',
  'license-cannot-be-read',
  'license-not-checked',
  'limits-without-a-maximum',
  'limiterlogin-with-passport',
  'login-before-sessmgr',
  'many-sessions-in-a-database',
  'mounted-before-sessmgr',
  'no-login-seen',
  'nobody-can-be-asked',
  'open-connections',
  'passport-before-06',
  'problem-with-texts',
  'rest-routes-not-found',
  'rest-routes-without-host',
  'session-names-another-user',
  'sessions-outlive-the-store',
  'sessionuser-must-return-an-id',
  'several-processes',
  'signed-in-user-not-found',
  'stored-settings-override-code',
  'users-with-the-same-id',
] as const

/** A section of docs/troubleshooting.md. */
export type HelpTopic = (typeof HELP_TOPICS)[number]

/** Returns the address of a section, by topic or error code. The page ships with the package. */
export function helpAt(section: string): string {
  return `node_modules/sessmgr/docs/troubleshooting.md#${section}`
}
