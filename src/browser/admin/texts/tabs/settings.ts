/** Texts of the Settings tab. */
export const SETTINGS = {
  general: 'General Settings',
  general_help: 'How many logins one account may have, and what happens to the next one.',
  maximum: 'Active Logins Limit',
  maximum_help: 'Number of logins that one account may have at the same time.',
  maximum_lower: 'Users with more sessions stay signed in. The new limit applies from their next login.',
  maximum_over_one:
    '{count} person holds more than this and stays signed in. The new limit applies from the next login.',
  maximum_over_other:
    '{count} people hold more than this. They stay signed in. The new limit applies from their next login.',
  maximum_over_about_one:
    'About {count} person holds more than this and stays signed in. The new limit applies from the next login.',
  maximum_over_about_other:
    'About {count} people hold more than this. They stay signed in. The new limit applies from their next login.',
  maximum_over_none: 'Nobody holds more than this. The new limit applies from the next login.',
  changed_by: 'Changed by {name}, {ago}',
  changed_ago: 'Changed {ago}',
  logic: 'Login Logic',
  logic_help: 'What happens when the limit is reached and the account signs in again.',
  idle: 'Idle Release (Minutes)',
  idle_help:
    'After this many minutes without use, a session makes room for a login that “{block}” or “{ask}” would stop. 0 turns this off.',
  idle_waits: 'Anyone who closes the browser without signing out waits until the session ends.',
  idle_waits_own: 'Yours ends {time} after its last use.',
  enforce: 'Enforce the Limit',
  enforce_help:
    'If this is off, nobody is refused or signed out. Your application is only informed of what would have happened.',
  report_only: 'Report only: nobody is refused',
  report_only_help:
    'Your application is informed about logins over the limit. When you enforce the limit, it applies from the next login of each user.',
  force: 'Force Logout',
  force_help: 'Signs a user out on every device at their next click. You will be asked to confirm.',
  user: 'User',
  user_help: 'A user id, an e-mail address or a login name.',
  force_busy: 'Signing out…',
  force_done: '{name} is signed out everywhere.',
  force_none: '{name} was not signed in anywhere.',
  force_failed: 'Signing out did not work. Please try again.',
  all: 'Logout All Users',
  all_help: 'Signs everyone out everywhere, for example after the session secret has leaked. You stay signed in here.',
  all_busy: 'Signing everybody out…',
  all_title: 'Sign everyone out?',
  all_text: 'Everyone will be signed out on every device at their next click, and will have to sign in again.',
  all_text_own: 'You will stay signed in here, but not on your other devices.',
  all_done: 'Everyone has been signed out. You stay signed in here.',
  all_failed: 'Signing everyone out did not work. Please try again.',
  cross_title: 'Need finer control?',
  cross_text: 'Add-ons offer limits per user and per role, and more.',
  cross_link: 'Browse add-ons',
} as const
