/**
 * Every sentence outside the admin screen that people read, in English. `{name}` stands for a value; `_one` and
 * `_other` are the forms for a count.
 */
export const ENGLISH = {
  // The language of the texts
  lang: 'en',
  dir: 'ltr',

  // Signing in
  login_blocked:
    "You've reached the limit of devices signed in to this account. Sign out on one of them and try again.",

  // In place of the comments
  comments_button: 'Load Comments',
  comments_loaded_one: '{count} comment loaded',
  comments_loaded_other: '{count} comments loaded',
  comments_lost: 'What this link leads to is no longer here.',
  comments_failed: 'Comments could not be loaded.',
  comments_retry: 'Try again',
  comments_print: 'Comments: {url}',

  // The admin screen and the pages around it
  product_name: 'Session Manager',
  page_sign_in: 'Sign in first.',
  page_no_script: 'This page needs JavaScript',
  page_no_script_help: 'Switch JavaScript on in your browser and load the page again.',
  page_forbidden: 'You may not open this page',
  page_forbidden_help:
    'Your account is not allowed to manage this site. Ask an administrator, or sign in with another account.',
  page_forbidden_sign_in: 'Sign in with another account',
  logic_logout_oldest: 'Logout Oldest',
  logic_logout_oldest_desc: 'The new login goes through, and the sessions that began first end to make room.',
  logic_allow: 'Logout All',
  logic_allow_desc: 'The new login goes through, and all earlier sessions of the user end.',
  logic_block: 'Block New',
  logic_block_desc: 'The new login is refused until one of the earlier sessions ends.',
} as const satisfies Record<string, string>
