/** Texts of the Support tab. */
export const SUPPORT_TEXTS = {
  s_questions: 'Questions and answers',
  s_questions_help: 'Answers to the most common questions.',
  s_q_lost: 'A user cannot sign in because the limit is reached',
  s_a_lost:
    'With “{block}”, a login is refused until an earlier session ends. Find the user under Sessions and sign out the devices that are not in use, set an idle release, or choose another login logic.',
  s_q_change: 'Does saving a lower limit sign anyone out?',
  s_a_change: 'No. The new limit applies from the next login on.',
  s_q_one: 'How do I sign out one device but not the others?',
  s_a_one: 'Find the user under Sessions and sign out that one device.',
  s_q_leak: 'A password has leaked. What now?',
  s_a_leak: 'Change it first, then use Force Logout on the Settings tab to sign the account out everywhere.',
  s_links: 'More help',
  s_links_help: 'The documentation of this version is in the {folder} folder on the server.',
  s_forum: 'Forum',
  s_contact: 'Contact support',
  s_report: 'For a support request',
  s_report_help: 'Include this when you ask for help. It contains no names, addresses or keys.',
  s_save: 'Save as a file',
} as const
